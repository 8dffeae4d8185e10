import { useState } from 'preact/hooks';
import { pathOf } from '../api.ts';
import { useResource } from '../use-resource.ts';

const PAGE_ROWS = 25;

export interface Found<Row> {
  readonly rows: readonly Row[];
  readonly error: string | undefined;
  readonly loading: boolean;
  readonly reload: () => void;
  readonly search: preact.JSX.Element;
  readonly pages: preact.JSX.Element;
  /** What to say in the place of a table without rows; undefined when there are some, or none are known yet. */
  readonly none: string | undefined;
}

/** A search by the beginning of ids, page by page. */
export function usePrefixSearch<Row>(
  kind: 'users' | 'items',
  rowsOf: (page: Record<string, unknown>) => readonly Row[],
): Found<Row> {
  const [prefix, setPrefix] = useState('');
  // The cursors of this page and of those before it.
  const [cursors, setCursors] = useState<readonly string[]>(['']);
  const path = pathOf(['api', 'admin', kind], { n: PAGE_ROWS, prefix, cursor: cursors.at(-1)! });
  const { data, error, reload } = useResource<Record<string, unknown>>(path);
  const next = (data?.Cursor as string | undefined) ?? '';
  const type = (text: string) => {
    setPrefix(text);
    setCursors(['']);
  };
  const rows = data === undefined ? [] : rowsOf(data);
  return {
    none:
      data === undefined || rows.length > 0
        ? undefined
        : prefix === ''
          ? `There are no ${kind} yet.`
          : `No id begins with ${prefix}; capitals count.`,
    rows,
    error,
    loading: data === undefined && error === undefined,
    reload,
    search: (
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          {kind === 'users' ? 'User id begins with' : 'Item id begins with'}
          <input
            type="search"
            autoComplete="off"
            value={prefix}
            onInput={(event) => type(event.currentTarget.value)}
          />
        </label>
      </form>
    ),
    pages: <Pages cursors={cursors} next={next} go={setCursors} />,
  };
}

function Pages(props: {
  cursors: readonly string[];
  next: string;
  go: (cursors: readonly string[]) => void;
}) {
  const { cursors, next, go } = props;
  return (
    <nav class="pages" aria-label="Pages of the table" hidden={cursors.length === 1 && next === ''}>
      <button
        type="button"
        class="small outline"
        disabled={cursors.length === 1}
        onClick={() => go(cursors.slice(0, -1))}
      >
        Previous
      </button>
      <span class="muted">Page {cursors.length}</span>
      <button
        type="button"
        class="small outline"
        disabled={next === ''}
        onClick={() => go([...cursors, next])}
      >
        Next
      </button>
    </nav>
  );
}

export function NoneFound({ text }: { text: string }) {
  return (
    <p class="muted">
      {text} <a href="#/import">Import some</a>.
    </p>
  );
}
