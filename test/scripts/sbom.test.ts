import { expect, test } from 'vitest';
import { type Bom, bundledNames, shipped } from '../../scripts/package/sbom.ts';

const development = [{ name: 'cdx:npm:package:development', value: 'true' }];
const ALL: Bom = {
  metadata: { component: { 'bom-ref': 'furze@1' } },
  components: [
    { 'bom-ref': 'lmdb@3', name: 'lmdb' },
    { 'bom-ref': 'pino@10', name: 'pino', scope: 'optional', properties: development },
    { 'bom-ref': 'vitest@4', name: 'vitest', scope: 'optional', properties: development },
  ],
  dependencies: [
    { ref: 'furze@1', dependsOn: ['lmdb@3', 'pino@10', 'vitest@4'] },
    { ref: 'vitest@4', dependsOn: ['pino@10'] },
  ],
};

test('a list of what is shipped holds what is installed and what was bundled, and nothing of developers', () => {
  const names = bundledNames('pino\n\nMIT\n\n----\n\n@scope/other\n\nISC\n');
  expect(names).toEqual(['pino', '@scope/other']);
  const bom = shipped(ALL, ['pino']);
  expect(bom.components.map(({ name }) => name)).toEqual(['lmdb', 'pino']);
  expect(bom.components[1]!.scope).toBe('required');
  expect(bom.dependencies).toEqual([{ ref: 'furze@1', dependsOn: ['lmdb@3', 'pino@10'] }]);
  expect(() => shipped(ALL, names)).toThrow('the lock file has no package @scope/other');
});
