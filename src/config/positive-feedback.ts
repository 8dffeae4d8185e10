import { ttlMs } from '../domain/duration.ts';
import { positiveKindNames, readPositiveKinds } from '../domain/positive-feedback-types.ts';
import type { Config } from './config.ts';

/** The feedback that counts as positive by the configuration, and for how long. */
export interface PositiveFeedback {
  readonly positiveTypes: readonly string[];
  /** Older positive feedback counts nowhere, milliseconds; Infinity for ever. */
  readonly positiveTtlMs: number;
}

export function positiveFeedback({
  data_source,
}: Pick<Config['recommend'], 'data_source'>): PositiveFeedback {
  return {
    positiveTypes: positiveKindNames(data_source.positive_feedback_types),
    positiveTtlMs: ttlMs(data_source.positive_feedback_ttl),
  };
}

/** Types of feedback that say that an item was seen, and nothing more. */
export function readTypesOf({ data_source }: Pick<Config['recommend'], 'data_source'>): ReadonlySet<string> {
  const { positive_feedback_types, read_feedback_types } = data_source;
  const positive = readPositiveKinds(positive_feedback_types).map(({ name }) => name);
  return new Set(read_feedback_types.filter((type) => !positive.includes(type)));
}
