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
    execArgv: fromSource ? ['--import', 'tsx'] : [],
  };
}
