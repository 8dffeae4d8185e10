/**
 * Kinds that `[recommend.data_source] positive_feedback_types` can name: a feedback type (`like`), one from a value on
 * (`rating>=4`, as Gorse 0.5 has it), and a weight for either (`purchase=5`, `rating>=4=2`).
 */
export interface PositiveKind {
  /** Name of the kind: type and threshold, without the weight. */
  readonly name: string;
  readonly feedbackType: string;
  readonly threshold: Threshold | undefined;
  /** Weight of one such feedback beside one of weight 1; above 0. */
  readonly weight: number;
}

export interface Threshold {
  readonly operator: '>=' | '>' | '<=' | '<';
  readonly value: number;
}

const NUMBER = '\\d+(?:\\.\\d+)?';
/** As the pattern of a JSON Schema: what an entry of the list looks like. */
export const POSITIVE_KIND_PATTERN = `^[^<>=]+((>=|<=|>|<) *-?${NUMBER} *)?(= *${NUMBER})?$`;
const FORM = new RegExp(`^([^<>=]+)(?:(>=|<=|>|<) *(-?${NUMBER}) *)?(?:= *(${NUMBER}))?$`);

/**
 * Reads the entries of the list. Of several entries of one type, those of the largest weight come first, so that the
 * first that fits is the one that counts.
 * @throws Error when an entry has another form or a weight of 0; the configuration has checked that it has not
 */
export function readPositiveKinds(entries: readonly string[]): PositiveKind[] {
  return entries.map(readPositiveKind).sort((a, b) => b.weight - a.weight);
}

function readPositiveKind(entry: string): PositiveKind {
  const match = FORM.exec(entry);
  const weight = Number(match?.[4] ?? 1);
  if (match === null || !(weight > 0)) {
    throw new Error(`${JSON.stringify(entry)} is no feedback type with a threshold and a weight`);
  }
  // Blanks are part of a name that stands alone.
  const feedbackType = match[0] === match[1] ? match[0] : match[1]!.trim();
  if (match[2] === undefined) return { name: feedbackType, feedbackType, threshold: undefined, weight };
  const threshold = { operator: match[2] as Threshold['operator'], value: Number(match[3]) };
  const name = `${feedbackType}${threshold.operator}${threshold.value}`;
  return { name, feedbackType, threshold, weight };
}

/** True when a kind is positive above 0, as purchases are of which some come back. */
export function isAboveZero({ threshold }: PositiveKind): boolean {
  return threshold?.operator === '>' && threshold.value === 0;
}

/** The names of the kinds that a list of entries means. @throws Error as `readPositiveKinds` */
export function positiveKindNames(entries: readonly string[]): string[] {
  return readPositiveKinds(entries).map(({ name }) => name);
}

/** The weight of each kind by its name; undefined when all weigh the same. @throws Error as `readPositiveKinds` */
export function positiveWeights(entries: readonly string[]): ReadonlyMap<string, number> | undefined {
  const kinds = readPositiveKinds(entries);
  if (kinds.every(({ weight }) => weight === kinds[0]!.weight)) return undefined;
  return new Map(kinds.map(({ name, weight }) => [name, weight]));
}

/**
 * The kind that a feedback is of, or undefined when it is not positive.
 * @param kinds as `readPositiveKinds` gives them
 * @param value what the feedback carries, 0 when it carries nothing
 */
export function kindOf(
  kinds: readonly PositiveKind[],
  feedbackType: string,
  value: number,
): PositiveKind | undefined {
  return kinds.find((kind) => kind.feedbackType === feedbackType && reaches(value, kind.threshold));
}

function reaches(value: number, threshold: Threshold | undefined): boolean {
  switch (threshold?.operator) {
    case '>=':
      return value >= threshold.value;
    case '>':
      return value > threshold.value;
    case '<=':
      return value <= threshold.value;
    case '<':
      return value < threshold.value;
    default:
      return true;
  }
}

/** Names of the types that say of a user and an item that it was seen, and never more. */
export function seenTypes(
  positiveTypes: readonly string[],
  readTypes: readonly string[],
): ReadonlySet<string> {
  const positive = new Set(readPositiveKinds(positiveTypes).map(({ feedbackType }) => feedbackType));
  return new Set(readTypes.filter((name) => !positive.has(name)));
}
