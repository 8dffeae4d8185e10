// What is in the packages: npm's list holds what is installed beside furze; what was bundled into it is among the
// packages for developers there.

export interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly scope?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

export interface Bom {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
}

const DEVELOPMENT = 'cdx:npm:package:development';

/**
 * The names of the packages in a bundle, as the builds write them above each license.
 *
 * @param licenses - text of a LICENSES.txt
 */
export function bundledNames(licenses: string): string[] {
  return licenses.split('\n----\n\n').map((entry) => entry.slice(0, entry.indexOf('\n')));
}

/**
 * @param all - CycloneDX list of everything in the lock file, packages for developers too
 * @param bundled - names of the packages that were bundled
 * @returns the list of what users get: the installed packages and the bundled ones
 * @throws Error that names a bundled package which the lock file does not have
 */
export function shipped<T extends Bom>(all: T, bundled: readonly string[]): T {
  const names = new Set(bundled);
  const components = all.components
    .filter(
      ({ name, properties }) => names.has(name) || !properties?.some((each) => each.name === DEVELOPMENT),
    )
    .map((component) => (names.has(component.name) ? { ...component, scope: 'required' } : component));
  const found = new Set(components.map(({ name }) => name));
  for (const name of names) if (!found.has(name)) throw new Error(`the lock file has no package ${name}`);
  const refs = new Set([all.metadata.component, ...components].map((each) => each['bom-ref']));
  const dependencies = all.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  return { ...all, components, dependencies };
}
