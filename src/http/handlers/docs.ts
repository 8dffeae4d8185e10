import { readFile } from 'node:fs/promises';
import { ERRORS, FurzeError } from '../../domain/furze-error.ts';
import { packageFile } from '../../platform/program/program-files.ts';
import { ERRORS_PATH } from '../route/problem-details.ts';
import { json, page, type Reply } from '../route/reply.ts';
import { type Route, routesOf } from '../route/route.ts';

const route = routesOf('Operation');
const HTML_TYPE = 'text/html; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** Where `npm run build:apidocs` puts the files of swagger-ui-dist. */
const ASSETS_FOLDER = packageFile('build/apidocs/');

/** The documentation, which comes with the package. */
const DOCS_FOLDER = packageFile('docs/');

/** The files that the page uses, by name, with their types. */
const ASSETS: ReadonlyMap<string, string> = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['index.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui-standalone-preset.js', 'text/javascript; charset=utf-8'],
  ['favicon-16x16.png', 'image/png'],
  ['favicon-32x32.png', 'image/png'],
]);

const INITIALIZER = `window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: '/apidocs.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: 'StandaloneLayout',
  });
};
`;

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <title>furze API</title>
    <link rel="stylesheet" href="/apidocs/swagger-ui.css">
    <link rel="stylesheet" href="/apidocs/index.css">
    <link rel="icon" type="image/png" href="/apidocs/favicon-32x32.png" sizes="32x32">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/apidocs/swagger-ui-bundle.js"></script>
    <script src="/apidocs/swagger-ui-standalone-preset.js"></script>
    <script src="/apidocs/initializer.js"></script>
  </body>
</html>
`;

/**
 * The interactive page, its files and the document under it. None holds data, so none needs a key.
 * @param document the OpenAPI document, made when it is first asked for
 */
export function docsRoutes(document: () => object): readonly Route[] {
  const common = { open: true, needsNoModel: true } as const;
  let documentReply: Reply | undefined;
  const files = new Map<string, Buffer>();
  return [
    route('GET', '/apidocs', {
      ...common,
      summary: 'The interactive description of the API',
      response: { description: 'A page', contentType: HTML_TYPE },
      handler: () => page(PAGE),
    }),
    route('GET', '/apidocs.json', {
      ...common,
      summary: 'The OpenAPI document',
      response: { description: 'OpenAPI 3.1' },
      handler: () => (documentReply ??= json(document())),
    }),
    route('GET', ERRORS_PATH, {
      ...common,
      summary: 'The catalogue of errors',
      response: { description: 'A page', contentType: HTML_TYPE },
      handler: () => page(errorsPage()),
    }),
    route('GET', '/docs/{page}', {
      ...common,
      summary: 'A page of the documentation, as it was written',
      response: { description: 'Markdown', contentType: TEXT_TYPE },
      errors: ['ROUTE_NOT_FOUND'],
      async handler({ params: { page: name } }) {
        const text =
          /^[a-z-]+\.md$/.test(name) && (await readFile(new URL(name, DOCS_FOLDER)).catch(() => false));
        if (text instanceof Buffer) return { status: 200, contentType: TEXT_TYPE, body: text };
        throw new FurzeError('ROUTE_NOT_FOUND', 'The documentation has no such page.');
      },
    }),
    route('GET', '/apidocs/{asset}', {
      ...common,
      summary: 'A file of the interactive page',
      response: { description: 'The file', contentType: '*/*' },
      errors: ['ROUTE_NOT_FOUND'],
      async handler({ params: { asset } }) {
        if (asset === 'initializer.js') return file('text/javascript; charset=utf-8', INITIALIZER);
        const contentType = ASSETS.get(asset);
        if (contentType === undefined)
          throw new FurzeError('ROUTE_NOT_FOUND', 'The API page has no such file.');
        let content = files.get(asset);
        if (content === undefined)
          files.set(asset, (content = await readFile(new URL(asset, ASSETS_FOLDER))));
        return file(contentType, content);
      },
    }),
  ];
}

function file(contentType: string, body: string | Buffer): Reply {
  return { status: 200, contentType, body, headers: [['Cache-Control', 'public, max-age=3600']] };
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title }]) => `<tr id="${code}"><td><code>${code}</code><td>${status}<td>${title}`,
  );
  return `<!DOCTYPE html>
<html lang="en"><meta charset="UTF-8"><title>furze errors</title>
<h1>Errors</h1>
<table><tr><th>Code<th>Status<th>Meaning
${rows.join('\n')}
</table></html>
`;
}
