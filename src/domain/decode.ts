import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Batch } from './batch.ts';
import type { Feedback, Item, User } from './entities.ts';
import { type ErrorPlace, FurzeError } from './errors.ts';
import type { Limits } from './limits.ts';
import {
  FeedbackBodiesSchema,
  type FeedbackBody,
  FeedbackBodySchema,
  ItemBodiesSchema,
  type ItemBody,
  ItemBodySchema,
  type ItemPatch,
  ItemPatchSchema,
  SessionBodiesSchema,
  type SessionBody,
  SessionBodySchema,
  UserBodiesSchema,
  type UserBody,
  UserBodySchema,
  type UserPatch,
  UserPatchSchema,
} from './schemas.ts';
import { formatTimestamp, parseTimestamp } from './time.ts';

/** A body with a thousand faults names this many of them. */
const PLACES_MAX = 20;

const utf8 = new TextDecoder('utf-8', { fatal: true });

interface Checker<T> {
  Check(value: unknown): value is T;
  Errors(value: unknown): readonly CheckFault[];
}

interface CheckFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** A validator that is generated when it is first used: most threads use few of them. */
function lazily<T>(schema: TSchema): () => Checker<T> {
  let checker: Checker<T> | undefined;
  return () => (checker ??= Compile(schema) as unknown as Checker<T>);
}

const userBodies = { one: lazily<UserBody>(UserBodySchema), all: lazily<UserBody[]>(UserBodiesSchema) };
const itemBodies = { one: lazily<ItemBody>(ItemBodySchema), all: lazily<ItemBody[]>(ItemBodiesSchema) };
const feedbackBodies = {
  one: lazily<FeedbackBody>(FeedbackBodySchema),
  all: lazily<FeedbackBody[]>(FeedbackBodiesSchema),
};
const sessionBodies = {
  one: lazily<SessionBody>(SessionBodySchema),
  all: lazily<SessionBody[]>(SessionBodiesSchema),
};
const userPatch = lazily<UserPatch>(UserPatchSchema);
const itemPatch = lazily<ItemPatch>(ItemPatchSchema);

/**
 * Users out of a request body, every field filled in.
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeUsers(batch: Batch<User>, limits: Limits): User[] {
  return decodeBatch(batch, userBodies, limits, (body, place) => ({
    UserId: checkId(body.UserId, at(place, 'UserId'), limits),
    Labels: checkTexts(body.Labels, at(place, 'Labels'), limits) ?? [],
    Comment: checkComment(body.Comment, at(place, 'Comment'), limits) ?? '',
    Subscribe: checkTexts(body.Subscribe, at(place, 'Subscribe'), limits) ?? [],
  }));
}

/**
 * Items out of a request body, every field filled in and the timestamp in its canonical form.
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeItems(batch: Batch<Item>, limits: Limits): Item[] {
  return decodeBatch(batch, itemBodies, limits, (body, place) => ({
    ItemId: checkItemId(body.ItemId, at(place, 'ItemId'), limits),
    IsHidden: body.IsHidden ?? false,
    Categories: checkTexts(body.Categories, at(place, 'Categories'), limits) ?? [],
    Timestamp: checkTimestamp(body.Timestamp, at(place, 'Timestamp')) ?? '',
    Labels: checkTexts(body.Labels, at(place, 'Labels'), limits) ?? [],
    Comment: checkComment(body.Comment, at(place, 'Comment'), limits) ?? '',
  }));
}

/**
 * Feedback out of a request body; one without a timestamp happened when it arrived.
 * @param nowMs time of arrival, milliseconds since the Unix epoch
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeFeedback(batch: Batch<Feedback>, limits: Limits, nowMs: number): Feedback[] {
  const now = formatTimestamp(nowMs);
  return decodeBatch(batch, feedbackBodies, limits, (body, place) => ({
    FeedbackType: checkId(body.FeedbackType, at(place, 'FeedbackType'), limits),
    UserId: checkId(body.UserId, at(place, 'UserId'), limits),
    ItemId: checkItemId(body.ItemId, at(place, 'ItemId'), limits),
    Timestamp: checkTimestamp(body.Timestamp, at(place, 'Timestamp')) || now,
    Comment: checkComment(body.Comment, at(place, 'Comment'), limits) ?? '',
  }));
}

/**
 * The records of a session, whose `UserId` is left out or not looked at.
 * @param nowMs time of arrival, milliseconds since the Unix epoch
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeSession(json: Uint8Array<ArrayBuffer>, limits: Limits, nowMs: number): Feedback[] {
  const now = formatTimestamp(nowMs);
  return decodeBatch<SessionBody, Feedback>(
    { json, single: false },
    sessionBodies,
    limits,
    (body, place) => ({
      FeedbackType: checkId(body.FeedbackType, at(place, 'FeedbackType'), limits),
      UserId: body.UserId ?? '',
      ItemId: checkItemId(body.ItemId, at(place, 'ItemId'), limits),
      Timestamp: checkTimestamp(body.Timestamp, at(place, 'Timestamp')) || now,
      Comment: checkComment(body.Comment, at(place, 'Comment'), limits) ?? '',
    }),
  );
}

/** The fields that a PATCH of a user changes; those absent or null stay. @throws FurzeError INVALID_JSON, INVALID_BODY */
export function decodeUserPatch(json: Uint8Array, limits: Limits): Partial<User> {
  const body = checkBody(parseJson(json), userPatch());
  return given({
    Labels: checkTexts(body.Labels, at('', 'Labels'), limits),
    Comment: checkComment(body.Comment, at('', 'Comment'), limits),
    Subscribe: checkTexts(body.Subscribe, at('', 'Subscribe'), limits),
  });
}

