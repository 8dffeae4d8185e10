import { existsSync } from 'node:fs';

/** The folder of the package, which holds `package.json`; a URL that ends in a slash. */
const PACKAGE_URL = packageUrl(new URL('.', import.meta.url));

/**
 * A file of the package. A build puts several sources into one file, so nobody may reckon from where its source lay.
 * @param path from the package's folder, as in `build/kernels.wasm`
 */
export function packageFile(path: string): URL {
  return new URL(path, PACKAGE_URL);
}

/**
 * Where the code that runs would have a file: below `src/`, or below `dist/` in a build.
 * @param name path from there without extension
 */
export function codeFile(name: string): URL {
  const [folder] = import.meta.url.slice(PACKAGE_URL.href.length).split('/');
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`${folder}/${name}.${extension}`, PACKAGE_URL);
}

function packageUrl(folder: URL): URL {
  if (existsSync(new URL('package.json', folder))) return folder;
  const parent = new URL('..', folder);
  if (parent.href === folder.href) throw new Error('furze cannot find the files that it came with');
  return packageUrl(parent);
}
