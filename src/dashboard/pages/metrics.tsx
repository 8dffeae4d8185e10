import { useEffect, useState } from 'preact/hooks';
import { ask } from '../api.ts';
import { Card, PageHead, State } from '../parts/common.tsx';

/** Metrics in the text form of Prometheus: with a key set, a link alone could not open it. */
export function MetricsPage() {
  const [text, setText] = useState<string>();
  const [error, setError] = useState<string>();
  const [filter, setFilter] = useState('');
  useEffect(() => {
    ask('/metrics')
      .then((response) => response.text())
      .then(setText, (problem: Error) => setError(problem.message));
  }, []);
  const lines = (text ?? '').split('\n').filter((line) => line.includes(filter));
  return (
    <>
      <PageHead title="Metrics">
        What <code>/metrics</code> answers, in the format of Prometheus.
      </PageHead>
      <State error={error} loading={text === undefined && error === undefined} />
      {text !== undefined && (
        <Card wide>
          <form class="filter" onSubmit={(event) => event.preventDefault()}>
            <label>
              Only lines with
              <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
            </label>
          </form>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
          <pre tabIndex={0}>{lines.join('\n')}</pre>
        </Card>
      )}
    </>
  );
}
