import { useState } from 'preact/hooks';

/** Outcome of what was tried at a click. */
export interface Attempts {
  /** Why the last could not be done; undefined where it could. */
  readonly refusal: string | undefined;
  readonly attempt: (work: () => Promise<unknown>) => Promise<void>;
}

/** Does what is asked for at a click, and keeps the reason where it cannot be done. @param done called afterwards */
export function useAttempt(done: () => void): Attempts {
  const [refusal, setRefusal] = useState<string>();
  const attempt = async (work: () => Promise<unknown>) => {
    setRefusal(undefined);
    try {
      await work();
    } catch (problem) {
      setRefusal((problem as Error).message);
    }
    done();
  };
  return { refusal, attempt };
}
