import type { ChangeSet } from '../../store/data-store.ts';

/** Bytes that an entry takes beside its texts: two tables' places and an object, about. */
const ENTRY_BYTES = 160;
/** Characters of a text that is worth its memory. */
const TEXT_LENGTH_MAX = 4096;
/** Records changed at once from which on all are dropped: looking each up would take milliseconds. */
const CHANGES_MAX = 256;

interface Entry {
  readonly id: string;
  readonly row: number;
  readonly text: string;
}

class Entries {
  readonly byId = new Map<string, Entry>();
  private readonly byRow = new Map<number, Entry>();
  bytes = 0;

  put(entry: Entry): void {
    this.byId.set(entry.id, entry);
    this.byRow.set(entry.row, entry);
    this.bytes += bytesOf(entry);
  }

  drop(row: number): void {
    const entry = this.byRow.get(row);
    if (entry === undefined) return;
    this.byRow.delete(row);
    this.byId.delete(entry.id);
    this.bytes -= bytesOf(entry);
  }
}

/**
 * The JSON of records that were asked for lately, by id, until a commit changes them. In bounded memory: once the newer
 * half is full it becomes the older one, whose entries are forgotten unless they are asked for again.
 */
export class RecordTexts {
  private readonly halfBytesMax: number;
  private newer = new Entries();
  private older = new Entries();

  /** @param bytesMax memory at most, about */
  constructor(bytesMax: number) {
    this.halfBytesMax = bytesMax / 2;
  }

  find(id: string): string | undefined {
    const found = this.newer.byId.get(id);
    if (found !== undefined) return found.text;
    const old = this.older.byId.get(id);
    if (old === undefined) return undefined;
    this.older.drop(old.row);
    // By its own id: the one asked for may be a part of a whole URL.
    this.keep(old);
    return old.text;
  }

  /** Keeps what the record of that id, which is not kept yet, is at the moment. */
  put(id: string, row: number, text: string): void {
    const entry = { id, row, text };
    if (text.length <= TEXT_LENGTH_MAX && bytesOf(entry) <= this.halfBytesMax) this.keep(entry);
  }

  drop(row: number): void {
    this.newer.drop(row);
    this.older.drop(row);
  }

  clear(): void {
    this.newer = new Entries();
    this.older = new Entries();
  }

  private keep(entry: Entry): void {
    if (this.newer.bytes + bytesOf(entry) > this.halfBytesMax) {
      this.older = this.newer;
      this.newer = new Entries();
    }
    this.newer.put(entry);
  }
}

function bytesOf({ id, text }: Entry): number {
  return ENTRY_BYTES + 2 * (id.length + text.length);
}

/** Texts of users and of items, for a store whose every commit is told. */
export class EntityTexts {
  readonly users: RecordTexts;
  readonly items: RecordTexts;

  /** @param bytesMax memory of both at most, about */
  constructor(bytesMax: number) {
    this.users = new RecordTexts(bytesMax / 2);
    this.items = new RecordTexts(bytesMax / 2);
  }

  /** Forgets what a commit changed. */
  apply({ items, userRows, deletedItemRows, deletedUserRows }: ChangeSet): void {
    if (items.length > CHANGES_MAX) this.items.clear();
    else for (const { row } of items) this.items.drop(row);
    if (userRows.length > CHANGES_MAX) this.users.clear();
    else for (const row of userRows) this.users.drop(row);
    for (const row of deletedItemRows) this.items.drop(row);
    for (const row of deletedUserRows) this.users.drop(row);
  }
}
