import { Presets, SingleBar } from 'cli-progress';
import { type Clock, systemClock } from '../domain/clock.ts';
import { groupDigits } from '../domain/group-digits.ts';

/** Shows how far the stages of a job are, one after the other. */
export interface Progress {
  /** @param total records or steps in the stage; 0 while that is not known, when nothing is shown yet */
  readonly report: (stage: string, done: number, total: number) => void;
  /** Says something else in a line of its own. */
  readonly say: (line: string) => void;
  /** Ends the last stage. */
  readonly end: () => void;
}

/** The stream that progress goes to. */
export type ProgressStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Takes what a bar shows off the terminal. */
const CLEAR_LINE = '\r\u001b[K';
/** Where there is no terminal, a stage that lasts is printed this often. */
const LINE_MS = 10_000;

/** A bar a stage on a terminal; elsewhere a line a stage, and one every ten seconds. */
export function createProgress(stream: ProgressStream, clock: Clock = systemClock): Progress {
  return stream.isTTY ? barProgress(stream) : lineProgress(stream, clock);
}

function barProgress(stream: ProgressStream): Progress {
  let bar: SingleBar | undefined;
  let shown = '';
  let shownTotal = 0;
  const end = () => {
    if (bar === undefined) return;
    bar.update(shownTotal);
    bar.stop();
    bar = undefined;
  };
  return {
    report(stage, done, total) {
      if (total === 0) return;
      if (stage !== shown) {
        end();
        bar = new SingleBar(
          {
            format: `${stage.padEnd(18)} {bar} {percentage}% {value}/{total}, {eta_formatted} left`,
            stream,
            hideCursor: true,
            // Also what it shows already, since a line may have taken its place.
            forceRedraw: true,
            formatTime: timeText,
          },
          Presets.shades_classic,
        );
        bar.start(total, done);
      }
      shown = stage;
      shownTotal = total;
      bar?.setTotal(total);
      bar?.update(done);
    },
    say(line) {
      stream.write(bar === undefined ? `${line}\n` : `${CLEAR_LINE}${line}\n`);
    },
    end,
  };
}

/** @param seconds the library has words for a time that nobody can tell yet */
function timeText(seconds: number | string): string {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? duration(seconds) : '-';
}

function lineProgress(stream: ProgressStream, clock: Clock): Progress {
  let shown = '';
  let toldMs = clock();
  let begunMs = toldMs;
  let shownTotal = 0;
  const end = () => {
    if (shown !== '') stream.write(`${shown}: ${groupDigits(shownTotal)} done\n`);
    shown = '';
  };
  return {
    report(stage, done, total) {
      if (total === 0) return;
      if (stage !== shown) {
        end();
        toldMs = clock();
        begunMs = toldMs;
      }
      shown = stage;
      shownTotal = total;
      if (clock() - toldMs < LINE_MS || done >= total) return;
      toldMs = clock();
      const percent = Math.floor((100 * done) / total);
      const left = done > 0 ? `, ${secondsLeft((toldMs - begunMs) / 1000, done / total)} left` : '';
      stream.write(`${stage}: ${groupDigits(done)} of ${groupDigits(total)}, ${percent}%${left}\n`);
    },
    say: (line) => stream.write(`${line}\n`),
    end,
  };
}

/** How long the rest of a stage takes at the pace of what is done. @param share of the stage, above 0 */
function secondsLeft(seconds: number, share: number): string {
  return duration(Math.ceil((seconds * (1 - share)) / share));
}

function duration(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