/** The fields that a PATCH of an item changes; `Timestamp: ""` takes it away. @throws FurzeError INVALID_JSON, INVALID_BODY */
export function decodeItemPatch(json: Uint8Array, limits: Limits): Partial<Item> {
  const body = checkBody(parseJson(json), itemPatch());
  return given({
    IsHidden: body.IsHidden ?? undefined,
    Categories: checkTexts(body.Categories, at('', 'Categories'), limits),
    Timestamp: checkTimestamp(body.Timestamp, at('', 'Timestamp')),
    Labels: checkTexts(body.Labels, at('', 'Labels'), limits),
    Comment: checkComment(body.Comment, at('', 'Comment'), limits),
  });
}

/**
 * Checks an id, a feedback type or a category: 1 to `limits.idBytesMax` bytes of UTF-8.
 * @param place JSON pointer or parameter name, for the error
 * @throws FurzeError `code`, by default INVALID_BODY
 */
export function checkId(
  id: string,
  place: Place,
  limits: Limits,
  code: 'INVALID_BODY' | 'INVALID_PARAMETER' = 'INVALID_BODY',
): string {
  const length = id.length;
  if (length === 0) throw fault(code, place, 'must not be empty');
  let bytes = length;
  for (let i = 0; i < length; i++) {
    const unit = id.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (unit < 0xd800 || unit > 0xdfff) continue;
    // A pair is four bytes for two units; half a pair has no UTF-8 and two such ids would be stored as one.
    const next = id.charCodeAt(i + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) {
      throw fault(code, place, 'must be well-formed Unicode');
    }
    i++;
  }
  if (bytes > limits.idBytesMax)
    throw fault(code, place, `must be at most ${limits.idBytesMax} bytes of UTF-8`);
  return id;
}

/** As `checkId`, and without a slash. */
export function checkItemId(
  id: string,
  place: Place,
  limits: Limits,
  code: 'INVALID_BODY' | 'INVALID_PARAMETER' = 'INVALID_BODY',
): string {
  if (id.includes('/')) throw fault(code, place, 'must not contain a slash');
  return checkId(id, place, limits, code);
}

/** Where a value stands: written out only when there is an error to tell. */
type Place = string | (() => string);

function at(record: string | number, field: string): () => string {
  return () => (record === '' ? `/${field}` : `/${record}/${field}`);
}

function fault(code: 'INVALID_BODY' | 'INVALID_PARAMETER', place: Place, message: string): FurzeError {
  const path = typeof place === 'string' ? place : place();
  return new FurzeError(code, `${path} ${message}.`, [{ path, message }]);
}

