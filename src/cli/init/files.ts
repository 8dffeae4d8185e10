import { OperatorError } from '../../domain/operator-error.ts';
import { encodingOf, openText, peekText, STDIN } from '../../exchange/open-text.ts';
import { columnNames, type FilePlan, HEAD_CHARACTERS, type Wishes } from '../../exchange/plan.ts';
import { type Preset, type PresetFile, resolveInputs } from '../../exchange/presets.ts';
import { emptySurvey, type Survey, surveyFeedback } from '../../exchange/survey.ts';
import { lookAt } from '../import/run-import.ts';
import { createProgress } from '../progress.ts';

/** A file to import and what its columns become. */
export interface PlannedFile {
  readonly path: string;
  /** What the caller says of this file. */
  readonly wishes: Wishes;
  readonly plan: FilePlan;
}

/**
 * Guesses what the files hold.
 * @param wishes a column of `map` is looked for in every file and has to be in one
 * @throws OperatorError when a file cannot be read or a needed column is not found
 */
export async function planFiles(
  paths: readonly string[],
  preset: Preset,
  { map = {}, ...wishes }: Wishes,
): Promise<PlannedFile[]> {
  if (paths.includes(STDIN))
    throw new OperatorError('init reads its files more than once; name files, not -');
  const inputs = resolveInputs(preset, paths, wishes);
  const planned: PlannedFile[] = [];
  const used = new Set<string>();
  for (const input of inputs) {
    const pairs = await pairsOf(input, Object.entries(map), inputs.length === 1);
    for (const [field] of pairs) used.add(field);
    const own = pairs.length === 0 ? input.wishes : { ...input.wishes, map: Object.fromEntries(pairs) };
    const { plan } = await lookAt({ ...input, wishes: own });
    planned.push({ path: input.path, wishes: own, plan });
  }
  const unused = Object.entries(map).find(([field]) => !used.has(field));
  if (unused !== undefined) throw new OperatorError(`no file has the column "${unused[1]}" of --map`);
  // Users and items first, so that feedback finds them.
  return planned.sort((a, b) => Number(a.plan.kind === 'feedback') - Number(b.plan.kind === 'feedback'));
}

/** The named columns that a file has; the only file is held to all of them. */
async function pairsOf(
  { path, plan: known, wishes }: PresetFile,
  pairs: readonly [string, string][],
  isOnly: boolean,
): Promise<readonly [string, string][]> {
  if (isOnly || pairs.length === 0 || known?.mapping !== undefined) return pairs;
  const encoding = await encodingOf(path, wishes.encoding ?? known?.encoding);
  const { head, isWhole, opened } = await peekText(openText(path, encoding), HEAD_CHARACTERS);
  await opened.chunks[Symbol.asyncIterator]().return?.();
  const names = await columnNames(head, isWhole);
  return pairs.filter(([, column]) => names.includes(column));
}

/** Counts the feedback in the files, with progress on standard error. */
export async function surveyFiles(files: readonly PlannedFile[]): Promise<Survey> {
  const survey = emptySurvey();
  const progress = createProgress(process.stderr);
  for (const { path, plan } of files) {
    if (plan.kind !== 'feedback') continue;
    await surveyFeedback(plan, survey, (bytes, total) =>
      progress.report(`reading ${path}, bytes`, Math.min(bytes, total), total),
    );
  }
  progress.end();
  return survey;
}
