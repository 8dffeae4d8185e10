import type { EvaluationView, Task } from '../../domain/admin-schemas.ts';
import type { EvaluationRow, EvaluationTable, ReplayTable } from '../../domain/evaluation-schemas.ts';
import { api } from '../api.ts';
import { count, measure, time } from '../format.ts';
import { useAttempt } from '../use-attempt.ts';
import { Bar, Card, numbers, State, Table } from './common.tsx';
import { RunningTask } from './task.tsx';

const MEASURES = ['NDCG@10', 'HR@10', 'Recall@20'] as const;
const MAIN = MEASURES[0];

/** The lists judged on held-out feedback: begun at a click, and what came of the last one. */
export function Evaluation({
  last,
  task,
  failed,
  reload,
}: {
  last: EvaluationView | undefined;
  task: Task | undefined;
  /** Why the last one that ended gave no report. */
  failed: string | undefined;
  reload: () => void;
}) {
  const { refusal, attempt } = useAttempt(reload);
  const start = () => attempt(() => api('/api/admin/evaluation', 'POST'));
  return (
    <Card
      wide
      title="Evaluation"
      aside={
        <button type="button" class="small" disabled={task !== undefined} onClick={start}>
          Evaluate now
        </button>
      }
    >
      <p class="muted">
        A service of its own goes through the latest fifth of the feedback, each like first as a question.
        Then the latest fifth is held out, and what would have been served is compared with it. It takes about
        eight fits.
      </p>
      <State error={refusal ?? failed} loading={false} />
      {task !== undefined && <RunningTask task={task} />}
      {last?.Report.replay !== undefined && <Replayed replay={last.Report.replay} />}
      {last?.Report.tables.map((table) => (
        <Judged key={table.protocol} table={table} evaluatedAt={last.EvaluatedAt} />
      ))}
    </Card>
  );
}

function Judged({ table, evaluatedAt }: { table: EvaluationTable; evaluatedAt: string }) {
  const main = (row: EvaluationRow) => row.metrics[MAIN]?.mean ?? 0;
  const rows = [...table.rows].sort((a, b) => main(b) - main(a));
  const largest = Math.max(1e-9, ...rows.map(main));
  return (
    <>
      <p>
        <strong>{table.conclusion}</strong>{' '}
        <span class="muted">
          Of {count(table.users)} users, {time(evaluatedAt)}.
        </span>
      </p>
      {table.advice?.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <Table
        label="Evaluation"
        head={[
          'Way to recommend',
          ...numbers(...MEASURES, 'Different items', 'Two people share', 'Against served'),
          '',
        ]}
      >
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">
              {row.name} {row.role === 'served' && <span class="badge done">served</span>}
            </th>
            {MEASURES.map((name) => (
              <td key={name} class="number">
                <Estimated value={row.metrics[name]} />
              </td>
            ))}
            <td class="number">{count(row.variety.items)}</td>
            <td class="number">{row.variety.shared.toFixed(1)}</td>
            <td class="number">
              {row.role !== 'served' &&
                `${measure(row.againstServed.mean)} ±${measure(row.againstServed.halfWidth)}`}
            </td>
            <td class="bar-cell">
              <Bar share={main(row) / largest} label={`${MAIN} of ${row.name}`} />
            </td>
          </tr>
        ))}
      </Table>
      <p>{MAIN} by how many likes people had before:</p>
      <ByLikes rows={rows} />
    </>
  );
}

/** The measure for users of each kind. */
function ByLikes({ rows }: { rows: readonly EvaluationRow[] }) {
  const kinds = (rows[0]?.byLikes ?? []).filter(({ users }) => users > 0);
  const heads = kinds.map(({ name, users }) => `${name} (${count(users)} users)`);
  return (
    <Table label="Evaluation by likes" head={['Way to recommend', ...numbers(...heads)]}>
      {rows.map((row) => (
        <tr key={row.name}>
          <th scope="row">{row.name}</th>
          {kinds.map(({ name }) => (
            <td key={name} class="number">
              <Estimated value={row.byLikes.find((kind) => kind.name === name)?.ndcg} />
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** The service beside simple ways that learn from every like, for each kind of question. */
function Replayed({ replay }: { replay: ReplayTable }) {
  const heads = numbers('Questions', 'Served', 'Best simple way', 'Lead of served');
  return (
    <>
      <p>
        <strong>{replay.conclusion}</strong>{' '}
        <span class="muted">
          Replay of the last {count(replay.records)} records: {count(replay.questions)} questions,{' '}
          {count(replay.fits)} fits.
        </span>
      </p>
      <Table label="Replay" head={['Asked for', ...heads, 'Which']}>
        {replay.groups.map(({ name, questions, rows }) => {
          const [served, ...others] = rows;
          const best = others.reduce((one, other) => (other.ndcg.mean > one.ndcg.mean ? other : one));
          const { mean, halfWidth } = best.againstServed;
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">{count(questions)}</td>
              <td class="number">
                <Estimated value={served?.ndcg} />
              </td>
              <td class="number">
                <Estimated value={best.ndcg} />
              </td>
              <td class="number">
                <Estimated value={{ mean: -mean, halfWidth }} />
              </td>
              <td>{best.name}</td>
            </tr>
          );
        })}
      </Table>
      <p>Accuracy beside how alike the lists of people are, asked at one moment:</p>
      <Alike replay={replay} />
    </>
  );
}

/** The ways of a replay by how much people's lists differ, and by the hits that the best counter did not have. */
function Alike({ replay: { groups, variety } }: { replay: ReplayTable }) {
  const heads = numbers(
    MAIN,
    'Different items',
    'Two people share',
    'Places of the top ten',
    'Hits',
    'Not in a counter',
  );
  return (
    <Table label="How alike lists are" head={['Way to recommend', ...heads]}>
      {groups[0]?.rows.map(({ name, ndcg, hits, hitsBeyondCounter }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td class="number">{measure(ndcg.mean)}</td>
          <td class="number">{count(variety[name]?.items ?? 0)}</td>
          <td class="number">{variety[name]?.shared.toFixed(1)}</td>
          <td class="number">{Math.round(100 * (variety[name]?.topTenShare ?? 0))} %</td>
          <td class="number">{count(hits)}</td>
          <td class="number">{count(hitsBeyondCounter)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A mean with half of its interval, where it has one. */
function Estimated({ value }: { value: { readonly mean: number; readonly halfWidth: number } | undefined }) {
  return (
    <>
      {measure(value?.mean)}
      {value !== undefined && value.halfWidth > 0 && <span class="muted"> ±{measure(value.halfWidth)}</span>}
    </>
  );
}
