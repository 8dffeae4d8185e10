import { Type } from 'typebox';

/** Least length of a duration between two runs of something, and longest one of what a timer waits for: 24 days, milliseconds. */
const PERIOD_MS_MIN = 1;
const WAIT_MS_MAX = 24 * 86_400_000;

/** The largest whole number of a key. */
export const INT_MAX = 2 ** 31 - 1;

/** Milliseconds. The configuration file writes it as a duration with units, such as `1h30m`. */
export type DurationMs = number;

/** A key by its default and range, which its meaning completes. */
const key = <Schema>(means: (description: string) => Schema) => ({ means });

export const bool = (value: boolean) => key((description) => Type.Boolean({ default: value, description }));

/** @param form what fits the pattern, in words */
export const text = (value: string, pattern?: string, form?: string) =>
  key((description) =>
    Type.String({
      default: value,
      description,
      ...(pattern !== undefined && { pattern }),
      ...(form !== undefined && { form }),
    }),
  );

/** The name of a store, in which a password can stand that nobody is shown. */
export const dsn = (value: string, pattern: string) =>
  key((description) => Type.String({ default: value, description, pattern, dsn: true }));

export const integer = (value: number, minimum: number, maximum: number) =>
  key((description) => Type.Integer({ default: value, minimum, maximum, description }));

export const number = (value: number, minimum: number, maximum: number) =>
  key((description) => Type.Number({ default: value, minimum, maximum, description }));

/** A number, or the word by which the service chooses it. */
const numberOrAuto = (value: number | 'auto', minimum: number, maximum: number) =>
  key((description) =>
    Type.Unsafe<number | 'auto'>({
      anyOf: [
        { type: 'number', minimum, maximum },
        { type: 'string', enum: ['auto'] },
      ],
      default: value,
      description,
      form: `a number from ${minimum} to ${maximum}, or "auto"`,
    }),
  );

export const discovery = numberOrAuto('auto', 0, 1).means(
  'Share of its weight that popularity loses in the learned ranking. "auto" takes, for users with 5 likes or more, the most that costs at most 5 % of the accuracy on held-out feedback and half of the lead over the best single recommender.',
);

/** Text in the file, milliseconds once decoded. */
export const duration = (value: string) =>
  key((description) =>
    Type.Unsafe<DurationMs>(Type.String({ format: 'go-duration', default: value, description })),
  );

/** A duration between two runs of something, which must not be zero. @param maximumMs longest one */
export const period = (value: string, maximumMs?: number) =>
  key((description) => {
    const bounds = { minimumMs: PERIOD_MS_MIN, ...(maximumMs !== undefined && { maximumMs }) };
    return Type.Unsafe<DurationMs>(
      Type.String({ format: 'go-duration', default: value, description, ...bounds }),
    );
  });

/** A duration that a timer waits for: one that it cannot hold would end at once. */
export const wait = (value: string) => period(value, WAIT_MS_MAX);

export const choice = <T extends string>(value: T, values: readonly T[]) =>
  key((description) => Type.Unsafe<T>(Type.String({ enum: values, default: value, description })));

export const ranker = choice('auto', ['auto', 'collaborative', 'random']).means(
  'What orders the candidates of a list: "auto" predicted click-through where [recommend.offline] enable_click_through_prediction is on and chance where it is off, "collaborative" the score of matrix factorization, "random" chance, the same for the same user and model.',
);

export const repeat = choice('auto', ['auto', 'never', 'allow']).means(
  'Whether people are recommended again what they have had: "never"; "allow", in their lists as if they had not; "auto", not in their lists but by [recommend.replacement]. In sessions an item stands again, but for "never", as far as [recommend.data_source] repeated shows that people return to one within a visit.',
);

export const feedbackTypes = (description: string) =>
  Type.Array(Type.String({ minLength: 1 }), { default: [], description, uniqueItems: true });

/** Names of feedback types, each with one of the words. */
export const wordByType = <T extends string>(words: readonly T[]) =>
  key((description) =>
    Type.Unsafe<Readonly<Record<string, T>>>({
      type: 'object',
      additionalProperties: { type: 'string', enum: words },
      propertyNames: { minLength: 1 },
      default: {},
      description,
    }),
  );

/** The characters of an HTTP header: visible ASCII, blanks only within. Anything else could never match what is sent. */
const KEY_PATTERN = '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$';

/** An address that may hold a key. */
export const secretAddress = (description: string) =>
  Type.String({
    ...{ default: '', description, secret: true, pattern: '^$|^https?://[\\x21-\\x7e]+$' },
    form: 'an address that begins with http:// or https://, or "" for none',
  });

/** A key that callers send; `""` for none. */
export const secret = (description: string) =>
  Type.String({ default: '', description, secret: true, pattern: `^$|${KEY_PATTERN}` });

export const secrets = (description: string) =>
  Type.Array(Type.String({ pattern: KEY_PATTERN }), {
    default: [],
    description,
    uniqueItems: true,
    secret: true,
  });
