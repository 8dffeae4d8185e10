import Type, { type TSchema } from 'typebox';
import { type ImportReport, ImportReportSchema } from './admin-schemas.ts';
import {
  type FeedbackBody,
  FeedbackBodySchema,
  type ImpressionBody,
  ImpressionBodySchema,
  type ItemBody,
  ItemBodySchema,
  type ItemPatch,
  ItemPatchSchema,
  type SessionBody,
  SessionBodySchema,
  type UserBody,
  UserBodySchema,
  type UserPatch,
  UserPatchSchema,
  type VectorBody,
  VectorBodySchema,
  VectorSchema,
} from './api-schemas.ts';
import { type Checker, checkBody, findPlaces, invalidBody, lazily, mustBe } from './check-body.ts';
import type { Batch, Feedback, Item, User } from './entities.ts';
import {
  EMPTY_ITEM,
  EMPTY_USER,
  type Fields,
  ITEM_FIELDS,
  type Stored,
  USER_FIELDS,
} from './entity-fields.ts';
import {
  at,
  checkComment,
  checkId,
  checkItemId,
  checkTexts,
  checkTimestamp,
  type Place,
  refuseBody,
} from './field-checks.ts';
import { FurzeError } from './furze-error.ts';
import { type Json, type LabelFields, takeLabels } from './labels.ts';
import { type BodyBounds, parseJson } from './parse-json.ts';
import type { Limits } from './request-limits.ts';
import { formatTimestamp } from './rfc3339.ts';
import { type PreviewBody, PreviewBodySchema } from './rule-schemas.ts';
import { DIMENSIONS_MAX, type ItemVector, type VectorSpace } from './vector-space.ts';

/** Values that a record of a session may have on average, unknown fields included: a few times what there is to say. */
const SESSION_RECORD_VALUES_MAX = 32;
/** Values that the settings of a placement or an experiment may have, as many as some 2,000 pins: problems of each are looked for. */
const SETTINGS_VALUES_MAX = 10_000;
/** Length of a vector at most: sums of squares and products of two stay within the range of float32. */
const VECTOR_LENGTH_MAX = 1e18;

const userBodies = bodies<UserBody>(UserBodySchema);
const itemBodies = bodies<ItemBody>(ItemBodySchema);
const feedbackBodies = bodies<FeedbackBody>(FeedbackBodySchema);
const sessionBodies = bodies<SessionBody>(SessionBodySchema);
const impressionBodies = bodies<ImpressionBody>(ImpressionBodySchema);
/** A vector of a batch names its item, one alone need not. */
const vectorBodies = {
  one: lazily<VectorBody>(VectorBodySchema),
  record: lazily<ItemVector>(VectorSchema),
  all: lazily<VectorBody[]>(Type.Array(VectorSchema)),
};
const userPatch = lazily<UserPatch>(UserPatchSchema);
const itemPatch = lazily<ItemPatch>(ItemPatchSchema);
const settings = lazily<Readonly<Record<string, unknown>>>(Type.Object({}));
const previewBody = lazily<PreviewBody>(PreviewBodySchema);
const importReport = lazily<ImportReport>(ImportReportSchema);

/** A body of one record, and of a batch of them. */
interface Bodies<Body> {
  readonly one: () => Checker<Body>;
  readonly all: () => Checker<Body[]>;
}

function bodies<Body>(schema: TSchema): Bodies<Body> {
  return { one: lazily<Body>(schema), all: lazily<Body[]>(Type.Array(schema)) };
}

/**
 * Users out of a request body, every field filled in.
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeUsers(batch: Batch<User>, limits: Limits): User[] {
  return decodeBatch(batch, userBodies, limits, (body, place) => ({
    UserId: checkId(body.UserId, at(place, 'UserId'), limits),
    ...EMPTY_USER,
    ...givenFields(USER_FIELDS, body, place, limits),
  }));
}

/**
 * Items out of a request body, every field filled in and the timestamp in its canonical form.
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeItems(batch: Batch<Item>, limits: Limits): Item[] {
  return decodeBatch(batch, itemBodies, limits, (body, place) => ({
    ItemId: checkItemId(body.ItemId, at(place, 'ItemId'), limits),
    ...EMPTY_ITEM,
    ...givenFields(ITEM_FIELDS, body, place, limits),
  }));
}

/**
 * Feedback out of a request body; one without a timestamp happened when it arrived.
 * @param nowMs time of arrival, milliseconds since the Unix epoch
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeFeedback(batch: Batch<Feedback>, limits: Limits, nowMs: number): Feedback[] {
  const userIdOf = ({ UserId }: FeedbackBody, place: string | number) =>
    checkId(UserId, at(place, 'UserId'), limits);
  return decodeBatch(batch, feedbackBodies, limits, feedbackDecoder(limits, nowMs, userIdOf));
}

/**
 * The records of a session, whose `UserId` is left out or not looked at. They are read on the thread that serves, so
 * there is less room than in a batch.
 * @param nowMs time of arrival, milliseconds since the Unix epoch
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE, BODY_TOO_LARGE
 */
