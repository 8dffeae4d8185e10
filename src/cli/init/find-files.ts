import { existsSync } from 'node:fs';
import { OperatorError } from '../../domain/operator-error.ts';
import { describePlan } from '../../exchange/describe-plan.ts';
import type { Kind } from '../../exchange/guess-columns.ts';
import { TEXT_ENCODINGS, type TextEncoding } from '../../exchange/guess-encoding.ts';
import type { Wishes } from '../../exchange/import-plan.ts';
import type { Preset } from '../../exchange/known-data-sets.ts';
import { withPairs } from '../../exchange/map-columns.ts';
import { OpenReading } from '../../exchange/open-reading.ts';
import { otherKeyOf } from '../../exchange/proposals.ts';
import type { Survey } from '../../exchange/survey-feedback.ts';
import { parseDelimiter, parseMap } from '../common/column-options.ts';
import { type PlannedFile, planFiles, surveyFiles, withItems } from './files-to-import.ts';
import { AnswerMissing, type Given } from './given.ts';
import { askUntil, askYes, orSay, type Prompt } from './prompt.ts';
import { likelyType } from './what-is-positive.ts';

/** The answer that means no column. */
const NONE = 'none';
/** Examples of answers that name columns. */
const EXAMPLES: Readonly<Record<Kind, string>> = {
  users: 'user=uid,labels=tags',
  items: 'item=sku,title=name,categories=group',
  feedback: 'user=uid,item=sku,time=ts,value=quantity',
};

/**
 * The files that are named, with what is guessed of them.
 * @param prompt undefined where there is no terminal
 * @throws AnswerMissing when none is named and nobody can be asked
 * @throws OperatorError when one cannot be read
 */
export async function findFiles(given: Given, prompt: Prompt | undefined): Promise<PlannedFile[]> {
  const { preset, wishes = {}, paths } = given;
  const { takesProposals: takes } = given;
  if (paths.length > 0) return planAsking(paths, preset, wishes, takes ? undefined : prompt, takes);
  if (prompt === undefined) throw new AnswerMissing('no data files are named');
  for (let unanswered = 0; ; ) {
    const answer = await prompt.ask(
      'Files with your feedback, items and users (CSV, TSV, NDJSON or Parquet):',
    );
    const names = existsSync(answer) ? [answer] : answer.split(/\s+/).filter((name) => name !== '');
    if (names.length === 0 && ++unanswered > 1)
      throw new OperatorError('no data files are named; name them behind init, as in: init orders.csv');
    if (names.length === 0) continue;
    const files = await orSay(prompt, () => planAsking(names, preset, wishes, prompt));
    if (files !== undefined) return files;
  }
}

/** Shows what the columns were taken for, and takes corrections. */
export async function confirmFiles(
  planned: readonly PlannedFile[],
  given: Given,
  prompt: Prompt | undefined,
): Promise<PlannedFile[]> {
  const { preset } = given;
  const files: PlannedFile[] = [];
  const hasFeedback = planned.some(({ plan }) => plan.kind === 'feedback');
  for (let file of planned) {
    if (!hasFeedback && prompt !== undefined) file = await withBothKeys(file, preset, prompt);
    for (;;) {
      const text = `${file.path}: ${describePlan({ ...file.plan, type: likelyType(file.plan, given) })}`;
      if (prompt === undefined) process.stderr.write(`${text}\n`);
      else prompt.say(text);
      if (prompt === undefined || (await askYes(prompt, 'Is that right?', true))) break;
      const { columns, kind } = file.plan;
      const answer = await prompt.ask(
        `Which column is what? The columns are ${columns.join(', ')}. For example ${EXAMPLES[kind]}:`,
      );
      if (answer === '') continue;
      const again = await orSay(prompt, () =>
        planAsking(
          [file.path],
          preset,
          { ...file.wishes, map: withPairs(file.wishes.map, parseMap(answer)) },
          prompt,
        ),
      );
      file = again?.[0] ?? file;
    }
    files.push(prompt === undefined ? file : await withTitle(file, preset, prompt));
  }
  return files;
}

/** Asks for the column of titles of items that have none, without which lists show bare ids. */
function withTitle(file: PlannedFile, preset: Preset, prompt: Prompt): Promise<PlannedFile> {
  const { kind, mapping, isApiForm } = file.plan;
  if (kind !== 'items' || isApiForm || mapping.Comment !== undefined) return Promise.resolve(file);
  return withColumn(file, 'title', 'the titles of the items', preset, prompt);
}

/** Asks for the other key where no file has rows of feedback: orders whose columns have names that are not known. */
function withBothKeys(file: PlannedFile, preset: Preset, prompt: Prompt): Promise<PlannedFile> {
  const { mapping, isApiForm, kind } = file.plan;
  if (isApiForm) return Promise.resolve(file);
  const [field, what] =
    mapping.UserId === undefined
      ? ['user', 'the users, such as numbers of customers']
      : ['item', 'the items, such as numbers of articles'];
  prompt.say(
    `${file.path} has ${kind} and no column that looks like ${field}s, as orders or clicks have both.`,
  );
  return withColumn(file, field, what, preset, prompt);
}

