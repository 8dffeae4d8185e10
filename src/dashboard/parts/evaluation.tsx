import type { EvaluationView, Task } from '../../domain/admin-schemas.ts';
import type { EvaluationRow, EvaluationTable } from '../../domain/evaluation-schemas.ts';
import { api } from '../api.ts';
import { count, measure, time } from '../format.ts';
import { useAttempt } from '../use-attempt.ts';
import { Bar, Card, numbers, State, Table } from './common.tsx';
import { RunningTask } from './task.tsx';

const MEASURES = ['NDCG@10', 'HR@10', 'Recall@20', 'Coverage@10'] as const;
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
        The latest fifth of the positive feedback is held out, a service of its own learns from the rest, and
        what it would have served is compared with what was held out. It takes about six fits.
      </p>
      <State error={refusal ?? failed} loading={false} />
      {task !== undefined && <RunningTask task={task} />}
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
      <Table label="Evaluation" head={['Way to recommend', ...numbers(...MEASURES, 'Against served'), '']}>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">
              {row.name} {row.role === 'served' && <span class="badge done">served</span>}
            </th>
            {MEASURES.map((name) => (
              <td key={name} class="number">
                {measure(row.metrics[name]?.mean)}{' '}
                <span class="muted">±{measure(row.metrics[name]?.halfWidth)}</span>
              </td>
            ))}
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
    </>
  );
}
