import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ENTRIES } from './entries.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SRC = join(ROOT, 'src');

/** The table of who may import whom. */
const TABLE = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').matchAll(
  /^\| `src\/(?<layer>[\w.-]+?)\/?` \|.*\|(?<rooms>[^|]*)\|$/gm,
);
const rows = Array.from(TABLE, ({ groups = {} }) => ({
  layer: groups.layer!.replace(/\.ts$/, ''),
  rooms: groups.rooms!.trim().split(/\s+/).filter(Boolean),
}));

/** Highest first: a file may import from its own layer and from those after it. */
const LAYERS = rows.map(({ layer }) => layer);

/** The rooms (folders) of each layer: a file may import from its own room and from those after it. */
const ROOMS = new Map(
  rows.map(({ layer, rooms }) => [
    layer,
    rooms.map((room) => (room === layer ? `src/${layer}` : `src/${layer}/${room}`)),
  ]),
);

/** Layers that do no input or output. */
const PURE = ['dataset', 'kernel', 'memory', 'model', 'recommend'];
/** The kernels' loaders find a binary on disk and read it; that is their whole purpose. */
const LOADERS = ['src/kernel/load-kernels.ts', 'src/kernel/wasm-kernels.ts'];
const IO = /^(node:)?(fs|fs\/promises|net|http|https|http2|dgram|tls|dns|child_process)$/;

interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Specifiers of everything imported or exported from elsewhere, types and dynamic imports among them. */
  readonly imports: readonly string[];
  /** Those that are still there when the file runs; `import type` is not. */
  readonly runtimeImports: readonly string[];
}

