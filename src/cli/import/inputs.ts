import { OperatorError } from '../../domain/operator-error.ts';
import { encodingOf, isStream, openText, peekText } from '../../exchange/open-text.ts';
import { type ColumnPairs, columnNames, HEAD_CHARACTERS, type Wishes } from '../../exchange/plan.ts';
import { type Preset, type PresetFile, resolveInputs } from '../../exchange/presets.ts';

/**
 * The files to read in their order, each with what is said of it: a column that `map` names is looked for in every file and
 * has to be in one; one by its number is that of every file.
 * @throws OperatorError when a folder holds no file that is known, a file cannot be read or no file has a column
 */
export async function findInputs(
  preset: Preset,
  paths: readonly string[],
  { map: pairs = [], ...wishes }: Wishes,
): Promise<PresetFile[]> {
  const inputs = resolveInputs(preset, paths, wishes);
  if (pairs.length === 0) return inputs;
  const used = new Set<ColumnPairs[number]>();
  const found: PresetFile[] = [];
  for (const input of inputs) {
    const own = inputs.length === 1 ? pairs : await pairsOf(input, pairs);
    for (const pair of own) used.add(pair);
    found.push(own.length === 0 ? input : { ...input, wishes: { ...input.wishes, map: own } });
  }
  const unused = pairs.find((pair) => !used.has(pair));
  if (unused !== undefined) throw new OperatorError(`no file has the column "${unused[1]}" of --map`);
  return found;
}

/** The named columns that one of several files has. */
async function pairsOf({ path, plan: known, wishes }: PresetFile, pairs: ColumnPairs): Promise<ColumnPairs> {
  // A stream is read once, and a file of a known form has its columns.
  if (isStream(path) || known?.mapping !== undefined) return pairs;
  const encoding = await encodingOf(path, wishes.encoding ?? known?.encoding);
  const { head, isWhole, opened } = await peekText(openText(path, encoding), HEAD_CHARACTERS);
  await opened.chunks[Symbol.asyncIterator]().return?.();
  const names = await columnNames(head, isWhole);
  return pairs.filter(([, column]) => names.includes(column) || /^\d+$/.test(column));
}
