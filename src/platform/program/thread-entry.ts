import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { codeFile } from './program-files.ts';

/** Where a thread's entry file is and how Node must be told to load it. */
export interface ThreadEntry {
  readonly url: URL;
  readonly execArgv: string[];
}

/** A folder of sources and one with the same files as JavaScript; URLs that end in a slash. */
interface CompiledSources {
  readonly sources: string;
  readonly compiled: string;
}

let compiledSources: CompiledSources | undefined;

/**
 * From now on, threads of the sources below `sources` are loaded from JavaScript that was made of them beforehand, which
 * takes a third of the time; the tests do. Both URLs end in a slash.
 */
export function useCompiledThreads(sources: URL, compiled: URL): void {
  compiledSources = { sources: sources.href, compiled: compiled.href };
}

/**
 * The entry of one of the service's own threads or processes.
 * @param name path of its source from `src/`, without extension; a build keeps it at the same place of `dist/`
 */
export function ownThread(name: string): ThreadEntry {
  return threadEntry(codeFile('main').href, `./${name}`);
}

/**
 * Finds a thread's entry beside the caller: `name.js` in a build, `name.ts` through tsx when the sources run directly.
 * @param callerUrl the caller's `import.meta.url`
 * @param name path of the entry relative to the caller, without extension, as in `./writer-thread`
 */
export function threadEntry(callerUrl: string, name: string): ThreadEntry {
  if (!callerUrl.endsWith('.ts')) return { url: new URL(`${name}.js`, callerUrl), execArgv: [] };
  if (compiledSources !== undefined && callerUrl.startsWith(compiledSources.sources)) {
    const twin = compiledSources.compiled + callerUrl.slice(compiledSources.sources.length);
    return { url: new URL(`${name}.js`, twin), execArgv: [] };
  }
  return { url: new URL(`${name}.ts`, callerUrl), execArgv: ['--import', tsxHooks()] };
}

/** A module that registers tsx: `--import tsx` itself does nothing in a thread that is not the main one. */
function tsxHooks(): string {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx);
  const source = `import { register } from ${JSON.stringify(api.href)}; register();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