const IMPORT =
  /^\s*(?:import|export)(?<type> type)?\b[^;'"]*?\bfrom\s*['"](?<from>[^'"]+)['"]|^\s*import\s*['"](?<bare>[^'"]+)['"]|\bimport\(\s*['"](?<dynamic>[^'"]+)['"]/gm;

const everything: SourceFile[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
  .map((name) => {
    const text = readFileSync(join(SRC, name), 'utf8');
    const found = Array.from(text.matchAll(IMPORT), ({ groups = {} }) => ({
      name: groups.from ?? groups.bare ?? groups.dynamic ?? '',
      isType: groups.type !== undefined,
    }));
    return {
      path: join('src', name),
      text,
      imports: found.map(({ name }) => name),
      runtimeImports: found.filter(({ isType }) => !isType).map(({ name }) => name),
    };
  })
  .sort((a, b) => a.path.localeCompare(b.path));

/** What the command line and the dashboard both read files of records with and tell of it; it imports nothing else. */
const SHARED = [
  'cell-text',
  'column-names',
  'column-times',
  'file-format',
  'foreign-files',
  'guess-columns',
  'guess-encoding',
  'import-plan',
  'import-reports',
  'continued-rows',
  'made-rows',
  'nested-rows',
  'proposals',
  'read-rows',
  'rows-to-records',
  'survey-feedback',
  'time-formats',
]
  .map((name) => `src/exchange/${name}.ts`)
  .concat('src/domain/group-digits.ts');

/** What runs in the browser stands apart from the layers. */
const DASHBOARD = 'dashboard';
const files = everything.filter(({ path }) => layerOf(path) !== DASHBOARD);
const dashboardFiles = everything.filter(({ path }) => layerOf(path) === DASHBOARD);

function layerOf(path: string): string {
  const [, first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}

/** The files of this package that a file imports, relative to the root. */
function ownImports(file: SourceFile, imports = file.imports): string[] {
  return imports
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(ROOT, resolve(ROOT, dirname(file.path), specifier)))
    .filter((path) => /\.tsx?$/.test(path));
}

function importers(specifier: string): string[] {
  return files
    .filter(({ imports }) => imports.some((name) => name === specifier || name.startsWith(`${specifier}/`)))
    .map(({ path }) => path);
}

describe('layering', () => {
  it('has every file in a known layer', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter(({ path }) => !LAYERS.includes(layerOf(path)))).toEqual([]);
  });

  it('imports downwards only', () => {
    const upward = files.flatMap((file) =>
      ownImports(file)
        .filter((path) => LAYERS.indexOf(layerOf(path)) < LAYERS.indexOf(layerOf(file.path)))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(upward).toEqual([]);
  });

  it('imports files that exist, by their own extension', () => {
    const missing = files.flatMap((file) =>
      ownImports(file)
        .filter((path) => !existsSync(join(ROOT, path)))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('has no cycles, of types either', () => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      const at = trail.indexOf(path);
      if (at >= 0) cycles.push([...trail.slice(at), path].join(' > '));
      if (at >= 0 || done.has(path)) return;
      const file = byPath.get(path);
      for (const next of file === undefined ? [] : ownImports(file)) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const { path } of files) visit(path, []);
    expect(cycles).toEqual([]);
  });

  it('has every room in the table of docs/architecture.md, and no other', () => {
    const inRooms = files.filter(({ path }) => path.split('/').length > 2);
    const found = new Set(inRooms.map(({ path }) => dirname(path)));
    const listed = Array.from(ROOMS, ([layer, rooms]) =>
      rooms.length > 0 ? rooms : [`src/${layer}`],
    ).flat();
    expect([...found].filter((room) => !listed.includes(room))).toEqual([]);
    const lone = LAYERS.filter((layer) => ROOMS.get(layer)!.length === 0).map((layer) => `src/${layer}`);
    expect(listed.filter((room) => !found.has(room) && !lone.includes(room))).toEqual([]);
  });

  it.each(LAYERS.filter((layer) => ROOMS.get(layer)!.length > 0))('the rooms of %s open one way', (layer) => {
    const rooms = ROOMS.get(layer)!;
    expect(new Set(rooms).size).toBe(rooms.length);
    const backwards = files
      .filter(({ path }) => layerOf(path) === layer)
      .flatMap((file) =>
        ownImports(file)
          .filter((path) => layerOf(path) === layer)
          .filter((path) => rooms.indexOf(dirname(path)) < rooms.indexOf(dirname(file.path)))
          .map((path) => `${file.path} imports ${path}`),
      );
    expect(backwards).toEqual([]);
  });

  it('has no file that nothing reaches', () => {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      const file = byPath.get(path);
      for (const next of file === undefined ? [] : ownImports(file)) visit(next);
    };
    for (const path of ENTRIES) {
      expect(byPath.has(path)).toBe(true);
      visit(path);
    }
    const idle = files.filter(({ path }) => !reached.has(path));
    expect(idle.map(({ path }) => path)).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('takes nothing of the service but the types of what is answered and how columns are read', () => {
    expect(dashboardFiles.length).toBeGreaterThan(20);
    const isOwn = (path: string) => layerOf(path) === DASHBOARD;
    const taken = dashboardFiles.flatMap((file) => [
      ...ownImports(file, file.runtimeImports).filter((path) => !isOwn(path) && !SHARED.includes(path)),
      ...ownImports(file).filter(
        (path) => !isOwn(path) && layerOf(path) !== 'domain' && !SHARED.includes(path),
      ),
    ]);
    expect(taken).toEqual([]);
  });

  it('is imported by nothing of the service', () => {
    const importers = files.filter((file) => ownImports(file).some((path) => layerOf(path) === DASHBOARD));
    expect(importers.map(({ path }) => path)).toEqual([]);
  });

  it('takes the packages that are built into it, and no other', () => {
    const packages = dashboardFiles.flatMap(({ imports }) => imports.filter((name) => !name.startsWith('.')));
    const allowed = /^(preact(\/hooks)?|@preact\/signals|uplot(\/.*)?|papaparse|@picocss\/pico\/.*)$/;
    expect(packages.filter((name) => !allowed.test(name))).toEqual([]);
  });
});

describe('doors', () => {
  it.each(['lmdb', 'piscina'])('%s is imported in one file', (specifier) => {
    expect(importers(specifier)).toHaveLength(1);
  });

  it('the builds of uWebSockets.js are named in one file, and imported in none', () => {
    const named = files.filter(({ text }) => /['"](uWebSockets\.js|uws-node[\w-]*)['"]/.test(text));
    expect(named.map(({ path }) => path)).toEqual(['src/http/engine/engine-choice.ts']);
    expect(importers('uWebSockets.js')).toEqual([]);
  });

  it('node:http and node:https serve in one file', () => {
    const servers = files.filter(({ text }) => /\bcreateServer\b/.test(text));
    expect(servers.map(({ path }) => path)).toEqual(['src/http/engine/engine-node.ts']);
  });

  it('WebAssembly is made by the kernels’ loader and the shared memory alone', () => {
    const users = files.filter(({ text }) => /\bnew WebAssembly\.|\bWebAssembly\.[a-z]/.test(text));
    expect(users.length).toBeLessThanOrEqual(2);
    for (const { path } of users) expect(['kernel', 'memory']).toContain(layerOf(path));
  });

  it('http and recommend see the stores’ interfaces and no engine', () => {
    const beyond = files
      .filter(({ path }) => ['http', 'recommend'].includes(layerOf(path)))
      .flatMap((file) =>
        ownImports(file).filter((path) => /^src\/store\/(lmdb|postgres|redis|s3)\//.test(path)),
      );
    expect(beyond).toEqual([]);
  });

  it('three files open the engines: all stores, those of threads beside the main one, shared lists; that of PostgreSQL keeps its copies in LMDB', () => {
    const engines = ['src/store/lmdb/', 'src/store/postgres/', 'src/store/redis/', 'src/store/s3/'];
    const found = files
      .filter(({ path }) => !engines.some((engine) => path.startsWith(engine)))
      .filter((file) => ownImports(file).some((path) => engines.some((engine) => path.startsWith(engine))));
    expect(found.map(({ path }) => path)).toEqual([
      'src/store/open/open-shared-lists.ts',
      'src/store/open/open-store.ts',
      'src/store/open/thread-stores.ts',
    ]);
    const fromLmdb = files
      .filter(({ path }) => path.startsWith('src/store/lmdb/'))
      .filter((file) => ownImports(file).some((path) => path.startsWith('src/store/postgres/')));
    expect(fromLmdb).toEqual([]);
  });

  it('one file speaks to PostgreSQL', () => {
    expect(importers('pg')).toEqual(['src/store/postgres/connection.ts']);
  });

  it('one file speaks to S3, and is loaded where a bucket is named', () => {
    expect(importers('@aws-sdk/client-s3')).toEqual(['src/store/s3/model-objects.ts']);
    const own = files.filter((file) => ownImports(file).includes('src/store/s3/model-objects.ts'));
    for (const { text } of own) expect(text).toContain("await import('../s3/model-objects.ts')");
  });

  it('one file speaks to Redis', () => {
    expect(importers('ioredis')).toEqual(['src/store/redis/client.ts']);
  });

  it('the inner layers do no input or output', () => {
    const found = files
      .filter(({ path }) => PURE.includes(layerOf(path)) && !LOADERS.includes(path))
      .flatMap(({ path, imports }) =>
        imports.filter((name) => IO.test(name)).map((name) => `${path} imports ${name}`),
      );
    expect(found).toEqual([]);
  });

  it('the recommenders and models take time and chance as parameters', () => {
    const found = files.filter(
      ({ path, text }) =>
        ['dataset', 'kernel', 'memory', 'model', 'recommend'].includes(layerOf(path)) &&
        /\b(Date\.now|Math\.random|systemClock)\b/.test(text),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe.each([
  'docs/architecture.md',
  ...readdirSync(join(ROOT, 'docs/architecture')).map((page) => `docs/architecture/${page}`),
  'docs/glossary.md',
  'CONTRIBUTING.md',
])('%s', (document) => {
  it('names files and folders that exist', () => {
    const text = readFileSync(join(ROOT, document), 'utf8');
    const named = Array.from(
      text.matchAll(/`((?:src|assembly|bench|test|docs|scripts|data)\/[\w./-]*)`/g),
      ([, path]) => path,
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(ROOT, path as string)))).toEqual([]);
  });
});