export function decodeSession(json: Uint8Array<ArrayBuffer>, limits: Limits, nowMs: number): Feedback[] {
  const batch = { json, single: false };
  const decode = feedbackDecoder<SessionBody>(limits, nowMs, ({ UserId }) => UserId ?? '');
  return decodeBatch<SessionBody, Feedback>(
    batch,
    sessionBodies,
    limits,
    decode,
    sessionBounds(json, limits),
  );
}

function feedbackDecoder<Body extends SessionBody>(
  limits: Limits,
  nowMs: number,
  userIdOf: (body: Body, place: string | number) => string,
): (body: Body, place: string | number) => Feedback {
  const untimed = { Timestamp: formatTimestamp(nowMs), isUntimed: true } as const;
  const timeOf = (Timestamp: string | undefined) => (Timestamp ? { Timestamp } : untimed);
  return (body, place) => ({
    FeedbackType: checkId(body.FeedbackType, at(place, 'FeedbackType'), limits),
    UserId: userIdOf(body, place),
    ItemId: checkItemId(body.ItemId, at(place, 'ItemId'), limits),
    ...timeOf(checkTimestamp(body.Timestamp, at(place, 'Timestamp'))),
    Comment: checkComment(body.Comment, at(place, 'Comment'), limits) ?? '',
    ...(body.Value && { Value: body.Value }),
    ...(body.Recommendation && {
      Recommendation: checkId(body.Recommendation, at(place, 'Recommendation'), limits),
    }),
  });
}

/**
 * Vectors out of a request body, as float32.
 * @param itemId of a body of one, whose own counts for nothing
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE
 */
export function decodeVectors(
  batch: Batch<ItemVector>,
  itemId: string | undefined,
  space: VectorSpace,
  limits: Limits,
): ItemVector[] {
  return decodeBatch<VectorBody | ItemVector, ItemVector>(batch, vectorBodies, limits, (body, place) => {
    const own = checkItemId(body.ItemId ?? itemId ?? '', at(place, 'ItemId'), limits);
    return { ItemId: itemId ?? own, Vector: checkVector(body.Vector, at(place, 'Vector'), space) };
  });
}

/** The vector that a search asks for. @throws FurzeError INVALID_JSON, INVALID_BODY, BODY_TOO_LARGE */
export function decodeQueryVector(
  json: Uint8Array<ArrayBuffer>,
  space: VectorSpace,
  limits: Limits,
): Float32Array {
  const { sessionBytesMax } = limits;
  if (json.length > sessionBytesMax)
    throw new FurzeError('BODY_TOO_LARGE', `The body of a search has at most ${sessionBytesMax} bytes.`);
  const value = parseJson(json, limits, { valuesMax: DIMENSIONS_MAX + SESSION_RECORD_VALUES_MAX });
  const { ItemId, Vector } = checkBody(value, vectorBodies.one());
  if (ItemId !== undefined) checkItemId(ItemId, at('', 'ItemId'), limits);
  return checkVector(Vector, at('', 'Vector'), space);
}

/** The numbers as float32. @throws FurzeError INVALID_BODY */
function checkVector(
  numbers: ArrayLike<number>,
  place: () => string,
  { dimensions, similarity }: VectorSpace,
): Float32Array {
  if (numbers.length !== dimensions)
    throw refuseBody(place, `must hold ${dimensions} numbers and holds ${numbers.length}`);
  const vector = Float32Array.from(numbers);
  const wrong = vector.findIndex((number) => !Number.isFinite(number));
  if (wrong >= 0) throw refuseBody(`${place()}/${wrong}`, 'must be a finite number of 32 bits');
  if (vector.reduce((sum, number) => sum + number * number, 0) > VECTOR_LENGTH_MAX ** 2)
    throw refuseBody(place, `must be a vector of length ${VECTOR_LENGTH_MAX} at most`);
  if (similarity === 'cosine' && vector.every((number) => number === 0))
    throw refuseBody(place, 'must not be all zeros, which have no angle to compare by');
  return vector;
}

/** @throws FurzeError BODY_TOO_LARGE */
function sessionBounds(
  { length }: Uint8Array,
  { sessionRecordsMax: recordsMax, sessionBytesMax }: Limits,
): BodyBounds {
  if (length > sessionBytesMax)
    throw new FurzeError('BODY_TOO_LARGE', `Such a body has at most ${sessionBytesMax} bytes.`);
  return { recordsMax, valuesMax: recordsMax * SESSION_RECORD_VALUES_MAX };
}

/**
 * Impressions, read on the thread that serves with the limits of a session.
 * @param nowMs time of arrival, milliseconds since the Unix epoch
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BATCH_TOO_LARGE, BODY_TOO_LARGE
 */
