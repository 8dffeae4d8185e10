import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Where a thread's entry file is and how Node must be told to load it. */
export interface ThreadEntry {
  readonly url: URL;
  readonly execArgv: string[];
}

/**
 * Finds a thread's entry beside the caller: `name.js` in a build, `name.ts` through tsx when the sources run directly.
 * @param callerUrl the caller's `import.meta.url`
 * @param name path of the entry relative to the caller, without extension, as in `./writer-thread`
 */
export function threadEntry(callerUrl: string, name: string): ThreadEntry {
  const fromSource = callerUrl.endsWith('.ts');
  return {
    url: new URL(`${name}${fromSource ? '.ts' : '.js'}`, callerUrl),
    execArgv: fromSource ? ['--import', tsxHooks()] : [],
  };
}

/** A module that registers tsx: `--import tsx` itself does nothing in a thread that is not the main one. */
function tsxHooks(): string {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx);
  const source = `import { register } from ${JSON.stringify(api.href)}; register();`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
