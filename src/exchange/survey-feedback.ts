import { OperatorError } from '../domain/operator-error.ts';
import { parseTimestamp } from '../domain/rfc3339.ts';
import { openText } from './open-text.ts';
import type { FilePlan } from './plan.ts';
import { readRows } from './read-rows.ts';
import { recordOf } from './records.ts';

/** What feedback a file holds. */
export interface Survey {
  /** Records by feedback type. */
  readonly types: Map<string, number>;
  /** Largest rating; undefined where no column has ratings that decide about the type. */
  ratingMax: number | undefined;
  ratingMin: number | undefined;
  /** Time of the newest record, milliseconds of Unix time; undefined where none has a time. */
  newestMs: number | undefined;
}

/** A column with more types than this holds something else. */
const TYPES_MAX = 1000;

export function emptySurvey(): Survey {
  return { types: new Map(), ratingMax: undefined, ratingMin: undefined, newestMs: undefined };
}

/**
 * Counts what feedback a file holds, in flat memory; rows that an import would refuse are passed over.
 * @param survey what other files hold, to which this one is added
 * @param onProgress told how far it is, in bytes of the file
 * @throws OperatorError when the file cannot be read, or its types are too many to be types
 */
export async function surveyFeedback(
  plan: FilePlan,
  survey: Survey,
  onProgress: (bytes: number, bytesTotal: number) => void,
): Promise<void> {
  const { chunks, bytesRead, bytesTotal } = openText(plan.path, plan.encoding);
  const ratingAt = plan.mapping.FeedbackType === undefined ? plan.mapping.Rating : undefined;
  let isHeader = plan.hasHeader;
  for await (const rows of readRows(chunks, plan.format, plan.columns)) {
    for (const row of rows) {
      const skip = isHeader;
      isHeader = false;
      if (skip || !('cells' in row)) continue;
      const made = recordOf(row.cells, plan);
      if (!('record' in made)) continue;
      add(survey, made.record);
      if (ratingAt !== undefined) addRating(survey, row.cells[ratingAt]);
    }
    if (survey.types.size > TYPES_MAX) {
      throw new OperatorError(
        `${plan.path}: the column of the feedback type holds more than ${TYPES_MAX} types; name another with --map type=COLUMN`,
      );
    }
    onProgress(bytesRead(), bytesTotal);
  }
}

function add(
  survey: Survey,
  record: { readonly FeedbackType?: unknown; readonly Timestamp?: unknown },
): void {
  const type = String(record.FeedbackType ?? '');
  const time = String(record.Timestamp ?? '');
  survey.types.set(type, (survey.types.get(type) ?? 0) + 1);
  const timeMs = time === '' ? Number.NaN : parseTimestamp(time);
  if (timeMs > (survey.newestMs ?? Number.NEGATIVE_INFINITY)) survey.newestMs = timeMs;
}

function addRating(survey: Survey, cell: unknown): void {
  const rating = cell === '' || cell === null || cell === undefined ? Number.NaN : Number(cell);
  if (!Number.isFinite(rating)) return;
  survey.ratingMax = Math.max(rating, survey.ratingMax ?? rating);
  survey.ratingMin = Math.min(rating, survey.ratingMin ?? rating);
}
