import { OperatorError } from '../../domain/operator-error.ts';
import { STDIN } from '../../exchange/open-text.ts';
import type { FilePlan, Wishes } from '../../exchange/plan.ts';
import type { Preset } from '../../exchange/presets.ts';
import { emptySurvey, type Survey, surveyFeedback } from '../../exchange/survey-feedback.ts';
import { findInputs } from '../import/inputs.ts';
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