function decodeBatch<Body, T extends Body>(
  batch: Batch<T>,
  checkers: { one: () => Checker<Body>; all: () => Checker<Body[]> },
  limits: Limits,
  decode: (body: Body, place: string | number) => T,
): T[] {
  if ('records' in batch) return batch.records.map(decode);
  const value = parseJson(batch.json);
  if (batch.single) return [decode(checkBody(value, checkers.one()), '')];
  if (Array.isArray(value) && value.length > limits.batchRecordsMax) {
    const message = `a batch holds at most ${limits.batchRecordsMax} records, this one holds ${value.length}`;
    throw new FurzeError('BATCH_TOO_LARGE', `${message}.`, [{ path: '', message }]);
  }
  if (checkers.all().Check(value)) return value.map(decode);
  if (!Array.isArray(value)) throw invalidBody([{ path: '', message: 'must be array' }]);
  throw invalidBody(findPlaces(value, checkers.one()));
}

function parseJson(json: Uint8Array): unknown {
  if (json.length === 0) throw new FurzeError('INVALID_JSON', 'The body is empty.');
  let text: string;
  try {
    text = utf8.decode(json);
  } catch {
    throw new FurzeError('INVALID_JSON', 'The body is not valid UTF-8.');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FurzeError('INVALID_JSON', `The body is not valid JSON: ${(error as SyntaxError).message}.`);
  }
}

function checkBody<T>(value: unknown, checker: Checker<T>): T {
  if (checker.Check(value)) return value;
  throw invalidBody(checker.Errors(value).flatMap((error) => toPlaces('', error)));
}

/** The faults of an array, record by record, so that finding them stays cheap in a large one. */
function findPlaces<T>(records: readonly unknown[], checker: Checker<T>): ErrorPlace[] {
  const places: ErrorPlace[] = [];
  for (let i = 0; i < records.length && places.length < PLACES_MAX; i++) {
    if (checker.Check(records[i])) continue;
    places.push(...checker.Errors(records[i]).flatMap((error) => toPlaces(`/${i}`, error)));
  }
  return places;
}

function toPlaces(prefix: string, error: CheckFault): ErrorPlace[] {
  const path = prefix + error.instancePath;
  if (error.keyword !== 'required') return [{ path, message: error.message }];
  const { requiredProperties } = error.params as { requiredProperties: readonly string[] };
  return requiredProperties.map((name) => ({ path: `${path}/${name}`, message: 'is required' }));
}

function invalidBody(allPlaces: readonly ErrorPlace[]): FurzeError {
  const places = allPlaces.slice(0, PLACES_MAX);
  const first = places[0]!;
  return new FurzeError('INVALID_BODY', `${first.path || 'The body'} ${first.message}.`, places);
}

function checkTexts(
  values: readonly string[] | null | undefined,
  place: Place,
  limits: Limits,
): readonly string[] | undefined {
  if (values === null || values === undefined) return undefined;
  if (values.length > limits.labelsMax)
    throw fault('INVALID_BODY', place, `must hold at most ${limits.labelsMax} entries`);
  return values;
}

function checkComment(comment: string | null | undefined, place: Place, limits: Limits): string | undefined {
  if (comment === null || comment === undefined) return undefined;
  // A UTF-16 unit is at most three bytes of UTF-8, so short ones need no count.
  if (comment.length * 3 > limits.commentBytesMax && Buffer.byteLength(comment) > limits.commentBytesMax) {
    throw fault('INVALID_BODY', place, `must be at most ${limits.commentBytesMax} bytes of UTF-8`);
  }
  return comment;
}

/** The canonical form of a timestamp; `""` stays. */
function checkTimestamp(timestamp: string | null | undefined, place: Place): string | undefined {
  if (timestamp === null || timestamp === undefined) return undefined;
  if (timestamp === '') return '';
  const timeMs = parseTimestamp(timestamp);
  if (Number.isNaN(timeMs)) {
    throw fault('INVALID_BODY', place, 'must be a date and time as RFC 3339 has it, or a date');
  }
  return isCanonical(timestamp) ? timestamp : formatTimestamp(timeMs);
}

/** True when a text that parses is already what `formatTimestamp` would write. */
function isCanonical(timestamp: string): boolean {
  return timestamp.length === 20 && timestamp.charCodeAt(10) === 0x54 && timestamp.charCodeAt(19) === 0x5a;
}

function given<T extends object>(fields: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: Exclude<T[K], undefined>;
  }>;
}
