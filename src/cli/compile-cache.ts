import nodeModule from 'node:module';

/** An interface that Node.js has from 22.8 on; the types are those of the oldest version that furze runs on. */
type EnableCompileCache = (folder: string) => { readonly directory?: string };

/**
 * From now on, this process, its threads and the processes that it starts take what they load from `folder` where it lies
 * there compiled already, and an orderly end puts there what did not: a start then takes a quarter less. What is compiled
 * holds for one version of Node.js, one user and one content of a file; anything else is compiled anew. Where the folder
 * cannot be written or Node.js has no such cache, nothing changes. `NODE_COMPILE_CACHE` goes before `folder`, and
 * `NODE_DISABLE_COMPILE_CACHE` turns it off.
 * @returns the folder in use, undefined for none
 */
export function useCompileCache(folder: string, env: NodeJS.ProcessEnv): string | undefined {
  const { enableCompileCache: enable } = nodeModule as { enableCompileCache?: EnableCompileCache };
  // An empty name is none for Node.js at its start, and would be the working folder here.
  const directory = enable?.(env.NODE_COMPILE_CACHE || folder).directory;
  // Threads and processes ask the environment alone.
  if (directory !== undefined) env.NODE_COMPILE_CACHE ||= folder;
  return directory;
}
