import type { ExperimentOutcome } from '../../domain/placement-schemas.ts';
import type { RulesView } from '../../domain/rule-schemas.ts';
import { api, pathOf } from '../api.ts';
import { count, figure, percent } from '../format.ts';
import { mayOperate, undoRule } from '../rules.ts';
import { notice, question } from '../state.ts';
import { useAttempt } from '../use-attempt.ts';
import { Card, Figures, numbers, State, Table } from './common.tsx';

/** How an experiment stands. */
export function Experiment(props: {
  of: ExperimentOutcome;
  rules: RulesView | undefined;
  changed: () => void;
}) {
  const { of, rules, changed } = props;
  const rule = rules?.Experiments.find(({ Name }) => Name === of.Name);
  const isOwn = rules !== undefined && rule?.Source === 'dashboard' && mayOperate(rules);
  const [control] = of.Variants;
  const told = (value: number | undefined) => lift(value, control?.Mean ?? 0);
  return (
    <Card wide title={`Experiment ${of.Name}`} aside={<span class="muted">on {of.Placement}</span>}>
      {of.State === 'split wrong' ? (
        <p class="trouble error" role="alert">
          {of.Sentence}
        </p>
      ) : (
        <p>{of.Sentence}</p>
      )}
      <Table
        label={`Variants of ${of.Name}`}
        head={[
          'Variant',
          ...numbers('Share', 'Users', 'Who count', 'With a result', of.Measure, 'Difference', 'From', 'To'),
        ]}
      >
        {of.Variants.map((variant) => (
          <tr key={variant.Name}>
            <th scope="row">
              {variant.Name} {variant.Name === of.Winner && <span class="badge done">best</span>}
            </th>
            <Figures
              of={[
                ...[percent(variant.Share), count(variant.Seen), count(variant.Users)],
                ...[count(variant.Responders), figure(variant.Mean)],
                ...[variant.Difference, variant.Low, variant.High].map(told),
              ]}
            />
          </tr>
        ))}
      </Table>
      {of.Guardrails.length > 0 && <Guardrails of={of} />}
      <p class="muted">
        The truth lies between From and To, whenever and however often you look.
        {of.UsersForFivePercent !== undefined &&
          ` A difference of 5 % takes about ${count(of.UsersForFivePercent)} users.`}
        {of.Mixed > 0 && ` ${count(of.Mixed)} users saw several variants and are left out.`}
      </p>
      {isOwn && <Decide of={of} changed={changed} />}
    </Card>
  );
}

/** Ends the experiment, with one of its variants as the placement or with none. */
function Decide({ of, changed }: { of: ExperimentOutcome; changed: () => void }) {
  const { attempt, refusal } = useAttempt(changed);
  const path = ['api', 'admin', 'experiments', of.Name];
  const decide = (text: string, act: () => Promise<unknown>) => {
    const yes = 'End the experiment';
    question.value = {
      ...{ text: `${text} Undo takes it back.`, yes },
      act: () =>
        attempt(async () => {
          await act();
          const undo = () => undoRule('experiments', of.Name, changed);
          notice.value = { text: `The experiment ${of.Name} has ended.`, undo };
        }),
    };
  };
  const promote = (variant: string) =>
    decide(`Make ${variant} the placement ${of.Placement} for all users, and end the experiment?`, () =>
      api(pathOf([...path, 'promote'], { variant }), 'POST'),
    );
  const end = () =>
    decide(`End the experiment and leave the placement ${of.Placement} as it is?`, () =>
      api(pathOf(path), 'DELETE'),
    );
  return (
    <>
      <State error={refusal} loading={false} />
      <p class="buttons">
        {of.Variants.map(({ Name }) => (
          <button
            key={Name}
            type="button"
            class={Name === of.Winner ? '' : 'outline'}
            onClick={() => promote(Name)}
          >
            Promote {Name}
          </button>
        ))}
        <button type="button" class="outline secondary" onClick={end}>
          End it
        </button>
      </p>
    </>
  );
}

function Guardrails({ of }: { of: ExperimentOutcome }) {
  return (
    <Table
      label={`Guardrails of ${of.Name}`}
      head={['Guardrail', 'Variant', ...numbers('Difference', 'From', 'To'), '']}
    >
      {of.Guardrails.map(({ Kind, Type, Variant, Difference, Low, High, Falls }) => (
        <tr key={`${Type} ${Variant}`}>
          <th scope="row">{Type}</th>
          <td>{Variant}</td>
          <Figures
            of={[Difference, Low, High].map((value) => (Kind === 'latency' ? lift(value, 0) : points(value)))}
          />
          <td>{Falls ? 'worse' : ''}</td>
        </tr>
      ))}
    </Table>
  );
}

/** A difference beside the mean of the first variant, or as it is where that is none. */
function lift(value: number | undefined, mean: number): string {
  if (value === undefined) return '–';
  const sign = value > 0 ? '+' : '';
  return mean > 0 ? `${sign}${figure((100 * value) / mean)} %` : `${sign}${figure(value)}`;
}

/** A difference of two shares. */
function points(value: number | undefined): string {
  return value === undefined ? '–' : `${value > 0 ? '+' : ''}${figure(100 * value)} points`;
}
