import { type HoldOut, HoldOutSurvey, type ReplayRecords } from '../../src/dataset/hold-out-survey.ts';

/** Positive feedback as columns, each pair once; a user's records need not be together. */
export interface TimedPairs {
  readonly userRows: ArrayLike<number>;
  readonly itemRows: ArrayLike<number>;
  /** Milliseconds since the epoch. */
  readonly times: ArrayLike<number>;
}

/** Chooses what is held out of columns; positions are those of the columns. */
export function holdOut({ userRows, itemRows, times }: TimedPairs, seed: number): HoldOut {
  const replay: ReplayRecords = (visit) => {
    for (let at = 0; at < userRows.length; at++) visit(userRows[at]!, itemRows[at]!, times[at]!);
  };
  const survey = new HoldOutSurvey(seed);
  replay((userRow, itemRow, time) => survey.add(userRow, itemRow, time));
  return survey.choose(replay);
}
