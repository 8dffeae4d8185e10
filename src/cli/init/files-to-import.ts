import { OperatorError } from '../../domain/operator-error.ts';
import { importFile } from '../../exchange/import-file.ts';
import { type FilePlan, itemsWithin, type Wishes } from '../../exchange/import-plan.ts';
import type { Preset } from '../../exchange/known-data-sets.ts';
import { STDIN } from '../../exchange/open-text-file.ts';
import { withRatingMin } from '../../exchange/proposals.ts';
import { addRefusal, addRow, emptySurvey, type Survey } from '../../exchange/survey-feedback.ts';
import { createProgress } from '../common/progress.ts';
import { findInputs } from '../import/find-input-files.ts';
import { lookAt } from '../import/run-import.ts';

/** A file to import and what its columns become. */
export interface PlannedFile {
  readonly path: string;
  /** Wishes for this file alone. */
  readonly wishes: Wishes;
  readonly plan: FilePlan;
}

/**
 * Guesses what the files hold.
 * @throws OperatorError when a file cannot be read or a needed column is not found
 */
export async function planFiles(
  paths: readonly string[],
  preset: Preset,
  wishes: Wishes,
): Promise<PlannedFile[]> {
  if (paths.includes(STDIN))
    throw new OperatorError('init reads its files more than once; name files, not -');
  const planned: PlannedFile[] = [];
  for (const input of await findInputs(preset, paths, wishes))
    planned.push({ path: input.path, wishes: input.wishes, plan: (await lookAt(input)).plan });
  // Users and items first, so that feedback finds them.
  return planned.sort((a, b) => Number(a.plan.kind === 'feedback') - Number(b.plan.kind === 'feedback'));
}

/** The files with the items that their feedback tells of, where no file is of items. */
export function withItems(files: readonly PlannedFile[]): readonly PlannedFile[] {
  if (files.some(({ plan }) => plan.kind === 'items')) return files;
  const found = files.map((file) => {
    const within = itemsWithin(file.plan);
    if (within === undefined) return { items: [], feedback: file };
    const items = { path: file.path, wishes: {}, plan: within.items };
    return { items: [items], feedback: { ...file, plan: within.feedback } };
  });
  return [...found.flatMap(({ items }) => items), ...found.map(({ feedback }) => feedback)];
}

/**
 * Reads all files through, with progress on standard error; nothing is stored.
 * @param ratingsDecide whether a rating tells the type of a row, so that one that is no number is refused
 */
export async function surveyFiles(files: readonly PlannedFile[], ratingsDecide: boolean): Promise<Survey> {
  const survey = emptySurvey();
  const progress = createProgress(process.stderr);
  try {
    for (const { path, plan } of files)
      await surveyFile(ratingsDecide ? withRatingMin(plan) : plan, survey, (bytes, total) =>
        progress.report(`reading ${path}, bytes`, Math.min(bytes, total), total),
      );
  } finally {
    progress.end();
  }
  return survey;
}

/** Reads a file through in flat memory and stores nothing. @throws OperatorError when it cannot be read */
async function surveyFile(
  plan: FilePlan,
  survey: Survey,
  onProgress: (bytes: number, bytesTotal: number) => void,
): Promise<void> {
  await importFile({
    ...{ plan, skipsBad: true, onProgress, signal: new AbortController().signal },
    onRow: (row) => addRow(plan, survey, row),
    onRefused: (row) => addRefusal(survey, row),
  });
}
