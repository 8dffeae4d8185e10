import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Feedback, Item, User } from '../../domain/entities.ts';
import { EMPTY_ITEM, EMPTY_USER } from '../../domain/entity-fields.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import { packageFile } from '../../platform/program/program-files.ts';

/** The sample set, as records of the service. */
export interface Sample {
  readonly users: readonly User[];
  /** Films: genres as Labels and Categories, the title as Comment, the first of January of its year as Timestamp. */
  readonly items: readonly Item[];
  /** Ratings: `like` from LIKED_RATING up, `read` below. */
  readonly feedback: readonly Feedback[];
}

const FOLDER = packageFile('data/movietweetings-100k/');

/** Least rating, of 0 to 10, that counts as a like. */
const LIKED_RATING = 7;

const YEAR = /\((\d{4})\)$/;

/** Reads the MovieTweetings sample. @throws Error when the package's files are missing or damaged */
export function readSample(): Sample {
  const feedback = parseRatings(readLines('ratings.dat.gz'));
  return {
    users: usersOf(feedback),
    items: parseFilms(readLines('movies.dat.gz')),
    feedback,
  };
}

/** Films of lines `id::title (year)::genre|genre`; a film may have no genre. */
export function parseFilms(lines: readonly string[]): Item[] {
  return lines.map((line) => {
    const [itemId, title, genreText] = fields(line, 3) as [string, string, string];
    const year = YEAR.exec(title)?.[1];
    const genres = genreText.split('|').filter((genre) => genre !== '');
    return {
      ...EMPTY_ITEM,
      ItemId: itemId,
      Categories: genres,
      Timestamp: year === undefined ? '' : `${year}-01-01T00:00:00Z`,
      Labels: genres,
      Comment: title,
    };
  });
}

/** Feedback of lines `user::film::rating::unix seconds`. */
export function parseRatings(lines: readonly string[]): Feedback[] {
  return lines.map((line) => {
    const [userId, itemId, rating, seconds] = fields(line, 4) as [string, string, string, string];
    return {
      FeedbackType: Number(rating) >= LIKED_RATING ? 'like' : 'read',
      UserId: userId,
      ItemId: itemId,
      Timestamp: formatTimestamp(Number(seconds) * 1000),
      Comment: '',
    };
  });
}

function usersOf(feedback: readonly Feedback[]): User[] {
  const userIds = new Set(feedback.map(({ UserId }) => UserId));
  return Array.from(userIds, (UserId) => ({ ...EMPTY_USER, UserId }));
}

function fields(line: string, count: number): string[] {
  const parts = line.split('::');
  if (parts.length !== count) throw new Error(`the sample is damaged: expected ${count} fields in "${line}"`);
  return parts;
}

function readLines(name: string): string[] {
  const text = gunzipSync(readFileSync(new URL(name, FOLDER))).toString('utf8');
  return text.split('\n').filter((line) => line !== '');
}
