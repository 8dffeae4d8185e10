import { useState } from 'preact/hooks';
import type { Rule, RuleHistory, RuleKey, RulesView } from '../../domain/rule-schemas.ts';
import { api, pathOf } from '../api.ts';
import { time } from '../format.ts';
import { Card, PageHead, State, Table } from '../parts/common.tsx';
import { PlacementPreview } from '../parts/placement-preview.tsx';
import { RuleForm, type Settings } from '../parts/rule-form.tsx';
import { go } from '../router.ts';
import { mayOperate, undoRule } from '../rules.ts';
import { notice, summary } from '../state.ts';
import { useAttempt } from '../use-attempt.ts';
import { useResource } from '../use-resource.ts';

/** One placement: its keys, what users would see, what it was before. */
export function PlacementPage({ name }: { name: string }) {
  const rules = useResource<RulesView>('/api/admin/rules');
  const rule = rules.data?.Placements.find(({ Name }) => Name === name);
  const path = pathOf(['api', 'admin', 'placements', name]);
  const known = useResource<RuleHistory>(rule && path);
  const isLoaded = rules.data !== undefined && (rule === undefined || known.data !== undefined);
  return (
    <>
      <PageHead title={`Placement ${name}`}>
        {rule?.Source === 'configuration'
          ? 'It is of the configuration and is changed there; here you see what other keys would do.'
          : 'What is kept here is in effect at once, on all nodes.'}
      </PageHead>
      <State error={rules.error ?? known.error} loading={!isLoaded && rules.error === undefined} />
      {isLoaded && (
        <Editor
          key={`${rule?.Version}`}
          {...{ name, rule, rules: rules.data!, known: known.data }}
          reload={() => {
            rules.reload();
            known.reload();
          }}
        />
      )}
    </>
  );
}

interface EditorProps {
  readonly name: string;
  readonly rule: Rule | undefined;
  readonly rules: RulesView;
  readonly known: RuleHistory | undefined;
  readonly reload: () => void;
}

function Editor({ name, rule, rules, known, reload }: EditorProps) {
  const before = rule?.Settings ?? {};
  const [settings, setSettings] = useState<Settings>(before);
  const [round, setRound] = useState(0);
  const { isFaulty, tellFault, forget } = useFaults();
  const [titles, setTitles] = useState(known?.Titles ?? {});
  const { attempt, refusal } = useAttempt(() => {});
  const isChanged = JSON.stringify(settings) !== JSON.stringify(before);
  const isOwn = rule?.Source !== 'configuration';
  const mayChange = mayOperate(rules);
  const path = ['api', 'admin', 'placements', name];
  const save = () =>
    attempt(async () => {
      await api(pathOf(path, rule === undefined ? {} : { version: rule.Version }), 'PUT', settings);
      notice.value = { text: `${name} is in effect.`, undo: () => undoRule('placements', name, reload) };
      reload();
    });
  const remove = () =>
    attempt(async () => {
      await api(pathOf(path), 'DELETE');
      notice.value = { text: `${name} is gone.`, undo: () => undoRule('placements', name, reload) };
      reload();
    });
  const restore = (to: Settings) => {
    setSettings(to);
    forget();
    setRound(round + 1);
  };
  return (
    <>
      <State error={refusal} loading={false} />
      {rule?.NotInEffect !== undefined && <p class="trouble warning">Not in effect: {rule.NotInEffect}</p>}
      <Card wide title="What they would see">
        <PlacementPreview name={name} settings={settings} />
      </Card>
      <Card wide title="Rules">
        <RuleForm
          key={String(round)}
          keys={rules.Keys}
          {...{ settings, titles, tellFault, change: setSettings, disabled: !mayChange }}
          know={(id, title) => setTitles({ ...titles, [id]: title })}
        />
        {mayChange ? (
          <Buttons
            {...{ isChanged, isFaulty, save, remove }}
            isNew={rule === undefined}
            isOwn={isOwn}
            leave={() => restore(before)}
          />
        ) : (
          <p class="muted">Your key may look and change nothing here.</p>
        )}
      </Card>
      {mayChange && rule !== undefined && isChanged && !isFaulty && (
        <StartExperiment {...{ name, rules }} override={differenceOf(before, settings, rules.Keys)} />
      )}
      {known !== undefined && <History of={known} restore={restore} />}
    </>
  );
}

