/** Role of a node: it answers requests and may learn, it answers alone, or it learns. */
export type NodeRole = 'all' | 'server' | 'worker';

/** Facts that a node publishes about itself. */
export interface NodeFacts {
  /** For people; another for each node. */
  readonly name: string;
  readonly role: NodeRole;
  readonly version: string;
  /** The settings that lists go by, but for defaults, each with a digest of its value. */
  readonly settings: Readonly<Record<string, string>>;
}

/** A node as the others see it. */
export interface NodeState extends NodeFacts {
  readonly id: string;
  /** Where it answers, `""` before it does. */
  readonly address: string;
  /** Number of the generation that it serves, 0 for none. */
  readonly generation: number;
  /** Commits that its copy of the data lacked when it was last heard of. */
  readonly lag: number;
  readonly isLeader: boolean;
  readonly isSelf: boolean;
  /** Time since it was last heard of, milliseconds. */
  readonly silentMs: number;
}

/** The generation that all nodes are to serve. */
export interface PublishedGeneration {
  readonly number: number;
  /** Facts that the leader wrote beside it. */
  readonly manifest: unknown;
}

/** What tells one pass from another: passes of the same make the same lists. */
export interface PassKind {
  readonly generation: number;
  /** The settings of the lists, as text. */
  readonly settings: string;
}

/** The users of one pass over their lists, handed out in blocks. */
export interface PassCourse {
  /** When it began, milliseconds since the epoch. */
  readonly beganMs: number;
  /** Users in all, and those who are done with, whoever has made their lists, as of the last call. */
  readonly total: number;
  readonly done: number;
  readonly isOver: boolean;
  /** True where there are users left to begin with, or may be. */
  readonly isMore: boolean;
  /** The next users, to be given to `end` when they are done with; undefined when there are no more, or `signal` is aborted. */
  take(signal: AbortSignal): Promise<Uint32Array | undefined>;
  end(userRows: Uint32Array): Promise<void>;
  /** To be called when nothing is at work any more: what was taken and not ended is for others, or another time. */
  leave(): Promise<void>;
}

/**
 * The last pass that was begun, of which each node takes the next block. One of a node that is lost is taken by another once
 * its lease has run out, and counts once. A database that is away is waited for.
 */
export interface SharedPasses {
  /** Resolves when this node's copy of the data shows what the beginner's did; undefined where the last pass is of another kind. */
  find(kind: PassKind): Promise<PassCourse | undefined>;
  /**
   * Begins a pass, which ends the last one.
   * @param blocks the rows of users, some hundred each
   * @param epoch under which this node leads
   * @returns undefined when it does not lead any more, or another pass was begun meanwhile
   */
  begin(kind: PassKind, blocks: Iterable<Uint32Array>, epoch: number): Promise<PassCourse | undefined>;
}

/** A node that was silent for so long, milliseconds, is said to be gone. */
export const GONE_MS = 15_000;

/**
 * The nodes that share one database, seen from one of them. One of those that may learn leads: it alone learns and
 * publishes, the others take over what it has published.
 */
export interface Cluster {
  readonly self: NodeFacts & { readonly id: string };
  /** The number under which this node leads, another for each leader; undefined while it does not. */
  readonly epoch: number | undefined;
  /** Number of the published generation, 0 when there is none. */
  readonly published: number;
  /** Age, milliseconds; undefined when nothing is published. */
  readonly publishedAgeMs: number | undefined;
  /** Number of requests to begin a fit, at any node. */
  readonly fitsAsked: number;
  /** Number of the last pass over users' lists, another for each; 0 for none, or while one is being divided. */
  readonly pass: number;
  readonly passes: SharedPasses;
  /** All nodes that were heard of lately, this one among them, as of a few seconds ago. */
  readonly nodes: readonly NodeState[];
  /** Calls `listener` when this node begins or ceases to lead, something was published, a fit is asked for, or a pass begins. */
  onTurn(listener: () => void): void;
  readPublished(): Promise<PublishedGeneration | undefined>;
  /**
   * Makes a generation the one that all serve, if this node still leads.
   * @param parts the names of the stored parts that belong to it; all but those, and those of the generation before, are deleted
   * @param epoch under which this node led when it began to learn the generation
   * @throws NotLeadingError when that is not the epoch any more; nothing is changed then
   */
  publish(generation: PublishedGeneration, parts: readonly string[], epoch: number): Promise<void>;
  /** Waits no more for a database that is away in order to publish. */
  giveUp(): void;
  /** Has the leader begin a fit. */
  askForFit(): Promise<void>;
  /** Tells the others where this node answers. */
  noteAddress(address: string): void;
  /** Tells the others what this node serves. */
  noteServed(generation: number): void;
  close(): Promise<void>;
}

/** The node that leads, if one does that was heard of lately. */
export function leaderOf({ nodes }: Pick<Cluster, 'nodes'>): NodeState | undefined {
  return nodes.find(({ isLeader, silentMs }) => isLeader && silentMs < GONE_MS);
}

/** Keys of settings that a node has otherwise than the leader, or where none leads than the first node. */
export interface Difference {
  readonly node: NodeState;
  readonly from: NodeState;
  readonly keys: readonly string[];
}

/** The nodes that go by other settings than they are to. */
export function differencesOf({ nodes }: Pick<Cluster, 'nodes'>): Difference[] {
  const there = nodes.filter(({ silentMs }) => silentMs < GONE_MS);
  const from = leaderOf({ nodes: there }) ?? there[0];
  return there.flatMap((node) => {
    const names = Object.keys({ ...from!.settings, ...node.settings });
    const keys = names.filter((name) => from!.settings[name] !== node.settings[name]).sort();
    return keys.length === 0 ? [] : [{ node, from: from!, keys }];
  });
}

/** Questions that go from nodes without a copy of the data to those that have one. */
export interface Questions {
  /**
   * Asks another node.
   * @param question as JSON has it
   * @throws FurzeError STORE_UNAVAILABLE when none answers in time; the signal's reason once it is aborted
   */
  ask(question: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Answers questions from now on. */
  answer(work: (question: unknown) => Promise<unknown>): void;
  close(): Promise<void>;
}
