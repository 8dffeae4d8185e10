import type { User } from '../../domain/entities.ts';
import type { Note } from '../lmdb/writer/feedback-loader.ts';
import { decodeOccurrences } from '../repeats.ts';
import type { Connection } from './connection.ts';
import { TypeNames } from './type-names.ts';

/** Users as they were asked for. */
export interface AskedUsers {
  readonly ids: readonly string[];
  readonly rows: readonly number[];
}

/** All feedback of a user as the database has it at a moment. */
export interface UserFeedback {
  readonly row: number;
  /** Item row, type and high bits of the time, low word of the time of each. */
  readonly feedback: Uint32Array;
  readonly notes: readonly StoredNote[];
}

/** A user with all feedback, in no order. */
export interface StoredUser extends UserFeedback {
  readonly user: User;
}

/** Value, comment and events of a feedback, where it has any; its type by the number of the database. */
export type StoredNote = Omit<Note, 'userRow'>;

/** Users that were asked for, those of them that there are, and as of which commit. */
export interface StoredUsers {
  readonly position: number;
  readonly users: readonly StoredUser[];
  /** Feedback types by the number of the database. */
  readonly types: ReadonlyMap<number, string>;
  /** Rows of items that are gone, whose feedback is still being removed. */
  readonly goneItems: ReadonlySet<number>;
}

/** The columns of a user's feedback in an answer. */
export type FeedbackRow = readonly [row: number, feedback: Buffer | null, notes: readonly NoteRow[] | null];
type UserRow = readonly [
  position: number,
  typesVersion: number,
  goneItems: readonly number[] | null,
  userId: string | null,
  row: number,
  detail: object,
  feedback: Buffer | null,
  notes: readonly NoteRow[] | null,
];
export type NoteRow = readonly [
  itemRow: number,
  type: number,
  value: number,
  comment: string,
  occurrences: string | null,
];

/**
 * SQL of the function that reads users with all their feedback. It is one of the server's own, so that its plan is made once a
 * connection.
 */
export function userFunctionOf(s: string): string {
  return `
    CREATE OR REPLACE FUNCTION ${s}.users_of(ids text[], rows integer[])
    RETURNS TABLE (user_id text, user_row integer, detail json, feedback bytea, notes json)
    LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $function$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY SELECT u.user_id, u.user_row, u.detail, ${feedbackOf(`${s}.feedback`)}, ${notesOf(s)}
      FROM ${s}.head h, ${s}.users u WHERE u.user_id = ANY(ids) OR u.user_row = ANY(rows);
    END $function$;`;
}

/** SQL of the feedback of a user `u`: i32 item row, i64 type and time, big-endian, of each. @param from SQL of where it is */
export function feedbackOf(from: string): string {
  return `(SELECT string_agg(int4send(f.item_row) || int8send(f.type_time), ''::bytea) FROM ${from} f WHERE f.user_row = u.user_row)`;
}

/** SQL of the notes of a user `u`, beside the head as `h`. */
export function notesOf(s: string): string {
  return `CASE WHEN h.has_notes THEN (SELECT json_agg(json_build_array(${noteOf('n')})) FROM ${s}.notes n WHERE n.user_row = u.user_row) END`;
}

/** SQL of the fields of a `NoteRow`. @param n SQL of the note */
export function noteOf(n: string): string {
  return `${n}.item_row, ${n}.type, ${n}.value, encode(${n}.comment, 'base64'), encode(${n}.occurrences, 'base64')`;
}

/** Reads users. */
export class UserQueries {
  private readonly s: string;
  private readonly types: TypeNames;

  /** @param s the schema as it stands in SQL */
  constructor(s: string) {
    this.s = s;
    this.types = new TypeNames(s);
  }

  /** @throws Error when the database does not answer */
  async load(
    connection: Connection,
    userIds: readonly string[],
    userRows: readonly number[],
  ): Promise<StoredUsers> {
    const { s } = this;
    const rows = await connection.rows<UserRow>(
      `SELECT h.position, h.types_version, (SELECT array_agg(r.row) FROM ${s}.removals r WHERE NOT r.is_user), u.*
       FROM ${s}.head h LEFT JOIN ${s}.users_of($1::text[], $2::int4[]) u ON true`,
      [userIds, userRows],
    );
    const [position, version, goneItems] = rows[0]!;
    return {
      position,
      users: rows.flatMap(([, , , UserId, row, detail, feedback, notes]) =>
        UserId === null
          ? []
          : [{ user: { UserId, ...detail } as User, ...userFeedback([row, feedback, notes]) }],
      ),
      types: new Map(await this.types.of(connection, version)),
      goneItems: new Set(goneItems),
    };
  }
}

export function userFeedback([row, feedback, notes]: FeedbackRow): UserFeedback {
  const bytes = feedback ?? Buffer.alloc(0);
  const words = new Uint32Array(bytes.length / 4);
  for (let at = 0; at < words.length; at++) words[at] = bytes.readUInt32BE(at * 4);
  return { row, feedback: words, notes: (notes ?? []).map(storedNote) };
}

export function storedNote([itemRow, type, value, comment, occurrences]: NoteRow): StoredNote {
  return {
    itemRow,
    type,
    value,
    comment: Buffer.from(comment, 'base64').toString(),
    occurrences: occurrences === null ? undefined : decodeOccurrences(Buffer.from(occurrences, 'base64')),
  };
}
