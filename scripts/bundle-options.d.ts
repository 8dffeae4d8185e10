import type { BuildOptions } from 'esbuild';

/** Options for esbuild; packages that are installed with furze stay outside. */
export function bundleOptions(): BuildOptions;
