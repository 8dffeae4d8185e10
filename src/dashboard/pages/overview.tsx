import { useState } from 'preact/hooks';
import type { RankingChoice, Series, Summary } from '../../domain/admin-schemas.ts';
import { bytes, count, duration, figure, measure, milliseconds, percent, time } from '../format.ts';
import { Chart, type ChartLine, type ChartProps } from '../parts/chart.tsx';
import { Card, Fact, PageHead, State } from '../parts/common.tsx';
import { Days } from '../parts/days.tsx';
import { NodesCard } from '../parts/nodes.tsx';
import { RunningTask } from '../parts/task.tsx';
import { Troubles } from '../parts/troubles.tsx';
import { summary, summaryError } from '../state.ts';
import { useResource } from '../use-resource.ts';

const SPANS = [
  { label: '15 min', samples: 90 },
  { label: '1 hour', samples: 360 },
  { label: '6 hours', samples: 2160 },
  { label: '24 hours', samples: 8640 },
];
const REFRESH_MS = 10_000;

export function OverviewPage() {
  const state = summary.value;
  return (
    <>
      <PageHead title="Overview">{state?.Sentence ?? ''}</PageHead>
      <State error={summaryError.value} loading={state === undefined} />
      {state !== undefined && (
        <>
          <Troubles troubles={state.Troubles} />
          <Counts state={state} />
          {state.Model !== undefined && <Good choice={state.Model.Choice} />}
          <Days />
          <Curves />
          <div class="cards">
            <ModelCard state={state} />
            <TypesCard state={state} />
            <ServiceCard state={state} />
            <NodesCard nodes={state.Nodes} />
          </div>
        </>
      )}
    </>
  );
}

function Counts({ state }: { state: Summary }) {
  // Events, where they are counted: of a user and an item there may be several.
  const events = state.FeedbackTypes.reduce((sum, { Count }) => sum + Count, 0);
  return (
    <dl class="facts large">
      <Fact name="Users" value={count(state.Users)} />
      <Fact name="Items" value={count(state.Items)} />
      <Fact
        name="Feedback"
        value={count(Math.max(events, state.Feedback))}
        note={`${count(state.Feedback)} different by user, item and type`}
      />
      <Fact name="Positive" value={count(state.PositiveFeedback)} note="Feedback of a positive type" />
      <Fact name="Read" value={count(state.ReadFeedback)} note="Feedback of a read type" />
    </dl>
  );
}

/** Whether the lists are better than what is popular, in a sentence, by what the last fit held back; and where to see them. */
function Good({ choice }: { choice: RankingChoice | undefined }) {
  return (
    <Card wide title="Is it any good?" aside={<a href="#/quality">Quality</a>}>
      <p>
        {choice === undefined
          ? 'There is too little feedback so far to hold some back and test the lists with it.'
          : goodInWords(choice)}{' '}
        See <a href="#/shelf">what two customers get</a>, side by side.
      </p>
    </Card>
  );
}

function goodInWords({ Ways, Chosen, Users, OverPopular }: RankingChoice): string {
  const best = (isMeant: (name: string) => boolean) =>
    Ways.filter(({ Name }) => isMeant(Name)).sort((a, b) => b.Quality.Mean - a.Quality.Mean)[0]?.Quality;
  const [lists, popular] = [best((name) => name === Chosen), best((name) => name.startsWith('popular_'))];
  if (lists === undefined || popular === undefined || OverPopular === undefined)
    return 'The next fit tells: the one that serves was made by an earlier version.';
  const times = lists.Mean / Math.max(popular.Mean, Number.MIN_VALUE);
  const isAhead = OverPopular.Mean > OverPopular.HalfWidth;
  const verdict = isAhead
    ? `${times > 10 ? 'More than 10' : times.toFixed(1)} times as good as`
    : 'No better than';
  const measures = `(NDCG@10 ${measure(lists.Mean)} beside ${measure(popular.Mean)})`;
  return `${verdict} showing everybody what is popular, tested with the latest feedback of ${count(Users)} users, which was held back ${measures}.`;
}

interface Curve extends Pick<ChartProps, 'title' | 'format' | 'bridges'> {
  /** Label, name of the series and color of each. */
  readonly lines: readonly (readonly [string, string, ChartLine['color']])[];
}