export function decodeImpressions(
  json: Uint8Array<ArrayBuffer>,
  limits: Limits,
  nowMs: number,
): GivenImpression[] {
  const now = formatTimestamp(nowMs);
  const batch = { json, single: false };
  const decode = (body: ImpressionBody, place: string | number): GivenImpression => {
    const { Items, Places } = body;
    if (Places && Places.length !== Items.length)
      throw refuseBody(at(place, 'Places'), `must be as many as Items, which are ${Items.length}`);
    for (const [number, item] of Items.entries()) checkItemId(item, at(place, `Items/${number}`), limits);
    return {
      UserId: checkId(body.UserId, at(place, 'UserId'), limits),
      Recommendation: checkId(body.Recommendation, at(place, 'Recommendation'), limits),
      Items,
      Places: Places ?? Items.map((_, number) => number + 1),
      Timestamp: checkTimestamp(body.Timestamp, at(place, 'Timestamp')) || now,
    };
  };
  return decodeBatch<ImpressionBody, GivenImpression>(
    batch,
    impressionBodies,
    limits,
    decode,
    sessionBounds(json, limits),
  );
}

/** An impression with every field filled in. */
export interface GivenImpression extends ImpressionBody {
  readonly Places: readonly number[];
  readonly Timestamp: string;
}

/** The fields that a PATCH of a user changes; those absent or null stay. @throws FurzeError INVALID_JSON, INVALID_BODY */
export function decodeUserPatch(json: Uint8Array, limits: Limits): Partial<User> {
  return givenFields(USER_FIELDS, checkBody(parseJson(json, limits), userPatch()), '', limits);
}

/** The fields that a PATCH of an item changes; `Timestamp: ""` takes it away. @throws FurzeError INVALID_JSON, INVALID_BODY */
export function decodeItemPatch(json: Uint8Array, limits: Limits): Partial<Item> {
  return givenFields(ITEM_FIELDS, checkBody(parseJson(json, limits), itemPatch()), '', limits);
}

/** Progress of an import. @throws FurzeError INVALID_JSON, INVALID_BODY, BODY_TOO_LARGE */
export function decodeImportReport(json: Uint8Array, limits: Limits): ImportReport {
  return checkBody(parseJson(json, limits, sessionBounds(json, limits)), importReport());
}

/**
 * Keys of a placement or an experiment, which are checked where they are known.
 * @throws FurzeError INVALID_JSON, INVALID_BODY, BODY_TOO_LARGE
 */
export function decodeSettings(json: Uint8Array, limits: Limits): Readonly<Record<string, unknown>> {
  return checkBody(parseJson(json, limits, settingsBounds(json, limits)), settings());
}

/** @throws FurzeError INVALID_JSON, INVALID_BODY, BODY_TOO_LARGE */
export function decodePreview(json: Uint8Array, limits: Limits): PreviewBody {
  const preview = checkBody(parseJson(json, limits, settingsBounds(json, limits)), previewBody());
  for (const [at, userId] of preview.Users.entries()) checkId(userId, `/Users/${at}`, limits);
  return preview;
}

function settingsBounds(json: Uint8Array, limits: Limits): BodyBounds {
  sessionBounds(json, limits);
  return { valuesMax: SETTINGS_VALUES_MAX };
}

function decodeBatch<Body, T extends Body>(
  batch: Batch<T>,
  /** `record` is of a record of a batch, where that must have more than one by itself. */
  checkers: Bodies<Body> & { readonly record?: () => Checker<T> },
  limits: Limits,
  decode: (body: Body, place: string | number) => T,
  bounds: BodyBounds = { recordsMax: limits.batchRecordsMax },
): T[] {
  if ('records' in batch) return batch.records.map(decode);
  if (batch.single) return [decode(checkBody(parseJson(batch.json, limits), checkers.one()), '')];
  const value = parseJson(batch.json, limits, bounds);
  if (checkers.all().Check(value)) return value.map(decode);
  if (!Array.isArray(value)) throw invalidBody([{ path: '', message: mustBe({ type: 'array' }) }]);
  throw invalidBody(findPlaces<Body>(value, (checkers.record ?? checkers.one)()));
}

/** The fields that a body gives, checked and in their stored form. Those absent or null are left out. */
function givenFields<F extends Fields>(
  fields: F,
  body: { readonly [Name in keyof F]?: unknown },
  place: string | number,
  limits: Limits,
): Partial<Stored<F>> & Partial<LabelFields> {
  const found: Record<string, unknown> = {};
  for (const name in fields) {
    const value = body[name];
    if (value === null || value === undefined) continue;
    const { kind } = fields[name]!;
    if (kind === 'labels') Object.assign(found, checkLabels(value as Json, at(place, name), limits));
    else found[name] = CHECKS[kind](value as never, at(place, name), limits);
  }
  return found as Partial<Stored<F>> & Partial<LabelFields>;
}

const CHECKS = {
  flag: (value: boolean) => value,
  texts: checkTexts,
  time: checkTimestamp,
  text: checkComment,
};

function checkLabels(given: Json, place: Place, limits: Limits): LabelFields {
  const fields = takeLabels(given, place, limits);
  checkTexts(fields.Labels, place, limits);
  return fields;
}
