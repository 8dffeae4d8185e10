import type { RowFormat } from '../../exchange/file-format.ts';
import { FIELDS, type Kind, REQUIRED } from '../../exchange/guess-columns.ts';
import type { Plan } from '../../exchange/rows-to-records.ts';
import { readTime, type TimeForm } from '../../exchange/time-formats.ts';

const TIME_NAMES: Readonly<Record<TimeForm, string>> = {
  seconds: 'seconds since 1970',
  milliseconds: 'milliseconds since 1970',
  microseconds: 'microseconds since 1970',
  date: 'dates: year first, or the month by name',
  'month-first': 'dates: month, day, year',
  'day-first': 'dates: day, month, year',
  'year-first': 'dates: year of two digits, month, day',
  'excel-days': 'days as Excel counts them',
};

export function KindChoice({ kind, onKind }: { kind: Kind; onKind: (kind: Kind) => void }) {
  return (
    <label>
      It holds
      <select value={kind} onChange={(event) => onKind(event.currentTarget.value as Kind)}>
        <option value="users">users</option>
        <option value="items">items</option>
        <option value="feedback">feedback</option>
      </select>
    </label>
  );
}

/** For each field the column that it comes from. */
export function ColumnChoices(props: {
  kind: Kind;
  mapping: Plan['mapping'];
  names: readonly string[];
  choose: (field: string, column: string) => void;
}) {
  const { kind, mapping, names, choose } = props;
  return FIELDS[kind].map((field) => (
    <label key={field}>
      {field}
      {REQUIRED[kind].includes(field) && ' (needed)'}
      <select value={mapping[field] ?? ''} onChange={(event) => choose(field, event.currentTarget.value)}>
        <option value="">not in the file</option>
        {names.map((name, at) => (
          <option key={`${at} ${name}`} value={at}>
            {name}
          </option>
        ))}
      </select>
    </label>
  ));
}

export function HeaderChoice({
  checked,
  onChange,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      The first row names the columns
    </label>
  );
}

/** Choice whether rows of orders that were cancelled are left out, where a column tells it. */
export function StatesChoice({
  plan,
  onStates,
}: {
  plan: Plan;
  onStates: (states?: readonly string[]) => void;
}) {
  const { states = [], leftOut } = plan;
  if (states.length === 0) return null;
  const choose = (leaves: boolean) => onStates(leaves ? undefined : []);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={leftOut === undefined}
        onChange={(event) => choose(event.currentTarget.checked)}
      />
      Leave out orders that were cancelled or came back ({states.map(({ name }) => name).join(', ')})
    </label>
  );
}

/** Type of feedback that does not name its own. */
export function TypeChoices(props: {
  plan: Plan;
  onType: (text: string) => void;
  ratingMin: string;
  onRatingMin: (text: string) => void;
  onLowType: (text: string) => void;
}) {
  const { plan, onType, ratingMin, onRatingMin, onLowType } = props;
  return (
    <>
      <Text label="Type of the feedback" value={plan.type} onText={onType} />
      {plan.ratingMin !== undefined && (
        <>
          <Text label={`A rating counts as ${plan.type} from`} value={ratingMin} onText={onRatingMin} />
          <Text label="Type of a lower rating" value={plan.lowType} onText={onLowType} />
        </>
      )}
    </>
  );
}

export function Text({
  label,
  value,
  onText,
}: {
  label: string;
  value: string;
  onText: (text: string) => void;
}) {
  return (
    <label>
      {label}
      <input type="text" value={value} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}

/** Form of the times, where the column cannot tell or was misunderstood. */
export function TimeChoice({
  form,
  example,
  onForm,
}: {
  form: TimeForm | undefined;
  /** A time of the file, shown as each form takes it. */
  example: string;
  onForm: (form: TimeForm) => void;
}) {
  return (
    <label>
      Times are
      <select value={form ?? ''} onChange={(event) => onForm(event.currentTarget.value as TimeForm)}>
        {form === undefined && <option value="">choose</option>}
        {Object.entries(TIME_NAMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
            {meaningOf(example, value as TimeForm)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Example of a time in a form: `: 02/01/2024 is 2024-01-02`. Empty where it means none, or is written like that. */
function meaningOf(text: string, form: TimeForm): string {
  const day = readTime(text, form)?.slice(0, 'yyyy-mm-dd'.length);
  return day === undefined || text.startsWith(day) ? '' : `: ${text} is ${day}`;
}

/** Separator of columns, where it was not found or is unusual. */
export function DelimiterChoice({
  format,
  onDelimiter,
}: {
  format: RowFormat;
  onDelimiter: (sign: string) => void;
}) {
  if (format.name !== 'delimited') return null;
  return (
    <label>
      Between columns
      <input
        type="text"
        value={format.delimiter}
        onChange={(event) => onDelimiter(event.currentTarget.value)}
      />
    </label>
  );
}
