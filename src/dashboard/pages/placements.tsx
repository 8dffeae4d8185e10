import { useState } from 'preact/hooks';
import type { PlacementOutcome, PlacementReport } from '../../domain/placement-schemas.ts';
import type { Audit, RulesView } from '../../domain/rule-schemas.ts';
import { ask, pathOf } from '../api.ts';
import { count, duration, figure, percent, time } from '../format.ts';
import { Chart, type ChartLine } from '../parts/chart.tsx';
import { Card, Figures, Names, numbers, PageHead, State, Table } from '../parts/common.tsx';
import { Experiment } from '../parts/experiment.tsx';
import { go, href } from '../router.ts';
import { mayOperate } from '../rules.ts';
import { saveFile } from '../save-file.ts';
import { useAttempt } from '../use-attempt.ts';
import { useResource } from '../use-resource.ts';

const REFRESH_MS = 60_000;
const CHANGES = 50;
const COLORS = [1, 2, 3, 4] as const;
const PATH = '/api/admin/placements';

/** The page of what came of the lists of placements. */
export function PlacementsPage() {
  const { data, error, loading, reload } = useResource<PlacementReport>(PATH, REFRESH_MS);
  const rules = useResource<RulesView>('/api/admin/rules', REFRESH_MS);
  const audit = useResource<Audit>(pathOf(['api', 'admin', 'audit'], { n: CHANGES }));
  const changed = () => {
    reload();
    rules.reload();
    audit.reload();
  };
  const names = [...new Set(data?.Placements.map(({ Placement }) => Placement))];
  return (
    <>
      <PageHead title="Placements">
        Named places on your pages: their rules, what users saw of their lists, and what they did with it.
      </PageHead>
      <State error={error ?? rules.error} loading={loading || rules.loading} />
      {rules.data !== undefined && <Rules of={rules.data} />}
      {data !== undefined && names.length === 0 && (
        <p>
          Nothing was shown yet. Ask for lists with the name of a placement, as in <code>placement=home</code>
          , and tell what was seen by <code>POST /api/impressions</code>.
        </p>
      )}
      {data !== undefined && names.length > 0 && <Head data={data} />}
      {data?.Experiments.map((each) => (
        <Experiment key={each.Name} of={each} rules={rules.data} changed={changed} />
      ))}
      {names.map((name) => (
        <Outcome
          key={name}
          name={name}
          variants={data!.Placements.filter(({ Placement }) => Placement === name)}
        />
      ))}
      {audit.data !== undefined && audit.data.Changes.length > 0 && <Changes of={audit.data} />}
    </>
  );
}

