import { FIELDS } from './guess-columns.ts';
import type { FilePlan } from './import-plan.ts';
import { DEFAULT_SEPARATOR } from './rows-to-records.ts';

/** The numbers may be something else. */
const EXCEL_NOTE = ': warning, numbers taken for days as Excel counts them, 45292 for 2024-01-01';

/** The columns by the plan, in a line: `UserId from "user", Timestamp from "ts" (seconds)`. */
export function describePlan({
  kind,
  mapping,
  columns,
  timeForm: form,
  unfitForm,
  isApiForm,
  ratingMin,
  ...plan
}: FilePlan): string {
  if (isApiForm) return `${kind}, as the API writes them`;
  const parts = FIELDS[kind]
    .filter((field) => mapping[field] !== undefined)
    .map((field) => {
      const unfit = unfitForm === undefined ? '' : `; ${unfitForm}, as was said, does not fit`;
      const days = form === 'excel-days' ? EXCEL_NOTE : '';
      const note = field === 'Timestamp' && form !== undefined ? ` (${form}${days}${unfit})` : '';
      const isSplit = ['Categories', 'Labels'].includes(field) && plan.separator !== DEFAULT_SEPARATOR;
      const split = isSplit ? ` (several, with "${plan.separator}" between them)` : '';
      return `${field} from "${columns[mapping[field]!]}"${note}${split}`;
    });
  if (kind === 'feedback' && mapping.FeedbackType === undefined) {
    const rated = ratingMin !== undefined && mapping.Rating !== undefined;
    parts.push(
      rated
        ? `"${plan.type}" from a rating of ${ratingMin} on, else "${plan.lowType}"`
        : `all of type "${plan.type}"`,
    );
  }
  if (kind === 'users' && plan.noItems) parts.push(`no items${plan.noItems}`);
  if (kind === 'feedback' && mapping.Timestamp === undefined)
    parts.push('no column of times, so all of it is of now (--map time=COLUMN names one)');
  const { states = [], leftOut } = plan;
  const left = leftOut?.join(', ') ?? 'what was cancelled or came back';
  if (states.length > 0)
    parts.push(
      `State from "${states.map(({ name }) => name).join('", "')}" (left out: ${left || 'nothing'})`,
    );
  parts.push(...ofRows(columns, plan));
  const used = [...Object.values(mapping), ...states.map(({ at }) => at)];
  const others = plan.isOfFeedback ? [] : columns.filter((_, at) => !used.includes(at));
  if (kind === 'items' && mapping.Comment === undefined && others.length > 0)
    parts.push('no column of titles, so lists show bare ids (--map title=COLUMN names one)');
  const rest = others.length === 0 ? '' : `; not used: ${others.join(', ')}`;
  const isGuessed = plan.format.name === 'delimited' && !plan.hasHeader && plan.reshape === undefined;
  const first = isGuessed ? '; the first row is data (--header if it names the columns)' : '';
  const empty =
    plan.isEmpty === true ? '; no row stands below these names, so there is nothing to store' : '';
  return `${kind}: ${parts.join(', ')}${rest}${first}${empty}`;
}

/** What is a row of a file and what is not. */
function ofRows(
  columns: readonly string[],
  { format, continued }: Pick<FilePlan, 'format' | 'continued'>,
): string[] {
  const parts: string[] = [];
  const { list, unrolled, above } = { list: undefined, unrolled: undefined, above: undefined, ...format };
  if (list !== undefined) parts.push(`a row for each of "${list}", and none for a line without any`);
  if (unrolled !== undefined) parts.push(`a row for each filled cell of ${unrolled.columns.length} columns`);
  if (continued !== undefined)
    parts.push(
      continued.columns.includes(continued.key)
        ? `rows without "${columns[continued.key]}" go on with the row before where they are empty`
        : `rows with the "${columns[continued.key]}" of the row before go on with it where they are empty`,
    );
  if (above !== undefined) parts.push(`names of columns in line ${above + 1}`);
  return parts;
}
