import { isUsualDelimiter } from '../../exchange/file-format.ts';
import { FIELDS, type Kind, REQUIRED } from '../../exchange/guess-columns.ts';
import type { FilePlan } from '../../exchange/import-plan.ts';
import type { Plan } from '../../exchange/rows-to-records.ts';
import { readTime, type TimeForm } from '../../exchange/time-formats.ts';
import type { Proposal, Said } from './plan.ts';

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

/** Choices between yes and no, each in a line of its own. */
export function Checks({ proposals, say }: { proposals: readonly Proposal[]; say: (more: Said) => void }) {
  return proposals.map(({ text, isTaken, means }) => (
    <label class="check" key={text}>
      <input
        type="checkbox"
        checked={isTaken}
        onChange={(event) => say(means(event.currentTarget.checked))}
      />
      {text}
    </label>
  ));
}

/** Type of feedback that does not name its own. */
export function TypeChoices({ plan, say }: { plan: FilePlan; say: (more: Said) => void }) {
  const { type, lowType, ratingMin, mapping } = plan;
  return (
    <>
      <Text label="Type of the feedback" value={type} onText={(text) => say({ type: text })} />
      {mapping.Rating !== undefined && (
        <>
          <Text
            label={`A rating counts as ${type} from`}
            value={ratingMin === undefined ? '' : String(ratingMin)}
            onText={(text) => say({ ratingMin: text })}
          />
          <Text label="Type of a lower rating" value={lowType} onText={(text) => say({ lowType: text })} />
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
  plan: { format, columns },
  said,
  onDelimiter,
}: {
  plan: FilePlan;
  said: Said;
  onDelimiter: (sign: string) => void;
}) {
  if (format.name !== 'delimited') return null;
  if (columns.length > 1 && isUsualDelimiter(format.delimiter)) return null;
  const value = said.delimiter ?? format.delimiter;
  return <Text label="Between columns" value={value} onText={onDelimiter} />;
}
