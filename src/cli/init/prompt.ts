import { createInterface } from 'node:readline/promises';
import { ExitStatus, INTERRUPTED } from '../common/exit-status.ts';

/** Asks a person, and gives the answer without blanks around it; an empty one is the proposal. */
export interface Prompt {
  readonly ask: (question: string, proposal?: string) => Promise<string>;
  /** Says something between two questions. */
  readonly say: (line: string) => void;
  readonly close: () => void;
}

const STOPPED = '\nStopped; nothing was written.\n';

/**
 * Asks on a terminal, or on any two streams.
 * @param exit ends the process on Ctrl-C between two questions, while files are read
 */
export function createPrompt(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  exit: (code: number) => void = process.exit,
): Prompt {
  const lines = createInterface({ input, output });
  const ended = new AbortController();
  let isAsking = false;
  lines.once('close', () => ended.abort());
  // The terminal gives Ctrl-C to the one that asks, and raises no signal.
  lines.on('SIGINT', () => {
    if (isAsking) return lines.close();
    output.write(STOPPED);
    exit(INTERRUPTED);
  });
  const ask = async (question: string, proposal = ''): Promise<string> => {
    const hint = proposal === '' ? '' : ` (${proposal})`;
    isAsking = true;
    try {
      const answer = (await lines.question(`${question}${hint} `, { signal: ended.signal })).trim();
      return answer === '' ? proposal : answer;
    } catch (error) {
      if (!ended.signal.aborted) throw error;
      // Ctrl-C, Ctrl-D, or the end of what was piped in.
      output.write(STOPPED);
      throw new ExitStatus(INTERRUPTED);
    } finally {
      isAsking = false;
    }
  };
  return { ask, say: (line) => output.write(`${line}\n`), close: () => lines.close() };
}

/** Asks until the answer is yes or no. @param told where there is nobody to ask: what is taken then */
export async function askYes(
  prompt: Prompt | undefined,
  question: string,
  isYes: boolean,
  told = '',
): Promise<boolean> {
  if (prompt === undefined) {
    process.stderr.write(`${told}\n`);
    return isYes;
  }
  for (;;) {
    const answer = (await prompt.ask(question, isYes ? 'yes' : 'no')).toLowerCase();
    if (['y', 'yes'].includes(answer)) return true;
    if (['n', 'no'].includes(answer)) return false;
    prompt.say('Please answer yes or no.');
  }
}

/**
 * Asks until the answer can be read.
 * @param end thrown where nothing is proposed and nothing is answered twice; it says which option answers
 */
export async function askUntil<T>(
  prompt: Prompt,
  question: string,
  proposal: string,
  read: (text: string) => T,
  end?: Error,
): Promise<T> {
  for (let unanswered = 0; ; ) {
    const answer = await prompt.ask(question, proposal);
    if (answer === '' && ++unanswered > 1 && end !== undefined) throw end;
    const value = await orSay(prompt, async () => read(answer));
    if (value !== undefined) return value;
  }
}

/** Says what is wrong instead of throwing it. @throws ExitStatus when the person went away */
export async function orSay<T>(prompt: Prompt, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof ExitStatus) throw error;
    prompt.say(error.message);
    return undefined;
  }
}