/** Fields of the form that hold what is no value. */
function useFaults() {
  const [faulty, setFaulty] = useState<readonly string[]>([]);
  const tellFault = (name: string, isOne: boolean) =>
    setFaulty((before) => [...before.filter((each) => each !== name), ...(isOne ? [name] : [])]);
  return { isFaulty: faulty.length > 0, tellFault, forget: () => setFaulty([]) };
}

function Buttons(props: {
  isNew: boolean;
  isOwn: boolean;
  isChanged: boolean;
  isFaulty: boolean;
  save: () => void;
  leave: () => void;
  remove: () => void;
}) {
  const { isNew, isOwn, isChanged, isFaulty, save, leave, remove } = props;
  return (
    <p class="buttons">
      <button type="button" disabled={!isOwn || isFaulty || !(isChanged || isNew)} onClick={save}>
        {isNew ? 'Make the placement' : 'Save'}
      </button>
      {(isChanged || isFaulty) && (
        <button type="button" class="outline" onClick={leave}>
          Leave it as it was
        </button>
      )}
      {!isNew && isOwn && (
        <button type="button" class="outline secondary" onClick={remove}>
          Take it away
        </button>
      )}
    </p>
  );
}

/** Keys that differ, with their defaults where they were taken away. */
function differenceOf(before: Settings, now: Settings, keys: readonly RuleKey[]): Settings {
  const valueIn = (settings: Settings, { Name, Default }: RuleKey) => settings[Name] ?? JSON.parse(Default);
  const changed = keys.filter(
    (key) => JSON.stringify(valueIn(before, key)) !== JSON.stringify(valueIn(now, key)),
  );
  return Object.fromEntries(changed.map((key) => [key.Name, valueIn(now, key)]));
}

/** Shows some users the changed placement and others the one there is. */
function StartExperiment(props: { name: string; rules: RulesView; override: Settings }) {
  const { name, rules, override } = props;
  const running = rules.Experiments.find(({ Settings }) => Settings.placement === name);
  const [title, setTitle] = useState(`${name}-${rules.Experiments.length + 1}`);
  const [measure, setMeasure] = useState('');
  const { attempt, refusal } = useAttempt(() => {});
  const types = summary.value?.FeedbackTypes.filter(({ Read }) => !Read) ?? [];
  const start = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const variants = [
        { name: 'now', share: 0.5 },
        { name: 'new', share: 0.5, override },
      ];
      const path = pathOf(['api', 'admin', 'experiments', title], { version: 0 });
      await api(path, 'PUT', { placement: name, variants, measure });
      go('placements');
    });
  };
  if (running !== undefined)
    return <p class="muted">The experiment {running.Name} runs here; end it before another one.</p>;
  return (
    <Card wide title="Try the changes on half of the users">
      <State error={refusal} loading={false} />
      <form class="filter" onSubmit={start}>
        <label>
          Name of the experiment
          <input
            type="text"
            required
            value={title}
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
        </label>
        <label>
          What decides
          <select value={measure} onChange={(event) => setMeasure(event.currentTarget.value)}>
            <option value="">any feedback</option>
            {types.map(({ Name }) => (
              <option key={Name}>{Name}</option>
            ))}
          </select>
        </label>
        <button type="submit">Start the experiment</button>
      </form>
    </Card>
  );
}

function History({ of, restore }: { of: RuleHistory; restore: (settings: Settings) => void }) {
  if (of.History.length === 0) return null;
  return (
    <Card wide title="What it was before">
      <Table stacks label="History" head={['Version', 'When', 'Key', 'Rules', '']}>
        {of.History.map(({ Version, At, By, Settings }) => (
          <tr key={Version}>
            <th scope="row">{Version}</th>
            <td class="nowrap">{time(At)}</td>
            <td>{By || 'no key'}</td>
            <td>
              <code>{Settings === undefined ? 'taken away' : JSON.stringify(Settings)}</code>
            </td>
            <td>
              {Settings !== undefined && (
                <button
                  type="button"
                  class="small outline"
                  aria-label={`Take version ${Version}`}
                  onClick={() => restore(Settings)}
                >
                  Take
                </button>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
