import type { Engine, EngineName, EngineOptions, OnRequest } from './engine.ts';
import { createNodeEngine } from './engine-node.ts';
import { createUwsEngine } from './engine-uws.ts';
import { loadUws, type UwsBinary } from './uws-binary.ts';

/** The value of `[server] http_engine`. */
export type EngineWish = 'auto' | 'uws' | 'node';

/** The engine to serve with. */
export interface EngineChoice {
  readonly name: EngineName;
  /** One sentence without its full stop. */
  readonly why: string;
  create(onRequest: OnRequest<object>, options: EngineOptions): Engine<object>;
}

/**
 * Requests a processor second over node:http against uWebSockets.js, of recommendations answered out of memory;
 * `npm run bench:http -- --part reads` measures it.
 */
export const NODE_TO_UWS_SPEED = 0.32;

/**
 * Chooses the engine: native uWebSockets.js where a build loads, otherwise node:http.
 * @throws Error when `uws` is asked for and no build loads
 */
export function chooseEngine(wish: EngineWish, load: () => UwsBinary = loadUws): EngineChoice {
  if (wish === 'node') return nodeChoice('set by http_engine');
  const { uws, why } = load();
  if (uws !== undefined) return { name: 'uws', why, create: (onRequest) => createUwsEngine(uws, onRequest) };
  if (wish === 'uws') throw new Error(`http_engine = "uws", but no native uWebSockets.js loads: ${why}`);
  return nodeChoice(why);
}

function nodeChoice(why: string): EngineChoice {
  const measured = `answers ${NODE_TO_UWS_SPEED} times as many requests a processor second as native uWebSockets.js`;
  return { name: 'node', why: `${why}; node:http ${measured}`, create: createNodeEngine };
}
