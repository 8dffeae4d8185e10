import type { Random } from '../src/domain/random.ts';

/** Records of one writer: users and feedback (`user item`) by their comments. */
export interface Records {
  readonly users: ReadonlyMap<string, string>;
  readonly items: ReadonlyMap<string, string>;
  readonly feedback: ReadonlyMap<string, string>;
}

/** A write, and what it makes of the records when it is done. */
interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  apply(records: Mutable): void;
}

type Mutable = { -readonly [Name in keyof Records]: Map<string, string> };

const USERS = 12;
const ITEMS = 20;
const BATCH_MAX = 25;

/**
 * Writes to its own users and items, one write after the other, and knows what has to be stored: what was acknowledged,
 * and of the write that was under way when the service died all or nothing.
 */
export class Writer {
  acknowledged = 0;
  private records: Mutable = { users: new Map(), items: new Map(), feedback: new Map() };
  private pending: Write | undefined;
  private count = 0;
  private readonly name: string;
  private readonly random: Random;

  constructor(name: string, random: Random) {
    this.name = name;
    this.random = random;
  }

  /** Writes until the service does not answer any more. @throws Error when it refuses a write */
  async run(url: string): Promise<void> {
    for (;;) {
      const write = this.next();
      this.pending = write;
      let answer: Response;
      try {
        const body = write.body === undefined ? null : JSON.stringify(write.body);
        answer = await fetch(url + write.path, { method: write.method, body });
        await answer.arrayBuffer();
      } catch {
        return;
      }
      // An answer that is cut off acknowledges all the same: the status came after the flush.
      if (answer.status !== 200 && answer.status !== 404)
        throw new Error(`${write.method} ${write.path} was answered ${answer.status}`);
      write.apply(this.records);
      this.pending = undefined;
      this.acknowledged++;
    }
  }

  /** Compares what is stored with what has to be, and goes on from there. @returns what is wrong, undefined for nothing */
  settle(stored: Records): string | undefined {
    const own = this.own(stored);
    const possible = [this.records];
    if (this.pending !== undefined) {
      const after = copy(this.records);
      this.pending.apply(after);
      possible.push(after);
    }
    const match = possible.find((records) => text(records) === text(own));
    const wrong = match === undefined ? this.describe(own) : undefined;
    this.records = copy(own);
    this.pending = undefined;
    return wrong;
  }

  private describe(own: Records): string {
    const differences = (['users', 'items', 'feedback'] as const).flatMap((kind) => {
      const ids = new Set([...this.records[kind].keys(), ...own[kind].keys()]);
      return [...ids]
        .filter((id) => this.records[kind].get(id) !== own[kind].get(id))
        .map((id) => `${kind} ${id}: expected ${this.records[kind].get(id)}, stored ${own[kind].get(id)}`);
    });
    const { method, path } = this.pending ?? { method: 'nothing', path: '' };
    return `${this.name}, while ${method} ${path}: ${differences.slice(0, 5).join('; ')}`;
  }

  private own(stored: Records): Records {
    const mine = (records: ReadonlyMap<string, string>) =>
      new Map([...records].filter(([id]) => id.startsWith(`${this.name}-`)));
    return { users: mine(stored.users), items: mine(stored.items), feedback: mine(stored.feedback) };
  }

  private next(): Write {
    const comment = `${++this.count}`;
    const user = () => `${this.name}-u${this.random.below(USERS)}`;
    const item = () => `${this.name}-i${this.random.below(ITEMS)}`;
    const kind = this.random.below(10);
    if (kind === 0) return deleteUser(user());
    if (kind === 1) return deleteItem(item());
    if (kind === 2) return deleteFeedback(user(), item());
    if (kind === 3) return putUser(user(), comment);
    if (kind === 4) return putItem(item(), comment);
    const pairs = Array.from({ length: 1 + this.random.below(BATCH_MAX) }, () => [user(), item()] as const);
    return putFeedback(pairs, comment);
  }
}

function putUser(id: string, comment: string): Write {
  return {
    method: 'POST',
    path: '/api/user',
    body: { UserId: id, Comment: comment },
    apply: ({ users }) => void users.set(id, comment),
  };
}

function putItem(id: string, comment: string): Write {
  return {
    method: 'POST',
    path: '/api/item',
    body: { ItemId: id, Comment: comment },
    apply: ({ items }) => void items.set(id, comment),
  };
}

function putFeedback(pairs: readonly (readonly [string, string])[], comment: string): Write {
  return {
    method: 'PUT',
    path: '/api/feedback',
    body: pairs.map(([UserId, ItemId]) => ({
      FeedbackType: 'like',
      UserId,
      ItemId,
      Timestamp: '2024-05-01T00:00:00Z',
      Comment: comment,
    })),
    apply({ users, items, feedback }) {
      for (const [user, item] of pairs) {
        feedback.set(`${user} ${item}`, comment);
        if (!users.has(user)) users.set(user, '');
        if (!items.has(item)) items.set(item, '');
      }
    },
  };
}

function deleteFeedback(user: string, item: string): Write {
  return {
    method: 'DELETE',
    path: `/api/feedback/like/${user}/${item}`,
    apply: ({ feedback }) => void feedback.delete(`${user} ${item}`),
  };
}

function deleteUser(id: string): Write {
  return {
    method: 'DELETE',
    path: `/api/user/${id}`,
    apply({ users, feedback }) {
      users.delete(id);
      for (const key of feedback.keys()) if (key.startsWith(`${id} `)) feedback.delete(key);
    },
  };
}

function deleteItem(id: string): Write {
  return {
    method: 'DELETE',
    path: `/api/item/${id}`,
    apply({ items, feedback }) {
      items.delete(id);
      for (const key of feedback.keys()) if (key.endsWith(` ${id}`)) feedback.delete(key);
    },
  };
}

function copy({ users, items, feedback }: Records): Mutable {
  return { users: new Map(users), items: new Map(items), feedback: new Map(feedback) };
}

function text({ users, items, feedback }: Records): string {
  return JSON.stringify([users, items, feedback].map((records) => [...records].sort()));
}
