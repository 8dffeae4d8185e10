import type { Task } from '../../domain/admin-schemas.ts';
import { bytes, count, duration, figure, measuresOf } from '../format.ts';
import { Bar } from './common.tsx';

/** A task under way: its stage, how far it is, how fast, how long still. */
export function RunningTask({ task }: { task: Task }) {
  const { Kind, Stage, Done, Total, PerSecond, SecondsLeft, Seconds } = task;
  // Stages that count bytes say so.
  const amount = Stage?.endsWith(', bytes')
    ? bytes
    : (value: number | undefined) => (value !== undefined && value < 100 ? figure(value) : count(value));
  const share = Done !== undefined && Total ? Done / Total : 0;
  return (
    <div class="running">
      <p>
        <strong>{Kind}</strong>
        {Stage !== undefined && `: ${Stage}`}
        <span class="muted"> for {duration(Seconds)}</span>
      </p>
      <Bar share={share} label={`${Kind}${Stage === undefined ? '' : `: ${Stage}`}`} />
      <p class="muted">
        {Total ? `${amount(Done)} of ${amount(Total)}` : 'starting'}
        {PerSecond !== undefined && `, ${amount(PerSecond)} a second`}
        {SecondsLeft !== undefined && SecondsLeft > 0 && `, ${duration(SecondsLeft)} left`}
      </p>
    </div>
  );
}

/** Result of a task, in one line. */
export function outcome({ State, Result, Error: message }: Task): string {
  if (State === 'failed') return message ?? 'failed';
  if (State === 'stopped') return 'cut off by a stop of the service';
  if (Result === undefined) return '';
  return measuresOf(Result)
    .filter(([name, value]) => !(name === 'unchanged' && value === 'false'))
    .map(([name, value]) => {
      if (name === 'nothing' || name === 'conclusion') return value;
      return name === 'unchanged' ? 'nothing new' : `${name} ${value}`.trim();
    })
    .join(', ');
}
