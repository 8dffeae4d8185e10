import { type Params, SingleBar } from 'cli-progress';
import { type Clock, steadyClock } from '../../domain/clock.ts';
import { groupDigits } from '../../domain/group-digits.ts';

/** Shows how far the stages of a job are, one after the other. */
export interface Progress {
  /** @param total records or steps in the stage; 0 while that is not known, when nothing is shown yet */
  readonly report: (stage: string, done: number, total: number) => void;
  /** Says something else in a line of its own. */
  readonly say: (line: string) => void;
  /** Ends the last stage, which is done. */
  readonly end: () => void;
  /** Ends the last stage where it is, for good: what is reported later is not shown. */
  readonly stop: () => void;
}

/** The stream that progress goes to. */
export type ProgressStream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** Takes what a bar shows off the terminal. */
const CLEAR_LINE = '\r\u001b[K';
/** Makes the present line the one that the bar goes back to in the end. */
const SAVE_CURSOR = '\u001b7';
/** Where there is no terminal, a stage that lasts is printed this often. */
export const LINE_MS = 10_000;
/** Columns of a terminal that is not known. */
const COLUMNS = 80;
/** Columns of a bar at the least and at the most, and of the numbers beside it. */
const [BAR_MIN, BAR_MAX, NUMBERS] = [5, 40, 38];

/** A bar a stage on a terminal; elsewhere a line a stage, and one every ten seconds. */
export function createProgress(stream: ProgressStream, clock: Clock = steadyClock): Progress {
  return stream.isTTY ? barProgress(stream) : lineProgress(stream, clock);
}

function barProgress(stream: ProgressStream): Progress {
  let bar: SingleBar | undefined;
  let shown = '';
  let shownTotal = 0;
  let drawn = '';
  let isStopped = false;
  const columns = () => stream.columns ?? COLUMNS;
  const begin = (stage: string) =>
    new SingleBar({
      format: (_, params) => (drawn = drawnStage(stage, params, columns())),
      stream,
      // Ctrl-C is the command's to hear, and nothing of the terminal is left to be put right.
      ...{ gracefulExit: false, hideCursor: false },
      // Cuts the bar, and nothing else, to the width of the terminal.
      linewrap: true,
    });
  const close = () => {
    bar?.stop();
    bar = undefined;
  };
  const end = () => {
    bar?.update(shownTotal);
    close();
  };
  return {
    report(stage, done, total) {
      if (total === 0 || isStopped) return;
      if (stage !== shown) {
        end();
        bar = begin(stage);
        bar.start(total, done);
      }
      shown = stage;
      shownTotal = total;
      bar?.setTotal(total);
      bar?.update(done);
    },
    say(line) {
      const under = `${SAVE_CURSOR}${drawn.slice(0, columns())}`;
      stream.write(bar === undefined ? `${line}\n` : `${CLEAR_LINE}${line}\n${under}`);
    },
    end,
    stop() {
      isStopped = true;
      close();
    },
  };
}

/** A stage with its bar, as wide as there is room; one of a single step, which has no share that is done, with its time. */
function drawnStage(stage: string, params: Params, columns: number): string {
  const { progress, value, total, startTime } = params;
  const name = stage.padEnd(18);
  if (total <= 1) return `${name} ${duration(Math.round((Date.now() - startTime) / 1000))}`;
  const size = Math.max(BAR_MIN, Math.min(BAR_MAX, columns - name.length - NUMBERS));
  const full = Math.round(progress * size);
  const bar = '\u2588'.repeat(full) + '\u2591'.repeat(size - full);
  // The library has words for a time that nobody can tell yet.
  const eta: unknown = params.eta;
  const left = typeof eta === 'number' && Number.isFinite(eta) ? duration(eta) : '-';
  return `${name} ${bar} ${Math.floor(progress * 100)}% ${value}/${total}, ${left} left`;
}

function lineProgress(stream: ProgressStream, clock: Clock): Progress {
  let shown = '';
  let toldMs = clock();
  let begunMs = toldMs;
  let shownTotal = 0;
  let isStopped = false;
  const end = () => {
    const count = shownTotal > 1 ? `${groupDigits(shownTotal)} ` : '';
    if (shown !== '') stream.write(`${shown}: ${count}done\n`);
    shown = '';
  };
  return {
    report(stage, done, total) {
      if (total === 0 || isStopped) return;
      if (stage !== shown) {
        end();
        toldMs = clock();
        begunMs = toldMs;
      }
      shown = stage;
      shownTotal = total;
      if (clock() - toldMs < LINE_MS || done >= total) return;
      toldMs = clock();
      stream.write(`${stage}: ${howFar(done, total, (toldMs - begunMs) / 1000)}\n`);
    },
    say: (line) => stream.write(`${line}\n`),
    end,
    stop() {
      isStopped = true;
      shown = '';
    },
  };
}

/** Counts, share and time left of a stage. @param seconds since the stage began */
export function howFar(done: number, total: number, seconds: number): string {
  const passed = `${duration(Math.round(seconds))} so far`;
  if (done === 0) return total > 1 ? `0 of ${groupDigits(total)}, ${passed}` : passed;
  const percent = Math.floor((100 * done) / total);
  return `${groupDigits(done)} of ${groupDigits(total)}, ${percent}%, ${secondsLeft(seconds, done / total)} left`;
}

/** Time left in a stage at its pace so far. @param share of the stage, above 0 */
function secondsLeft(seconds: number, share: number): string {
  return duration(Math.ceil((seconds * (1 - share)) / share));
}

function duration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
