import type { Tasks } from '../../domain/admin-schemas.ts';
import { api } from '../api.ts';
import { duration, time } from '../format.ts';
import { Card, PageHead, State, Table } from '../parts/common.tsx';
import { outcome, RunningTask } from '../parts/task.tsx';
import { useAttempt } from '../use-attempt.ts';
import { useResource } from '../use-resource.ts';

const REFRESH_MS = 2000;

export function TasksPage() {
  const { data, error, loading, reload } = useResource<Tasks>('/api/admin/tasks', REFRESH_MS);
  const { refusal, attempt } = useAttempt(reload);
  const start = (kind: 'fit' | 'search') => attempt(() => api(`/api/admin/${kind}`, 'POST'));
  return (
    <>
      <PageHead title="Tasks">
        {data?.NextFitSeconds === undefined
          ? 'What runs in the background, and what has run.'
          : `The next fit begins in ${duration(data.NextFitSeconds)}.`}
      </PageHead>
      <State error={refusal ?? error} loading={loading} />
      {data !== undefined && (
        <>
          <Card
            wide
            title="Running"
            aside={
              <span class="buttons">
                <button type="button" class="small" onClick={() => start('fit')}>
                  Fit now
                </button>
                <button type="button" class="small outline" onClick={() => start('search')}>
                  Search settings
                </button>
              </span>
            }
          >
            {data.Running.length === 0 && <p class="muted">Nothing runs.</p>}
            {data.Running.map((task) => (
              <RunningTask key={task.Id} task={task} />
            ))}
          </Card>
          <PastTasks tasks={data.Past} />
        </>
      )}
    </>
  );
}

function PastTasks({ tasks }: { tasks: Tasks['Past'] }) {
  return (
    <Card wide title="Past">
      {tasks.length === 0 ? (
        <p class="muted">None yet.</p>
      ) : (
        <Table stacks label="Past tasks" head={['Task', 'Began', 'Took', 'State', 'Result']}>
          {tasks.map((task) => (
            <tr key={task.Id}>
              <th scope="row">{task.Kind}</th>
              <td class="nowrap">{time(task.StartedAt)}</td>
              <td class="nowrap">{duration(task.Seconds)}</td>
              <td>
                <span class={`badge ${task.State}`}>{task.State}</span>
              </td>
              <td>{outcome(task)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
