import type { Quality, RankingChoice } from '../../domain/admin-schemas.ts';
import { capital, count, figure, measure, nameOf, time } from '../format.ts';
import { Chart, type ChartLine } from '../parts/chart.tsx';
import { Bar, Card, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { Evaluation } from '../parts/evaluation.tsx';
import { RankingNames } from '../parts/ranking-names.tsx';
import { summary } from '../state.ts';
import { useResource } from '../use-resource.ts';

const REFRESH_MS = 5000;

export function QualityPage() {
  const { data, error, loading, reload } = useResource<Quality>('/api/admin/quality', REFRESH_MS);
  const choice = summary.value?.Model?.Choice;
  return (
    <>
      <PageHead title="Quality">
        Before a model serves, each fit holds back the latest feedback and measures how well it is foretold.
      </PageHead>
      <State error={error} loading={loading} />
      {data !== undefined && data.Generation === 0 && (
        <p>
          Nothing is learned yet; <a href="#/">the overview</a> says why.
        </p>
      )}
      {data !== undefined && data.Generation > 0 && (
        <>
          {choice !== undefined && <Choice choice={choice} />}
          <Ranking data={data} />
          <RankingNames features={data.Features} />
          <History data={data} />
        </>
      )}
      {data !== undefined && (
        <Evaluation
          last={data.Evaluation}
          task={data.EvaluationTask}
          failed={data.EvaluationError}
          reload={reload}
        />
      )}
    </>
  );
}

/** Rankings that the chosen one was compared with, in a sentence and as bars with their intervals. */
function Choice({ choice }: { choice: RankingChoice }) {
  const { Users, Chosen, OverBestSingle, Ways, Reason } = choice;
  const largest = Math.max(1e-9, ...Ways.map(({ Quality: { Mean, HalfWidth } }) => Mean + HalfWidth));
  const isSure = OverBestSingle.Mean > OverBestSingle.HalfWidth;
  return (
    <Card wide title="How lists are ranked">
      <p>
        By <strong>{nameOf(Chosen)}</strong>, chosen on the held-out feedback of {count(Users)} users
        {OverBestSingle.Mean > 0
          ? `: ${measure(OverBestSingle.Mean)} ± ${measure(OverBestSingle.HalfWidth)} more NDCG@10 than the best recommender alone, which is ${isSure ? 'more than' : 'within'} the noise.`
          : ': no blend did better than this alone.'}
        {Reason !== undefined && ` ${capital(nameOf(Reason))}.`}
      </p>
      <Table label="Ways to rank" head={['Way to rank', ...numbers('NDCG@10', '±'), '']}>
        {Ways.map(({ Name, Quality: { Mean, HalfWidth } }) => (
          <tr key={Name}>
            <th scope="row">
              {nameOf(Name)} {Name === Chosen && <span class="badge done">chosen</span>}
            </th>
            <td class="number">{measure(Mean)}</td>
            <td class="number">{measure(HalfWidth)}</td>
            <td class="bar-cell">
              <Bar share={Mean / largest} label={`NDCG@10 of ${nameOf(Name)}`} />
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Ranking({ data }: { data: Quality }) {
  const used = data.Ranking.filter(({ Weight }) => Weight !== 0);
  const largest = Math.max(1e-9, ...used.map(({ Weight }) => Math.abs(Weight)));
  return (
    <Card wide title="What ranks">
      <p class="muted">Learned: {data.Parts.join(', ')}.</p>
      {used.length === 0 ? (
        <p>
          The collaborative score alone: nothing that was learned on top of it made lists better on the
          held-out feedback.
        </p>
      ) : (
        <Table label="Weights of the ranking" head={['Feature', ...numbers('Weight'), '']}>
          {used.map(({ Feature, Weight }) => (
            <tr key={Feature}>
              <th scope="row">{nameOf(Feature)}</th>
              <td class="number">{figure(Weight)}</td>
              <td class="bar-cell">
                <Bar share={Weight / largest} label={`Weight of ${Feature}`} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

/** The measures of the past fits that learned something. */
function History({ data }: { data: Quality }) {
  const fits = data.Fits.filter(({ Result }) => Result?.unchanged === false);
  const names = ['NDCG@10', 'lists NDCG@10'];
  const lines = names.map((name, at): ChartLine => {
    const values = fits.map(({ Result }) => (typeof Result?.[name] === 'number' ? Result[name] : null));
    return { label: name, color: ((at % 4) + 1) as ChartLine['color'], values };
  });
  return (
    <Card wide title="Past fits">
      {fits.length > 1 && (
        <Chart
          title="NDCG@10 on held-out feedback: of the collaborative model, and of the lists"
          times={fits.map(({ EndedAt }) => Date.parse(EndedAt ?? '') / 1000)}
          lines={lines}
          format={measure}
        />
      )}
      <Table label="Past fits" head={['Ended', ...numbers('Generation', 'Positives', ...names.map(capital))]}>
        {fits.toReversed().map(({ Id, EndedAt, Result }) => (
          <tr key={Id}>
            <td class="nowrap">{time(EndedAt)}</td>
            <td class="number">{String(Result?.generation ?? '')}</td>
            <td class="number">{count(Number(Result?.positives))}</td>
            {names.map((name) => (
              <td key={name} class="number">
                {measure(Result?.[name] as number | undefined)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Card>
  );
}
