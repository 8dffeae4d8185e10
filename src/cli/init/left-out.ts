import { counted } from '../../domain/group-digits.ts';
import type { Survey } from '../../exchange/survey-feedback.ts';
import { parseStates } from '../common/column-options.ts';
import { type PlannedFile, surveyFiles } from './files-to-import.ts';
import type { Given } from './given.ts';
import { askUntil, askYes, type Prompt } from './prompt.ts';

/** Files and what was found by reading them through. */
interface Surveyed {
  readonly files: readonly PlannedFile[];
  readonly survey: Survey;
}

/**
 * Says how many rows there are of each state of an order, and asks whether those of what was cancelled or came back are left
 * out. Where nobody is asked they are.
 */
export async function findLeftOut(
  found: Surveyed,
  given: Given,
  prompt: Prompt | undefined,
  say: (line: string) => void,
): Promise<Surveyed> {
  const { files, survey } = found;
  for (const [path, columns] of survey.states)
    for (const [name, counts] of columns) say(`${path}, "${name}": ${describeCounts(counts)}`);
  const rows = [...survey.leftOut.values()].reduce((sum, count) => sum + count, 0);
  const left = `${counted(rows, 'rows')} of ${[...survey.leftOut.keys()].join(', ')}`;
  if (rows === 0 || given.wishes?.leftOut !== undefined) return found;
  if (prompt === undefined) {
    say(`${left} are left out; --leave-out names other states, or none.`);
    return found;
  }
  if (await askYes(prompt, `Leave ${left} out, which were not bought in the end?`, true)) return found;
  const question = 'The rows of which states shall be left out? With commas between them, or none:';
  const leftOut = await askUntil(prompt, question, 'none', parseStates);
  const again = files.map((file) => ({
    ...file,
    wishes: { ...file.wishes, leftOut },
    plan: { ...file.plan, leftOut },
  }));
  return { files: again, survey: await surveyFiles(again, given.positiveTypes === undefined) };
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([state, count]) => `${state || '(empty)'} ${counted(count, 'rows')}`)
    .join(', ');
}
