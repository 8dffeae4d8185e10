import { OperatorError } from '../../domain/operator-error.ts';
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
 * Requests a processor second over node:http against uWebSockets.js, of recommendations answered out of memory over 64
 * connections; `npm run bench:http -- --part reads` measures it.
 */
export const NODE_TO_UWS_SPEED = 0.54;

/**
 * Chooses the engine: native uWebSockets.js where a build loads, otherwise node:http.
 * @param withTls true when it is to speak TLS
 * @throws OperatorError when `uws` is asked for and no build loads
 */
export function chooseEngine(
  wish: EngineWish,
  withTls = false,
  load: () => UwsBinary = loadUws,
): EngineChoice {
  if (wish === 'node') return nodeChoice('set by http_engine');
  const { uws, why } = withTls ? capableOfTls(load()) : load();
  if (uws !== undefined)
    return { name: 'uws', why, create: (onRequest, options) => createUwsEngine(uws, onRequest, options) };
  if (wish === 'uws')
    throw new OperatorError(`http_engine = "uws", but no native uWebSockets.js loads: ${why}`);
  return nodeChoice(why);
}

function capableOfTls(binary: UwsBinary): UwsBinary {
  const { uws, why } = binary;
  if (uws === undefined || uws.SSLApp !== undefined) return binary;
  return { uws: undefined, why: `${why} has no TLS` };
}

function nodeChoice(why: string): EngineChoice {
  const measured = `answers ${NODE_TO_UWS_SPEED} times as many requests a processor second as native uWebSockets.js`;
  return { name: 'node', why: `${why}; node:http ${measured}`, create: createNodeEngine };
}
