import type { AlsSettings } from '../../model/als/settings.ts';
import { type PartName, partOf } from '../../model/registry.ts';
import { VERSION } from '../../platform/program/version.ts';
import type { Ranking } from '../../recommend/models/feature-names.ts';
import type { RankingChoice } from '../../recommend/ranking/choose-ranking.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import type { Cluster } from '../../store/cluster.ts';
import { type ModelPlace, NotLeadingError, type SharedModelPlace } from '../../store/model-store.ts';
import { readAdopted, writeAdopted } from './adopted-settings.ts';

/** Raised when another program would misread a generation. */
export const MODEL_FORMAT = 2;

/** Written after the parts: so a fit that was cut off leaves the generation before it whole. */
export interface GenerationManifest {
  readonly generation: number;
  /** Given when it is written. */
  readonly format?: number;
  /** The version of furze that wrote it. */
  readonly version?: string;
  /** Names of the bytes of the parts that it has. */
  readonly parts: { readonly [Name in PartName]?: string };
  readonly ranking: Ranking | undefined;
  readonly choice: RankingChoice | undefined;
  /** Of the data that it was judged on. */
  readonly fingerprint: number;
  readonly settings: AlsSettings;
  /** The configuration that the other parts were trained with, as text. */
  readonly trainedWith: string;
  /** False when a part could not be trained: then the next fit tries again, whether there is new feedback or not. */
  readonly isWhole: boolean;
}

/** Where the last generation is kept for whoever starts next, or for all nodes. */
export interface ModelShelf {
  /** True for a database that all nodes share, which may be away for a while. */
  readonly isShared: boolean;
  /** Begins a fit, whose parts have names of their own. @returns the term that it names when it writes */
  begin(): number;
  /** Where its parts are put and taken from, as of now. */
  place(): ModelPlace;
  /** The name of the bytes of a part of a generation that is being made; undefined for one that is not saved. */
  nameOf(part: PartName, generation: number): string | undefined;
  read(): Promise<GenerationManifest | undefined>;
  /**
   * Makes it the last one.
   * @param term of the beginning of the fit
   * @throws NotLeadingError when another node has led since, or does by now
   */
  write(manifest: GenerationManifest, term: number): Promise<void>;
  /** Waits no more for a database that is away. */
  giveUp(): void;
}

type Shared = Pick<SharedModelPlace, 'dsn' | 'objects'>;

/** Name of the state that says which saved parts belong together. */
const GENERATION = 'generation';
/** The term of a node that does not lead. */
export const NO_TERM = -1;

/** Keeps generations in this node's cache store. Two may lie there, the last whole one and the one that is being saved. */
export function cacheShelf(cachePath: string, states: SavedStates): ModelShelf {
  return {
    isShared: false,
    begin: () => 0,
    giveUp() {},
    place: () => ({ kind: 'cache', cachePath }),
    nameOf: (part, generation) => savedName(part, String(generation % 2)),
    read: async () => (await states.getState(GENERATION)) as GenerationManifest | undefined,
    write: (manifest) => states.putState(GENERATION, written(manifest)),
  };
}

/**
 * Publishes generations to all nodes, by the database that they share.
 * @param at the database, and the bucket of the parts if they are in one
 * @param states this node's own, into which the settings go that another node's search has found
 */
export function clusterShelf(cluster: Cluster, at: Shared, states: SavedStates): ModelShelf {
  let fits = 0;
  const givenUp = new Int32Array(new SharedArrayBuffer(4));
  const term = () => cluster.epoch ?? NO_TERM;
  return {
    isShared: true,
    begin() {
      fits++;
      return term();
    },
    giveUp() {
      Atomics.store(givenUp, 0, 1);
      cluster.giveUp();
    },
    place: () => ({ kind: 'postgres', ...at, epoch: term(), givenUp }),
    nameOf(part, generation) {
      // Each node lays out by itself what is not saved, whoever leads.
      if (partOf(part).saving === undefined) return undefined;
      if (cluster.epoch === undefined) throw new NotLeadingError();
      return savedName(part, `${generation}-${cluster.epoch}-${fits}`);
    },
    async read() {
      const published = await cluster.readPublished();
      if (published === undefined) return undefined;
      const { adopted, ...manifest } = published.manifest as GenerationManifest & {
        readonly adopted?: unknown;
      };
      if (adopted !== undefined) await writeAdopted(states, adopted);
      return manifest;
    },
    async write(manifest, epoch) {
      const adopted = await readAdopted(states);
      const names = Object.values(manifest.parts);
      await cluster.publish(
        { number: manifest.generation, manifest: { ...written(manifest), adopted } },
        names,
        epoch,
      );
    },
  };
}

function written(manifest: GenerationManifest): GenerationManifest {
  return { ...manifest, format: MODEL_FORMAT, version: VERSION };
}

function savedName(part: PartName, behind: string): string | undefined {
  const name = partOf(part).saving?.name;
  return name && `${name}/${behind}`;
}
