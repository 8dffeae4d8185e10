import type { DailyFiguresView } from '../../domain/activity-schemas.ts';
import { count, nameOf } from '../format.ts';
import { useResource } from '../use-resource.ts';
import { Chart, type ChartLine } from './chart.tsx';
import { Card, Fact, State } from './common.tsx';

const REFRESH_MS = 60_000;
const COLORS = [1, 2, 3, 4] as const;
const FILLED_BY = 'filled_by_';

/** The last days in figures of the business. */
export function Days() {
  const { data, error, loading } = useResource<DailyFiguresView>('/api/admin/activity/days', REFRESH_MS);
  return (
    <Card wide title="The last 30 days" aside={<span class="muted">as far as this service saw them</span>}>
      <State error={error} loading={loading} />
      {data !== undefined && <DaysOf data={data} />}
    </Card>
  );
}

function DaysOf({ data }: { data: DailyFiguresView }) {
  const { Times, Feedback, Counts } = data;
  const of = (name: string) => Counts[name] ?? [];
  const answers = sum(of('answers'));
  const share = (part: number) => (answers === 0 ? '-' : `${Math.round((100 * part) / answers)} %`);
  const filled = Object.keys(Counts).filter((name) => name.startsWith(FILLED_BY));
  return (
    <>
      <dl class="facts">
        <Fact
          name="Feedback"
          value={count(Object.values(Feedback).reduce((all, days) => all + sum(days), 0))}
        />
        <Fact name="Answers" value={count(answers)} />
        <Fact name="From own lists" value={share(answers - sum(of('without_list')))} />
        {filled.map((name) => (
          <Fact
            key={name}
            name={`Filled up by ${nameOf(name.slice(FILLED_BY.length))}`}
            value={share(sum(of(name)))}
          />
        ))}
      </dl>
      <div class="charts days">
        {chartsOf(data).map(([title, lines]) => (
          <Chart
            key={title}
            title={title}
            format={count}
            times={Times}
            lines={lines.map(
              ([label, values], at): ChartLine => ({
                label,
                values: values.length === 0 ? Times.map(() => 0) : values,
                color: COLORS[at]!,
              }),
            )}
          />
        ))}
      </div>
    </>
  );
}

type Curve = readonly [label: string, values: readonly number[]];

function chartsOf({
  Feedback,
  ActiveUsers,
  Counts,
}: DailyFiguresView): (readonly [title: string, lines: readonly Curve[]])[] {
  const of = (name: string) => Counts[name] ?? [];
  return [
    ['Feedback a day', mostFirst(Feedback)],
    ['Active users', [['users', ActiveUsers]]],
    [
      'New users and items',
      [
        ['users', of('new_users')],
        ['items', of('new_items')],
      ],
    ],
    [
      'Personal answers',
      [
        ['all', of('answers')],
        ['without a list', of('without_list')],
      ],
    ],
  ];
}

/** The types with most records, as many as there are colors. */
function mostFirst(feedback: DailyFiguresView['Feedback']): [string, number[]][] {
  return Object.entries(feedback)
    .sort(([, a], [, b]) => sum(b) - sum(a))
    .slice(0, COLORS.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