/** Asks for a column that is not used yet. */
async function withColumn(
  file: PlannedFile,
  field: string,
  what: string,
  preset: Preset,
  prompt: Prompt,
): Promise<PlannedFile> {
  const { mapping, columns } = file.plan;
  // What is the title may be all that tells the items apart.
  const { Comment: title, ...rest } = mapping;
  const others = columns.filter(
    (_, at) => !Object.values(rest).includes(at) && (field !== 'title' || at !== title),
  );
  if (others.length === 0) return file;
  const question = `Which column has ${what}? One of ${others.join(', ')}, or none:`;
  const likely = (field !== 'title' && otherKeyOf(file.plan)[0]?.[1]) || NONE;
  const map = await askUntil(prompt, question, likely, (name) => {
    if (name !== NONE && !others.includes(name)) throw new OperatorError(`there is no column ${name}`);
    return withPairs(file.wishes.map, name === NONE ? [] : [[field, name]]);
  });
  const [again] = await planAsking([file.path], preset, { ...file.wishes, map }, prompt);
  return again ?? file;
}

/** Reads the files through; asks for the encoding of one that is not UTF-8 behind the rows by which its columns were guessed. */
export async function surveyAsking(
  files: readonly PlannedFile[],
  given: Given,
  prompt: Prompt | undefined,
): Promise<{ files: readonly PlannedFile[]; survey: Survey }> {
  try {
    return { files, survey: await surveyFiles(files, given.positiveTypes === undefined) };
  } catch (error) {
    const more = await askReading(error, prompt, given.takesProposals);
    const again: PlannedFile[] = [];
    for (const { path, wishes, plan } of files)
      if (!plan.isOfFeedback)
        again.push(...(await planAsking([path], given.preset, { ...wishes, ...more }, prompt)));
    return surveyAsking(withItems(again), given, prompt);
  }
}

/**
 * Asks for the order of days and months and for what stands between columns where the files do not tell it, and for the
 * encoding of what is not UTF-8.
 */
async function planAsking(
  paths: readonly string[],
  preset: Preset,
  wishes: Wishes,
  prompt: Prompt | undefined,
  takesProposals = false,
): Promise<PlannedFile[]> {
  try {
    return await planFiles(paths, preset, wishes);
  } catch (error) {
    const more = await askReading(error, prompt, takesProposals);
    const named = more.map && { map: withPairs(wishes.map, more.map) };
    return planAsking(paths, preset, { ...wishes, ...more, ...named }, prompt, takesProposals);
  }
}

/** Further wishes for files that could not be read without them. @throws the error, where no answer helps */
async function askReading(
  error: unknown,
  prompt: Prompt | undefined,
  takesProposals: boolean,
): Promise<Wishes> {
  if (!(error instanceof OpenReading)) throw error;
  if (prompt === undefined) {
    if (!takesProposals || error.open !== 'encoding' || error.guess === '') throw error;
    process.stderr.write(
      `${error.finding}: it is read as ${error.guessInWords}; --encoding names another.\n`,
    );
    return { encoding: error.guess as TextEncoding };
  }
  prompt.say(`${error.finding}.`);
  switch (error.open) {
    case 'date-order': {
      const isDayFirst = await askYes(prompt, 'Does the day come first, as in 31/12/2024?', true);
      return { timeForm: isDayFirst ? 'day-first' : 'month-first' };
    }
    case 'delimiter': {
      const question = 'What stands between the columns? A sign, or tab:';
      return { delimiter: await askUntil(prompt, question, error.guess, parseDelimiter, error) };
    }
    case 'user':
    case 'item':
    case 'time': {
      const none = error.open === 'time' ? 'none, so that all of it is of now' : NONE;
      const question = `Which of ${error.guess} has the ${error.open}s, or ${none}?`;
      const read = (name: string) => {
        if (![NONE, ...error.guess.split(', ')].includes(name))
          throw new OperatorError(`there is no column "${name}"; name one, or say none`);
        return name;
      };
      const column = await askUntil(prompt, question, error.guessInWords, read, error);
      if (column === NONE && error.open === 'time') return { missingTime: 'now' };
      if (column === NONE) throw error;
      return { map: [[error.open, column]] };
    }
    case 'encoding': {
      if (error.guess === '') throw error;
      if (await askYes(prompt, `Is it ${error.guessInWords}?`, true))
        return { encoding: error.guess as TextEncoding };
      const question = `Which of ${TEXT_ENCODINGS.join(', ')} is it, or none?`;
      const encoding = await askUntil(prompt, question, NONE, (name) => {
        if (![NONE, ...TEXT_ENCODINGS].includes(name))
          throw new OperatorError(`there is no encoding ${name}`);
        return name;
      });
      if (encoding === NONE) throw error;
      return { encoding: encoding as TextEncoding };
    }
  }
}
