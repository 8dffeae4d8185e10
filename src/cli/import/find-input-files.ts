import { OperatorError } from '../../domain/operator-error.ts';
import type { Kind } from '../../exchange/guess-columns.ts';
import { HEAD_CHARACTERS, type Wishes } from '../../exchange/import-plan.ts';
import { type Preset, type PresetFile, resolveInputs } from '../../exchange/known-data-sets.ts';
import { type ColumnPairs, fieldNamed, kindOfColumns } from '../../exchange/map-columns.ts';
import { columnNames } from '../../exchange/open-head.ts';
import { encodingOf, isStream, openText, peekText } from '../../exchange/open-text-file.ts';

/** A file, and which of the columns that are named it has. */
interface InspectedFile {
  readonly input: PresetFile;
  readonly own: ColumnPairs;
  /** Its kind; undefined where that is not looked at. */
  readonly kind: Kind | undefined;
}

/**
 * The files to read in their order, each with what is said of it: a column that `map` names is looked for in every file and
 * has to be in one; one by its number is that of every file. Where orders have the columns of articles, too, what these alone
 * have a field for is theirs.
 * @throws OperatorError when a folder holds no file that is known, a file cannot be read or no file has a column
 */
export async function findInputs(
  preset: Preset,
  paths: readonly string[],
  { map: pairs = [], ...wishes }: Wishes,
): Promise<PresetFile[]> {
  const inputs = resolveInputs(preset, paths, wishes);
  if (pairs.length === 0) return inputs;
  const files: InspectedFile[] = [];
  for (const input of inputs)
    files.push(inputs.length === 1 ? { input, own: pairs, kind: undefined } : await lookFor(pairs, input));
  const unused = pairs.find((pair) => !files.some(({ own }) => own.includes(pair)));
  if (unused !== undefined) throw new OperatorError(`no file has the column "${unused[1]}" of --map`);
  return files.map((file) => {
    const { input, own } = file;
    const map = own.filter((pair) => !files.some((other) => belongsToOther(other, file, pair)));
    return map.length === 0 ? input : { ...input, wishes: { ...input.wishes, map } };
  });
}

/** The named columns that one of several files has. */
async function lookFor(pairs: ColumnPairs, input: PresetFile): Promise<InspectedFile> {
  const { path, plan: known, wishes } = input;
  // A stream is read once, and a file of a known form has its columns.
  if (isStream(path) || known?.mapping !== undefined) return { input, own: pairs, kind: undefined };
  const encoding = await encodingOf(path, wishes.encoding ?? known?.encoding);
  const { head, isWhole, close } = await peekText(openText(path, encoding), HEAD_CHARACTERS);
  await close();
  const names = await columnNames(path, head, isWhole, wishes.delimiter);
  const own = pairs.filter((pair) => names.includes(pair[1]) || isNumbered(pair));
  return { input, own, kind: wishes.kind ?? kindOfColumns(names, own) };
}

function isNumbered([, column]: ColumnPairs[number]): boolean {
  return /^\d+$/.test(column);
}

/** True when a column that both files have is of the other one: this one has no field for it, or only a comment on feedback. */
function belongsToOther(other: InspectedFile, file: InspectedFile, pair: ColumnPairs[number]): boolean {
  if (other.kind === undefined || file.kind === undefined || other.kind === file.kind) return false;
  if (isNumbered(pair) || !other.own.includes(pair)) return false;
  const [field, own] = [fieldNamed(other.kind, pair[0]), fieldNamed(file.kind, pair[0])];
  return field !== undefined && (own === undefined || (own === 'Comment' && file.kind === 'feedback'));
}