/** The placements there are, and a form for another. */
function Rules({ of }: { of: RulesView }) {
  const [name, setName] = useState('');
  const make = (event: Event) => {
    event.preventDefault();
    go('placements', name);
  };
  return (
    <Card wide title="Rules">
      {of.Placements.length > 0 && (
        <Table stacks label="Placements" head={['Placement', 'From', 'Rules', 'Changed']}>
          {of.Placements.map((rule) => (
            <tr key={rule.Name}>
              <th scope="row">
                <a class="item" href={href('placements', rule.Name)}>
                  {rule.Name}
                </a>
              </th>
              <td>
                <span class="badge">{rule.Source}</span>
                {rule.NotInEffect !== undefined && <span class="badge failed">not in effect</span>}
              </td>
              <td>
                <Names
                  values={Object.keys(rule.Settings)
                    .filter((key) => !isUsual(of, key, rule.Settings[key]))
                    .map((key) => key.replaceAll('_', ' '))}
                />
              </td>
              <td class="nowrap">
                {rule.ChangedAt !== undefined && `${time(rule.ChangedAt)} by ${rule.ChangedBy || 'no key'}`}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {mayOperate(of) && (
        <form class="filter" onSubmit={make}>
          <label>
            Name of a new placement
            <input
              type="text"
              required
              pattern="[A-Za-z][A-Za-z0-9_\-]*"
              maxLength={64}
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <button type="submit">Make a placement</button>
        </form>
      )}
    </Card>
  );
}

/** True for a key at its default. */
function isUsual({ Keys }: RulesView, key: string, value: unknown): boolean {
  return Keys.find(({ Name }) => Name === key)?.Default === JSON.stringify(value);
}

function Changes({ of }: { of: Audit }) {
  return (
    <details>
      <summary>Who changed what</summary>
      <Table stacks label="Changes" head={['When', 'Key', 'What']}>
        {of.Changes.map(({ At, By, What }, number) => (
          <tr key={String(number)}>
            <td class="nowrap">{time(At)}</td>
            <td>{By || 'no key'}</td>
            <td>{What}</td>
          </tr>
        ))}
      </Table>
    </details>
  );
}

function Head({ data }: { data: PlacementReport }) {
  const { attempt, refusal } = useAttempt(() => {});
  const save = () =>
    attempt(async () => {
      const response = await ask(`${PATH}.csv`);
      saveFile('furze-placements.csv', [await response.text()]);
    });
  return (
    <>
      <p class="muted">
        As of {time(data.ComputedAt)}. Feedback that names no list belongs to the last one with the item
        within {duration(data.WindowSeconds)}.
      </p>
      <p>
        <button type="button" class="small outline" onClick={save}>
          Save as CSV
        </button>
      </p>
      <State error={refusal} loading={false} />
    </>
  );
}

function Outcome({ name, variants }: { name: string; variants: readonly PlacementOutcome[] }) {
  const types = [...new Set(variants.flatMap(({ Feedback }) => Feedback.map(({ Type }) => Type)))];
  const values = types.filter((type) => variants.some((variant) => feedbackOf(variant, type).Value !== 0));
  return (
    <Card wide title={name}>
      <Table
        label={`What came of ${name}`}
        head={[
          'Variant',
          ...numbers('Lists', 'Users', 'Items seen', 'Clicked', 'Click rate', 'Named its list'),
          ...numbers(...types, ...values.map((type) => `Value of ${type}`)),
        ]}
      >
        {variants.map((variant) => (
          <tr key={variant.Variant}>
            <th scope="row">{variant.Variant === '' ? 'all' : variant.Variant}</th>
            <Figures
              of={[
                ...[variant.Lists, variant.Users, variant.Shown, variant.Clicked].map(count),
                ...[percent(rateOf(variant)), percent(shareNamed(variant))],
                ...types.map((type) => count(feedbackOf(variant, type).Count)),
                ...values.map((type) => figure(feedbackOf(variant, type).Value)),
              ]}
            />
          </tr>
        ))}
      </Table>
      <Curves variants={variants} />
    </Card>
  );
}

function Curves({ variants }: { variants: readonly PlacementOutcome[] }) {
  const days = [...new Set(variants.flatMap(({ Days }) => Days.map(({ Day }) => Day)))].sort();
  const lines = (read: (day: PlacementOutcome['Days'][number]) => number | null) =>
    variants.slice(0, COLORS.length).map(({ Variant, Days }, at): ChartLine => {
      const byDay = new Map(Days.map((day) => [day.Day, day]));
      const values = days.map((day) => {
        const known = byDay.get(day);
        return known === undefined ? null : read(known);
      });
      return { label: Variant === '' ? 'all' : Variant, color: COLORS[at]!, values };
    });
  const times = days.map((day) => Date.parse(day) / 1000);
  const places = variants[0]?.Places ?? [];
  return (
    <>
      {days.length > 1 && (
        <div class="charts days">
          <Chart title="Click rate by day" times={times} lines={lines(rateOf)} format={percent} />
          <Chart
            title="Users with feedback by day"
            times={times}
            lines={lines(({ Users, Converted }) => (Users === 0 ? null : Converted / Users))}
            format={percent}
          />
          <Chart
            title="Items beyond the popular ones by day"
            times={times}
            lines={lines(({ Shown, Beyond }) => (Shown === 0 ? null : Beyond / Shown))}
            format={percent}
          />
          <Chart title="Items seen by day" times={times} lines={lines(({ Shown }) => Shown)} format={count} />
        </div>
      )}
      {places.length > 0 && (
        <details>
          <summary>By place</summary>
          <Table label="By place" head={['Variant', ...numbers('Place', 'Seen', 'Clicked', 'Click rate')]}>
            {variants.flatMap(({ Variant, Places }) =>
              Places.map((each) => (
                <tr key={`${Variant} ${each.Place}`}>
                  <td>{Variant === '' ? 'all' : Variant}</td>
                  <Figures
                    of={[...[each.Place, each.Shown, each.Clicked].map(count), percent(rateOf(each))]}
                  />
                </tr>
              )),
            )}
          </Table>
        </details>
      )}
    </>
  );
}

function rateOf({ Shown, Clicked }: { readonly Shown: number; readonly Clicked: number }): number | null {
  return Shown === 0 ? null : Clicked / Shown;
}

function shareNamed({ Named, InWindow }: PlacementOutcome): number | null {
  return Named + InWindow === 0 ? null : Named / (Named + InWindow);
}

function feedbackOf({ Feedback }: PlacementOutcome, type: string): { Count: number; Value: number } {
  return Feedback.find(({ Type }) => Type === type) ?? { Count: 0, Value: 0 };
}
