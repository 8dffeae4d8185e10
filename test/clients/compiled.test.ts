import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../http/start.ts';

const run = promisify(execFile);
const PAGE = readFileSync(fileURLToPath(new URL('../../docs/clients.md', import.meta.url)), 'utf8');
/** The key of the examples. */
const KEY = 'key';
const TIMEOUT_MS = 580_000;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    config: {
      server: { api_key: KEY },
      recommend: { data_source: { positive_feedback_types: ['like'] } },
    },
  });
});
afterAll(() => server?.stop());
beforeEach(async () => {
  const headers = { 'X-API-Key': KEY };
  await server.call('DELETE', '/api/user/alice', undefined, headers);
  const Timestamp = '2024-01-01';
  const items = ['film-1', 'film-2'].map((ItemId) => ({ ItemId, Timestamp }));
  await server.call('POST', '/api/items', items, headers);
});

/** The example in that language as the page has it, sent to the service of this test. */
function example(language: string): string {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(PAGE)![1]!;
  expect(block).toContain('http://127.0.0.1:8087');
  return block.replaceAll('http://127.0.0.1:8087', server.base);
}

/** A version that the page names behind the name of a package. */
function version(name: string): string {
  return new RegExp(`${name.replaceAll('.', '\\.')}[^\\d\\n]*v?([\\d.]+\\d)`).exec(PAGE)![1]!;
}

/** A language: how a program that ends by printing the recommended items is made of the example, and run. */
interface Language {
  readonly name: string;
  /** Commands that have to be there. */
  readonly tools: readonly string[];
  /** Writes the program. @returns commands: the first only fetches packages, the last runs the program */
  prepare(folder: string): readonly (readonly [string, ...string[]])[];
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'rust',
    tools: ['cargo'],
    prepare(folder) {
      mkdirSync(join(folder, 'src'), { recursive: true });
      writeFileSync(
        join(folder, 'Cargo.toml'),
        `[package]\nname = "example"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ngorse_rs = "=${version('gorse_rs@=')}"\ntokio = { version = "1", features = ["macros", "rt"] }\n[profile.dev]\ndebug = false\nincremental = false\n[workspace]\n`,
      );
      const use = 'use gorse_rs::{Feedback, Gorse};\n';
      const body = example('rust').replace(use, '');
      writeFileSync(
        join(folder, 'src/main.rs'),
        `${use}#[tokio::main(flavor = "current_thread")]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {\n${body}println!("{}", items.join(" "));\nOk(())\n}\n`,
      );
      return [
        ['cargo', 'fetch', '--quiet'],
        ['cargo', 'build', '--quiet'],
        ['cargo', 'run', '--quiet'],
      ];
    },
  },
  {
    name: 'java',
    tools: ['mvn', 'javac'],
    prepare(folder) {
      const lib = join(folder, 'lib');
      mkdirSync(lib, { recursive: true });
      writeFileSync(
        join(folder, 'pom.xml'),
        `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>example</groupId><artifactId>example</artifactId><version>1</version><dependencies><dependency><groupId>io.gorse</groupId><artifactId>gorse-client</artifactId><version>${version('io.gorse:gorse-client:')}</version></dependency></dependencies></project>`,
      );
      writeFileSync(
        join(folder, 'Example.java'),
        `import io.gorse.gorse4j.*;\nimport java.util.List;\npublic class Example {\npublic static void main(String[] args) throws Exception {\n${example('java')}System.out.println(String.join(" ", items));\n}\n}\n`,
      );
      const classes = `${lib}/*:${folder}`;
      return [
        ['mvn', '-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${lib}`],
        ['javac', '-cp', classes, 'Example.java'],
        ['java', '-cp', classes, 'Example'],
      ];
    },
  },
  {
    name: 'go',
    tools: ['go'],
    prepare(folder) {
      const module = 'github.com/zhenghaoz/gorse/client';
      writeFileSync(join(folder, 'go.mod'), 'module example\n\ngo 1.20\n');
      writeFileSync(
        join(folder, 'main.go'),
        `package main\n\nimport (\n"context"\n"fmt"\n"strings"\n\n"${module}"\n)\n\nfunc main() {\nctx := context.Background()\n${example('go')}if err != nil {\npanic(err)\n}\nfmt.Println(strings.Join(items, " "))\n}\n`,
      );
      // Not optimized: of the standard library, too, which a new machine compiles, that takes a quarter less.
      return [
        ['go', 'get', `${module}@v${version(`${module}@`)}`],
        ['go', 'build', '-gcflags=all=-N -l', '-o', 'example', '.'],
        [join(folder, 'example')],
      ];
    },
  },
];

describe.each(LANGUAGES)('the example in $name', ({ name, tools, prepare }) => {
  const missing = tools.find((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0);
  if (missing !== undefined) console.warn(`SKIPPED the example in ${name}: ${missing} is not installed`);

  test.skipIf(missing !== undefined)('compiles, stores what it says and is answered', async (context) => {
    // Kept for the next run, which then fetches and compiles little.
    const folder = join(tmpdir(), `furze-example-${name}`);
    mkdirSync(folder, { recursive: true });
    const commands = prepare(folder);
    let output = '';
    for (const [at, [command, ...args]] of commands.entries()) {
      try {
        output = (await run(command, args, { cwd: folder, timeout: TIMEOUT_MS })).stdout;
      } catch (error) {
        const { stderr, stdout } = error as { stderr?: string; stdout?: string };
        if (at > 0) throw error;
        console.warn(
          `SKIPPED the example in ${name}: its packages cannot be fetched here: ${stderr}${stdout}`,
        );
        return context.skip();
      }
    }
    const read = await server.call('GET', '/api/user/alice/feedback/like', undefined, { 'X-API-Key': KEY });
    expect(read.body).toMatchObject([{ FeedbackType: 'like', UserId: 'alice', ItemId: 'film-1' }]);
    const { body } = await server.call('GET', '/api/recommend/alice?n=10', undefined, { 'X-API-Key': KEY });
    expect(body.length).toBeGreaterThan(0);
    expect(output.trim().split(' ')).toEqual(body);
  });
});
