import { counted } from '../../domain/group-digits.ts';
import type { Wishes } from '../../exchange/import-plan.ts';
import { guestState } from '../../exchange/rows-to-records.ts';
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
  const guests = given.wishes?.guests?.map(guestState) ?? [];
  const states = [...survey.leftOut].filter(([state]) => !guests.includes(state));
  const rows = states.reduce((sum, [, count]) => sum + count, 0);
  const left = `${counted(rows, 'rows')} of ${states.map(([state]) => state).join(', ')}`;
  if (rows === 0 || given.wishes?.leftOut !== undefined) return found;
  if (prompt === undefined) {
    say(`${left} are left out; --leave-out names other states, or none.`);
    return found;
  }
  if (await askYes(prompt, `Leave ${left} out, which came to nothing in the end?`, true)) return found;
  const question = 'The rows of which states shall be left out? With commas between them, or none:';
  const leftOut = await askUntil(prompt, question, 'none', parseStates);
  return surveyedAgain(files, { leftOut }, given);
}

/** The files with more said of them, read through again. */
async function surveyedAgain(
  files: readonly PlannedFile[],
  said: Pick<Wishes, 'leftOut' | 'guests'>,
  given: Given,
): Promise<Surveyed> {
  const again = withSaid(files, said);
  return { files: again, survey: await surveyFiles(again, given.positiveTypes === undefined) };
}

/** The files with more said of their rows. */
export function withSaid(
  files: readonly PlannedFile[],
  said: Pick<Wishes, 'leftOut' | 'guests' | 'zeroRating'>,
): PlannedFile[] {
  return files.map((file) => ({
    ...file,
    wishes: { ...file.wishes, ...said },
    plan: { ...file.plan, ...said },
  }));
}

/**
 * Says which ids are all guests together, and asks whether their rows are left out. Where nobody is asked those are whose id
 * means nobody, such as 0 or `guest`.
 */
export async function findGuests(
  found: Surveyed,
  given: Given,
  prompt: Prompt | undefined,
  say: (line: string) => void,
): Promise<Surveyed> {
  if (given.wishes?.guests !== undefined) return found;
  const { nobody, busiest } = found.survey.users.find();
  if (busiest !== undefined)
    say(
      `${counted(busiest.rows, 'rows')} are of user ${busiest.id}, far more than of any other. If these are several people, --guests ${busiest.id} leaves them out.`,
    );
  if (nobody.size === 0) return found;
  const left = [...nobody]
    .map(([id, rows]) => `${counted(rows, 'rows')} ${rows === 1 ? 'is' : 'are'} of user ${id}`)
    .join(', ');
  const finding = `${left}, who looks like all guests together`;
  const told = `${finding}: left out; --guests none takes them.`;
  const isLeft = await askYes(prompt, `${finding}. Leave them out?`, true, told);
  const guests = isLeft ? [...nobody.keys()] : [];
  return isLeft
    ? surveyedAgain(found.files, { guests }, given)
    : { ...found, files: withSaid(found.files, { guests }) };
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([state, count]) => `${state || '(empty)'} ${counted(count, 'rows')}`)
    .join(', ');
}
