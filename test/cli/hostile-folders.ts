import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';

const PAGE_BYTES = 4096;
/** The format of a folder, as this version writes it. */
const FORMAT = 3;
/** The two heads of an LMDB file. */
const HEAD_PAGES = 2;

/** A generator of whole numbers below a bound. */
export type Chance = (below: number) => number;

/** Mulberry32: the same numbers for the same seed. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function somePage(file: Buffer, chance: Chance): number {
  return (HEAD_PAGES + chance(file.length / PAGE_BYTES - HEAD_PAGES)) * PAGE_BYTES;
}

function junk(file: Buffer, from: number, bytes: number, chance: Chance): Buffer {
  for (let at = from; at < Math.min(file.length, from + bytes); at++) file[at] = chance(256);
  return file;
}

/** Ways in which the bytes of a store's file become others. */
export const MUTATIONS: Readonly<Record<string, (file: Buffer, chance: Chance) => Buffer>> = {
  'bytes of a head': (file, chance) => junk(file, chance(HEAD_PAGES * PAGE_BYTES), 1 + chance(8), chance),
  'bytes anywhere': (file, chance) => {
    for (let count = chance(200); count >= 0; count--)
      junk(file, somePage(file, chance) + chance(PAGE_BYTES), 1, chance);
    return file;
  },
  'a page': (file, chance) => junk(file, somePage(file, chance), PAGE_BYTES, chance),
  'the head of a page': (file, chance) => junk(file, somePage(file, chance), 24, chance),
  'the heads of pages': (file, chance) => {
    for (let count = 0; count < 20; count++) junk(file, somePage(file, chance) + 8, 16, chance);
    return file;
  },
  'entries of a page': (file, chance) => {
    const page = somePage(file, chance);
    for (let count = 0; count < 40; count++) junk(file, page + 24 + chance(64), 1, chance);
    return file;
  },
  'two pages in each other’s place': (file, chance) => {
    const [one, other] = [somePage(file, chance), somePage(file, chance)];
    const kept = Buffer.from(file.subarray(one, one + PAGE_BYTES));
    file.copyWithin(one, other, other + PAGE_BYTES);
    kept.copy(file, other);
    return file;
  },
  'pages of nothing': (file, chance) => {
    const from = somePage(file, chance);
    return file.fill(0, from, Math.min(file.length, from + PAGE_BYTES * (1 + chance(10))));
  },
  'an end too early': (file, chance) => file.subarray(0, chance(file.length)),
  'all pages': (file, chance) => junk(file, HEAD_PAGES * PAGE_BYTES, file.length, chance),
};

/** The byte behind a key, wherever that stands. */
function afterKey(file: Buffer, key: string, before: number, value: number): Buffer {
  const bytes = Buffer.from(key);
  let changed = 0;
  for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) {
    if (file[at + bytes.length] !== before) continue;
    file[at + bytes.length] = value;
    changed++;
  }
  if (changed === 0) throw new Error(`${key} is not followed by ${before} anywhere`);
  return file;
}

async function putTables(folder: string, names: readonly string[]): Promise<void> {
  const root = open({ path: folder, noSubdir: false, maxDbs: 20 });
  for (const name of names)
    await root.openDB({ name }).put(name === 'meta' ? 'format' : 'key', { any: 'thing' });
  await root.put('own', 'data');
  await root.close();
}

/** Folders that are no data of this program, or of another version. @param sound the bytes of a sound store */
export const FOREIGN: Readonly<Record<string, (folder: string, sound: Buffer) => void | Promise<void>>> = {
  'a text': (folder) => writeFileSync(join(folder, 'data.mdb'), 'hello\n'.repeat(5000)),
  'a byte': (folder) => writeFileSync(join(folder, 'data.mdb'), 'x'),
  'another database': (folder) =>
    writeFileSync(
      join(folder, 'data.mdb'),
      Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(9000)]),
    ),
  'a folder in the file’s place': (folder) => mkdirSync(join(folder, 'data.mdb')),
  'a link to itself': (folder) => symlinkSync('data.mdb', join(folder, 'data.mdb')),
  'a link to nothing': (folder) => symlinkSync('nowhere', join(folder, 'data.mdb')),
  'the LMDB file of another program': (folder) => putTables(folder, ['people', 'things']),
  'tables of the same names': (folder) => putTables(folder, ['meta', 'users', 'items']),
  'a format to come': (folder, sound) =>
    writeFileSync(join(folder, 'data.mdb'), afterKey(sound, 'format', FORMAT, 99)),
  'a format that never was': (folder, sound) =>
    writeFileSync(join(folder, 'data.mdb'), afterKey(sound, 'format', FORMAT, 0)),
  'no locks but junk': (folder, sound) => {
    writeFileSync(join(folder, 'data.mdb'), sound);
    writeFileSync(join(folder, 'lock.mdb'), Buffer.alloc(8192, 0x5a));
    writeFileSync(join(folder, 'furze.lock'), Buffer.alloc(8192, 0xff));
  },
  'folders in the places of locks': (folder, sound) => {
    writeFileSync(join(folder, 'data.mdb'), sound);
    mkdirSync(join(folder, 'lock.mdb'));
    mkdirSync(join(folder, 'furze.lock'));
  },
  'a file in the cache’s place': (folder, sound) => {
    writeFileSync(join(folder, 'data.mdb'), sound);
    writeFileSync(join(folder, 'cache'), 'x');
  },
  'data in the cache’s place': (folder, sound) => {
    writeFileSync(join(folder, 'data.mdb'), sound);
    mkdirSync(join(folder, 'cache'));
    writeFileSync(join(folder, 'cache/data.mdb'), sound);
  },
  'other tables in the cache’s place': async (folder, sound) => {
    writeFileSync(join(folder, 'data.mdb'), sound);
    mkdirSync(join(folder, 'cache'));
    await putTables(join(folder, 'cache'), ['lists', 'marks', 'blobs', 'more']);
  },
};
