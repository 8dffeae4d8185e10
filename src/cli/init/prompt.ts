import { createInterface } from 'node:readline/promises';
import { ExitStatus } from '../exit-status.ts';

/** Asks a person, and gives the answer without blanks around it; an empty one is the proposal. */
export interface Prompt {
  readonly ask: (question: string, proposal?: string) => Promise<string>;
  /** Says something between two questions. */
  readonly say: (line: string) => void;
  readonly close: () => void;
}

const INTERRUPTED = 130;

/** Asks on a terminal, or on any two streams. */
export function createPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  const lines = createInterface({ input, output });
  const ended = new AbortController();
  lines.once('close', () => ended.abort());
  const ask = async (question: string, proposal = ''): Promise<string> => {
    const hint = proposal === '' ? '' : ` (${proposal})`;
    try {
      const answer = (await lines.question(`${question}${hint} `, { signal: ended.signal })).trim();
      return answer === '' ? proposal : answer;
    } catch (error) {
      if (!ended.signal.aborted) throw error;
      // Ctrl-C, Ctrl-D, or the end of what was piped in.
      output.write('\nStopped; nothing was written.\n');
      throw new ExitStatus(INTERRUPTED);
    }
  };
  return { ask, say: (line) => output.write(`${line}\n`), close: () => lines.close() };
}

/** Asks until the answer is yes or no. */
export async function askYes(prompt: Prompt, question: string, isYes: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await prompt.ask(question, isYes ? 'yes' : 'no')).toLowerCase();
    if (['y', 'yes'].includes(answer)) return true;
    if (['n', 'no'].includes(answer)) return false;
    prompt.say('Please answer yes or no.');
  }
}
