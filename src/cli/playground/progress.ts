import { Presets, SingleBar } from 'cli-progress';

/** Shows how far the stages of a job are, one after the other. */
export interface Progress {
  /** @param total records or steps in the stage; 0 while that is not known, when nothing is shown yet */
  readonly report: (stage: string, done: number, total: number) => void;
  /** Ends the last stage. */
  readonly end: () => void;
}

/** The stream that progress goes to. */
export type ProgressStream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** A bar a stage on a terminal, a line a stage elsewhere. */
export function createProgress(stream: ProgressStream): Progress {
  return stream.isTTY ? barProgress(stream) : lineProgress(stream);
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
          { format: `${stage.padEnd(18)} {bar} {percentage}% {value}/{total}`, stream, hideCursor: true },
          Presets.shades_classic,
        );
        bar.start(total, done);
      }
      shown = stage;
      shownTotal = total;
      bar?.setTotal(total);
      bar?.update(done);
    },
    end,
  };
}

function lineProgress(stream: ProgressStream): Progress {
  let shown = '';
  let shownTotal = 0;
  const end = () => {
    if (shown !== '') stream.write(`${shown}: ${shownTotal.toLocaleString('en-US')} done\n`);
    shown = '';
  };
  return {
    report(stage, _done, total) {
      if (total === 0) return;
      if (stage !== shown) end();
      shown = stage;
      shownTotal = total;
    },
    end,
  };
}
