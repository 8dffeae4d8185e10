import { readFileSync } from 'node:fs';
import { FurzeError } from '../../domain/furze-error.ts';
import { packageFile } from '../../platform/program/program-files.ts';
import type { Reply } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';

const route = routesOf('Operation');
const HTML_TYPE = 'text/html; charset=utf-8';
/** The output of `npm run build:dashboard`, beside the kernels. */
const FOLDER = packageFile('build/dashboard/');

/** @param imageSource where pictures of items may come from; `""` for nowhere */
const policy = (imageSource: string) =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  `img-src 'self' data: ${imageSource}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const PRIVACY = ['Referrer-Policy', 'no-referrer'] as const;

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>furze</title>
<p>The dashboard has not been built: <code>npm run build:dashboard</code>. <a href="/apidocs">API</a></p>
</html>
`;

/** Files of the build by name, with their content types. */
type Manifest = Readonly<Record<string, string>>;

interface Dashboard {
  readonly page: string;
  readonly files: ReadonlyMap<string, Reply>;
}

/** The dashboard's page and its files, out of memory. None holds data, so none needs a key. */
export function dashboardRoutes(): readonly Route[] {
  let loaded: Dashboard | undefined;
  const dashboard = () => (loaded ??= loadDashboard());
  return [
    route('GET', '/', {
      summary: 'The dashboard',
      open: true,
      needsNoModel: true,
      response: { description: 'A page', contentType: HTML_TYPE },
      handler: (_request, { admin }) => ({
        status: 200,
        contentType: HTML_TYPE,
        body: dashboard().page,
        headers: [
          ['Content-Security-Policy', policy(admin.cards.imageSource)],
          ['Cache-Control', 'no-cache'],
          PRIVACY,
        ],
      }),
    }),
    route('GET', '/dashboard/{asset}', {
      summary: 'A file of the dashboard, compressed with gzip',
      open: true,
      needsNoModel: true,
      response: { description: 'The file', contentType: '*/*' },
      errors: ['ROUTE_NOT_FOUND'],
      handler({ params: { asset } }) {
        const file = dashboard().files.get(asset);
        if (file !== undefined) return file;
        throw new FurzeError('ROUTE_NOT_FOUND', 'The dashboard has no such file.');
      },
    }),
  ];
}

/** Reads the few files once; their names change with what they hold, so browsers keep them for good. */
function loadDashboard(): Dashboard {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8')) as Manifest;
  } catch (error) {
    // Without handles to open it, it may be there all the same.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { page: NOT_BUILT, files: new Map() };
  }
  const files = new Map<string, Reply>();
  for (const [name, contentType] of Object.entries(manifest)) {
    files.set(name, {
      status: 200,
      contentType,
      body: readFileSync(new URL(`${name}.gz`, FOLDER)),
      headers: [
        ['Content-Encoding', 'gzip'],
        ['Cache-Control', 'public, max-age=31536000, immutable'],
        PRIVACY,
      ],
    });
  }
  return { page: readFileSync(new URL('index.html', FOLDER), 'utf8'), files };
}
