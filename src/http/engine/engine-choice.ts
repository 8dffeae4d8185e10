import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../domain/operator-error.ts';
import type { Engine, EngineName, EngineOptions, OnRequest } from './engine.ts';
import { createNodeEngine } from './engine-node.ts';
import { createUwsEngine } from './engine-uws.ts';
import type { Uws } from './uws-api.ts';

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

const require = createRequire(import.meta.url);

/**
 * The packages that may carry a build of uWebSockets.js for this Node.js, best first. The first is what somebody
 * installed on purpose; the others are optional dependencies. Each has one file for every platform, processor and ABI.
 */
const PACKAGES = ['uWebSockets.js', 'uws-node20-25', 'uws-node20'] as const;
/** Where in a package its builds are. */
const FOLDERS = ['.', 'binaries'];

/** The native engine, or why there is none. */
export interface UwsBinary {
  readonly uws: Uws | undefined;
  /** One sentence without its full stop: which build it is, or what stands in the way of each. */
  readonly why: string;
}

/** Properties of the process that a build must fit. */
export interface RuntimeTarget {
  readonly platform: string;
  readonly arch: string;
  /** Version of the module interface, such as 115 for Node.js 20. */
  readonly abi: string;
}

/**
 * Looks for a native build that loads. The packages' own entry points are not used: some fall back to an imitation in
 * JavaScript when their build does not load.
 * @param roots folders of the packages, looked up when absent
 */
export function loadUws(
  target: RuntimeTarget = {
    platform: process.platform,
    arch: process.arch,
    abi: process.versions.modules,
  },
  roots: readonly (readonly [name: string, root: string])[] = packageRoots(),
): UwsBinary {
  const file = `uws_${target.platform}_${target.arch}_${target.abi}.node`;
  // Told only where no build loads: finding out what C library there is takes a while.
  const troubles: (() => string)[] = [];
  for (const [name, root] of roots) {
    const path = FOLDERS.map((folder) => join(root, folder, file)).find((at) => existsSync(at));
    if (path === undefined) continue;
    try {
      return { uws: require(path) as Uws, why: `native build ${file} of ${name}` };
    } catch (error) {
      troubles.push(() => `${file} of ${name} ${explain(error)}`);
    }
  }
  if (troubles.length > 0) return { uws: undefined, why: troubles.map((tell) => tell()).join('; ') };
  const where = roots.length === 0 ? 'no package with native builds is installed' : `there is no ${file}`;
  return { uws: undefined, why: `${where} (Node.js ${process.version}, ABI ${target.abi})` };
}

function packageRoots(): [string, string][] {
  return PACKAGES.flatMap((name) => {
    const root = packageRoot(name);
    return root === undefined ? [] : [[name, root] as [string, string]];
  });
}

/** A package's folder; its entry point is looked up and not run. */
function packageRoot(name: string): string | undefined {
  let at: string;
  try {
    at = dirname(require.resolve(name));
  } catch {
    return undefined;
  }
  while (!existsSync(join(at, 'package.json'))) {
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
  return at;
}

/** Explains a loader's error, with the C library there is and the one it takes when the error is about that. */
function explain(error: unknown): string {
  const text = error instanceof Error ? error.message.split('\n')[0]! : String(error);
  const needed = /GLIBC_([\d.]+)' not found/.exec(text)?.[1];
  if (needed !== undefined) return `needs glibc ${needed}, here is ${glibcVersion()}`;
  if (/ld-linux|libc\.so|libc\.musl|Error loading shared library/.test(text)) {
    return `needs glibc, here is ${glibcVersion()} (${text})`;
  }
  return `does not load: ${text}`;
}

/** The C library's version as the diagnostic report of Node.js knows it. */
function glibcVersion(): string {
  const report = process.report?.getReport() as unknown as { header?: { glibcVersionRuntime?: string } };
  const version = report?.header?.glibcVersionRuntime;
  return version === undefined ? 'another C library' : `glibc ${version}`;
}