const CURVES: readonly Curve[] = [
  {
    title: 'Requests a second',
    format: figure,
    lines: [
      ['all', 'requests_per_second', 1],
      ['errors', 'errors_per_second', 4],
    ],
  },
  {
    title: 'Latency',
    format: milliseconds,
    bridges: true,
    lines: [
      ['p50', 'latency_p50_ms', 1],
      ['p95', 'latency_p95_ms', 2],
      ['p99', 'latency_p99_ms', 3],
    ],
  },
  {
    title: 'Event loop delay, p99',
    format: milliseconds,
    lines: [['delay', 'event_loop_delay_p99_ms', 3]],
  },
  {
    title: 'Memory',
    format: bytes,
    lines: [
      ['resident', 'resident_bytes', 1],
      ['heap', 'heap_bytes', 2],
    ],
  },
  {
    title: 'Disk',
    format: bytes,
    lines: [
      ['data', 'data_bytes', 1],
      ['cache', 'cache_bytes', 2],
    ],
  },
  { title: 'Processor', format: percent, lines: [['of one core', 'cpu_share', 1]] },
];

function Curves() {
  const [samples, setSamples] = useState(SPANS[0]!.samples);
  const { data, error, loading } = useResource<Series>(`/api/admin/series?n=${samples}`, REFRESH_MS);
  const spans = (
    <fieldset class="spans">
      <legend class="hidden">Span of the curves</legend>
      {SPANS.map((span) => (
        <label key={span.samples}>
          <input
            type="radio"
            name="span"
            checked={span.samples === samples}
            onChange={() => setSamples(span.samples)}
          />
          {span.label}
        </label>
      ))}
    </fieldset>
  );
  return (
    <Card wide title="Live" aside={spans}>
      <State error={error} loading={loading} />
      {data !== undefined && (
        <div class="charts">
          {CURVES.map(({ lines, ...chart }) => (
            <Chart
              key={chart.title}
              {...chart}
              times={data.Times}
              lines={lines.map(([label, name, color]) => ({ label, color, values: data.Values[name] ?? [] }))}
            />
          ))}
        </div>
      )}
    </Card>
  );
}

function ModelCard({ state }: { state: Summary }) {
  const model = state.Model;
  return (
    <Card title="Model" aside={<a href="#/quality">Quality</a>}>
      {state.Task !== undefined && <RunningTask task={state.Task} />}
      {model === undefined ? (
        <p>None yet. Until then answers are made by the fallbacks.</p>
      ) : (
        <dl class="facts">
          <Fact name="Generation" value={count(model.Generation)} />
          <Fact name="Age" value={duration(model.AgeSeconds)} note={time(model.FittedAt)} />
          <Fact name="Fit took" value={duration(model.FitSeconds)} />
          <Fact
            name="Next fit"
            value={state.NextFitSeconds === undefined ? 'running' : `in ${duration(state.NextFitSeconds)}`}
          />
          {model.RankedBy !== undefined && (
            <Fact
              name="Ranked by"
              value={model.RankedBy.replaceAll('_', ' ')}
              note="Chosen on held-out feedback"
            />
          )}
        </dl>
      )}
    </Card>
  );
}

function TypesCard({ state }: { state: Summary }) {
  return (
    <Card title="Feedback by type">
      {state.FeedbackTypes.length === 0 ? (
        <p>
          None yet. <a href="#/import">Import some</a>.
        </p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Type</th>
              <th scope="col">Counts as</th>
              <th scope="col" class="number">
                Records
              </th>
            </tr>
          </thead>
          <tbody>
            {state.FeedbackTypes.map(({ Name, Count, Positive, Read }) => (
              <tr key={Name}>
                <td>{Name}</td>
                <td>{[Positive && 'positive', Read && 'read'].filter(Boolean).join(', ') || 'seen'}</td>
                <td class="number">{count(Count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function ServiceCard({ state }: { state: Summary }) {
  const { Service } = state;
  return (
    <Card title="Service" aside={<a href="#/config">Settings</a>}>
      <dl class="facts">
        <Fact
          name="Up for"
          value={duration(Service.UptimeSeconds)}
          note={`since ${time(Service.StartedAt)}`}
        />
        <Fact name="HTTP engine" value={Service.Engine} />
        <Fact name="Node.js" value={Service.Node} />
        <Fact name="Threads" value={count(Service.Threads)} />
        <Fact name="API key" value={Service.HasKey ? 'on' : 'off'} />
      </dl>
      <p class="muted path">{Service.DataFolder}</p>
    </Card>
  );
}
