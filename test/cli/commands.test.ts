import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { Furze } from './run-furze.ts';

const folder = mkdtempSync(join(tmpdir(), 'furze-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** However slow the machine, a service that is there answers it. */
const STATUS = ['status', '--timeout', '600'];

async function run(args: readonly string[], env?: Record<string, string>, cwd?: string) {
  const furze = new Furze(args, env, [], cwd);
  return { code: await furze.exit, output: furze.output };
}

describe('furze --help', () => {
  it.skipIf(process.platform === 'win32')('ends without a word when nobody reads on', async () => {
    const shell = ['sh', '-c', '{ sleep 1; "$@"; echo "code $?" >&2; } | true', 'sh'];
    const furze = new Furze(['evaluate', '--help'], {}, shell);
    expect(await furze.exit).toBe(0);
    expect(furze.output).toBe('code 141\n');
  });

  it.each([[['--help']], [['-c', 'none.toml', '--help']], [['--port', '1', '-h']], [['help']]])(
    'lists all commands after %j',
    async (args) => {
      const { code, output } = await run(args);
      expect(code).toBe(0);
      for (const name of ['serve', 'import', 'restore'])
        expect(output).toMatch(new RegExp(`^ +${name} `, 'm'));
    },
  );
});

describe('a command for a folder, where the data is in PostgreSQL', () => {
  it.each([
    ['compact', /^furze: A folder is named lmdb:\/\/PATH; postgres:/m],
    // This node's copy can be checked.
    ['check', /^furze: There is no data store in \.\/replica\.$/m],
  ])('%s says that there is no folder, without a trace', async (name, message) => {
    const env = { FURZE_DATABASE_DATA_STORE: 'postgres://ann:hush@db.invalid/shop' };
    const { code, output } = await run([name], env);
    expect(code).toBe(1);
    expect(output).toMatch(message);
    expect(output).not.toMatch(/hush|^ +at /m);
  });
});

describe('furze config', () => {
  it('prints the effective configuration with the secret masked', async () => {
    const path = fileOf('print.toml', '[server]\nport = 9\napi_key = "hush"\n');
    const { code, output } = await run(['config', '--print', '--config', path], { FURZE_LOG_LEVEL: 'warn' });
    expect(code).toBe(0);
    expect(output).not.toContain('hush');
    const { server, log } = parseConfig(output);
    expect([server.port, server.api_key, log.level]).toEqual([9, '********', 'warn']);
  });
});

describe('a command in a folder with a furze.toml', () => {
  const place = mkdtempSync(join(tmpdir(), 'furze-cli-place-'));
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  it('takes it where none is named, and finds the service that runs on its data', async () => {
    writeFileSync(join(place, 'furze.toml'), '[server]\nport = 0\napi_key = "hush"\n');
    const shown = await run(['config', '--json'], {}, place);
    expect(JSON.parse(shown.output).server).toMatchObject({ port: 0, api_key: '********' });
    const furze = new Furze(['serve'], {}, [], place);
    await furze.waitFor(/"msg":"listening"/);
    const { code, output } = await run(STATUS, {}, place);
    expect([code, output]).toEqual([0, expect.stringMatching(/^Ready, but nothing is learned yet/)]);
    expect(await furze.stop('SIGTERM')).toBe(0);
    // The folder is named by the argument or by --data.
    for (const args of [
      ['check', './data'],
      ['check', '--data', './data'],
      ['compact', 'data'],
      ['compact', '-d', 'data'],
    ])
      expect((await run(args, {}, place)).code, args.join(' ')).toBe(0);
    const two = await run(['check', 'a', '--data', 'b'], {}, place);
    expect([two.code, two.output]).toEqual([2, expect.stringMatching(/one folder at a time/)]);
  });
});

describe('every command', () => {
  it.each(
    'serve playground init import export migrate evaluate status config compact check backup restore'.split(
      ' ',
    ),
  )('%s has help with an example, and knows its options', async (name) => {
    const { code, output } = await run([name, '--help']);
    expect(code).toBe(0);
    expect(output).toMatch(new RegExp(`^Examples?:\\n(?:.*\\n)*.*furze ${name}`, 'm'));
    const needed = name === 'migrate' ? ['--from', 'lmdb://a', '--to', 'lmdb://b'] : [];
    const odd = await run([name, ...needed, '--nope']);
    expect(odd.code).toBe(2);
    expect(odd.output).toMatch(/unknown option '--nope'\n/);
    expect(odd.output).toContain(`(see furze ${name} --help)\n`);
  });
});

describe('arguments and configuration that are not valid', () => {
  it.each([
    [
      'an unknown key',
      ['serve', '--config', fileOf('unknown.toml', '[server]\nprot = 1\n')],
      /server\.prot: unknown key/,
    ],
    [
      'no such file',
      ['serve', '--config', join(folder, 'none.toml')],
      /the configuration \S+none\.toml is not there \(ENOENT: open\)/,
    ],
    ['a folder', ['serve', '--config', folder], /the configuration \S+ is a folder, where a file is needed/],
    [
      'a file that is something else',
      ['config', '--config', fileOf('orders.csv', 'order_no,sku\n1,tea\n')],
      /orders\.csv is not TOML: line 1/,
    ],
    ['a bad port', ['playground', '--port', '70000'], /expected an integer from 0 to 65535/],
    ['an unknown option', ['serve', '--prot', '1'], /unknown option '--prot'/],
    ['help on no command', ['help', 'nope'], /there is no command "nope"/],
    ['a missing argument', ['export'], /missing required argument 'kind'\n.*\(see furze export --help\)/],
    ['no address', ['status', '--url', 'nonsense'], /expected an address such as http:/],
    ['an address of another kind', ['backup', 'x', '--url', 'ftp://x'], /expected an address such as http:/],
    [
      'a missing argument of a command of a command',
      ['model', 'unuse'],
      /'name'\n\(see furze model unuse --help\)/,
    ],
    ['an unknown option of one', ['model', 'list', '--nope'], /'--nope'\n\(see furze model list --help\)/],
    ['an unknown command', ['nope'], /there is no command "nope"; there are serve, playground, .*status/],
    [
      'a configuration of Gorse',
      ['serve', '--config', fileOf('gorse.toml', '[master]\nport = 8086\n')],
      /this is a configuration of Gorse/,
    ],
  ])('%s ends the start with code 2 and says what is wrong', async (_, args, message) => {
    const { code, output } = await run(args);
    expect(code).toBe(2);
    expect(output).toMatch(message);
  });
});

describe('furze serve', () => {
  const store = join(folder, 'store');
  const env = {
    FURZE_DATABASE_DATA_STORE: `lmdb://${store}`,
    FURZE_DATABASE_CACHE_STORE: `lmdb://${store}/cache`,
    FURZE_SERVER_API_KEY: 'hush',
  };
  const serve = () =>
    new Furze(
      ['serve', '--config', fileOf('serve.toml', '[server]\nport = 0\n[log]\nlevel = "info"\n')],
      env,
    );
  const urlOf = async (furze: Furze) => (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;
  const headers = { 'X-API-Key': 'hush' };

  const signals = [
    'SIGTERM',
    'SIGINT',
    ...(process.platform === 'linux' ? (['SIGHUP'] as const) : []),
  ] as const;
  it.each(signals)('listens, and stops cleanly on %s', async (signal) => {
    const furze = serve();
    const url = await urlOf(furze);
    expect((await fetch(`${url}/api/health/ready`)).status).toBe(200);
    expect((await fetch(`${url}/api/users`)).status).toBe(401);
    const user = JSON.stringify({ UserId: signal });
    expect((await fetch(`${url}/api/user`, { method: 'POST', body: user, headers })).status).toBe(200);
    expect(await furze.stop(signal)).toBe(0);
    expect(furze.output).toContain('"msg":"stopped"');
    expect(furze.output).not.toContain('hush');
  });

  it('has what it stored after furze compact', async () => {
    const { code, output } = await run(['compact'], env);
    expect(output).toMatch(/[\d,]+ bytes before, [\d,]+ bytes after/);
    expect(code).toBe(0);
    const furze = serve();
    const answer = await fetch(`${await urlOf(furze)}/api/user/SIGTERM`, { headers });
    expect(await answer.json()).toMatchObject({ UserId: 'SIGTERM' });
    expect(await furze.stop('SIGTERM')).toBe(0);
  });
});

describe('furze status', () => {
  it('tells of a running service, and exits 0 when it is ready and 2 when nobody answers', async () => {
    const store = join(folder, 'status');
    const env = { FURZE_SERVER_API_KEY: 'hush' };
    const furze = new Furze(
      ['serve', '--port', '0', '--host', '127.0.0.1', '--data', store],
      env,
      [],
      folder,
    );
    const url = (await furze.waitFor(/"url":"([^"]+)"/))[1] as string;
    expect(furze.output.split('\n')[0]).toMatch(
      /"data":"[^"]*status".*"positiveTypes":\[\],"key":"on","config":""/,
    );

    const told = await run([...STATUS, '--url', url], env);
    // The folder says where its service listens.
    const found = await run([...STATUS, '--data', store], env);
    expect([found.code, found.output.slice(0, 30)]).toEqual([0, told.output.slice(0, 30)]);
    expect(told.code).toBe(0);
    expect(told.output).toMatch(/^Ready, but nothing is learned yet/);
    expect(told.output).toContain('error: No positive feedback types are configured.');
    const { code, output } = await run([...STATUS, '--url', `${url}/`, '--json'], env);
    expect([code, JSON.parse(output).Service.HasKey]).toEqual([0, true]);
    const answer = await fetch(`${url}/api/admin/config`, { headers: { 'X-API-Key': 'hush' } });
    const { Keys } = (await answer.json()) as { Keys: { Key: string; Source: string }[] };
    const sourceOf = (key: string) => Keys.find(({ Key }) => Key === key)?.Source;
    expect([sourceOf('server.port'), sourceOf('server.api_key'), sourceOf('server.max_n')]).toEqual([
      'command line',
      'environment',
      'default',
    ]);

    const keyless = await run([...STATUS, '--url', url]);
    expect([keyless.code, keyless.output]).toEqual([
      2,
      `furze: ${url} asks for its key; set FURZE_SERVER_API_KEY.\n`,
    ]);

    const port = new URL(url).port;
    const taken = await run([
      'serve',
      '--port',
      port,
      '--data',
      join(folder, 'taken'),
      '--host',
      '127.0.0.1',
    ]);
    expect(taken.code).toBe(1);
    expect(taken.output).toContain(`furze: port ${port} of 127.0.0.1 is taken by another process`);
    expect(taken.output).not.toMatch(/^ {4}at /m);
    // Nothing was loaded before it was said.
    expect(taken.output).not.toMatch(/opened the data|worker threads|"level":"error"/);

    expect(await furze.stop('SIGTERM')).toBe(0);
    const gone = await run([...STATUS, '--url', url], env);
    expect(gone.code).toBe(2);
    expect(gone.output).toContain('does not answer (ECONNREFUSED); is the service running there?');
  });

  it('exits 1 when the service is not ready, and tells what ranks and what came next to it', async () => {
    const Quality = { Mean: 0.25, HalfWidth: 0.01 };
    const way = (Name: string, Mean: number) => ({ Name, Quality: { ...Quality, Mean } });
    const summary = {
      Sentence: 'Not ready. The data store does not answer.',
      Ready: false,
      Users: 3,
      Items: 4,
      Feedback: 5,
      PositiveFeedback: 2,
      Troubles: [],
      Model: {
        Generation: 7,
        Quality: {},
        Bytes: 0,
        Choice: {
          Users: 1200,
          Chosen: 'popular, half-life 2 d',
          Reason: 'blend_of 3 is ahead of it by 0.010 ± 0.020',
          Ways: [way('blend of 3', 0.26), way('popular, half-life 2 d', 0.25), way('latest', 0.1)],
        },
      },
    };
    const server = createServer((_request, response) => response.end(JSON.stringify(summary)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const { code, output } = await run([...STATUS, '--url', `http://127.0.0.1:${port}`]);
      expect(code).toBe(1);
      expect(output).toMatch(/^Not ready\. The data store does not answer\.\n/);
      expect(output).toContain(
        'ranked by popular, half-life 2 d, chosen on the held-out feedback of 1,200 users (NDCG@10)\n' +
          '    (blend of 3 is ahead of it by 0.010 ± 0.020)\n' +
          '    0.250 ± 0.010 popular, half-life 2 d\n    0.260 ± 0.010 blend of 3\n    0.100 ± 0.010 latest\n',
      );
    } finally {
      server.close();
    }
  });

  it.each([
    [404, 'text/html', '<!doctype html>\n<title>a shop</title>\n'],
    [200, 'text/html', '<!doctype html>\n<title>a shop</title>\n'],
    [200, 'application/json', '{"status":"ok"}'],
    [500, 'application/json', '[1]'],
  ])('says that what answers %i with %s is not furze', async (status, type, body) => {
    const server = createServer((_request, response) =>
      response.writeHead(status, { 'Content-Type': type, 'X-Request-ID': '1' }).end(body),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, output } = await run([...STATUS, '--url', url]);
      const said = `furze: what answers at ${url} is not furze (its status is ${status})\n`;
      expect([code, output]).toEqual([2, said]);
    } finally {
      server.close();
    }
  });

  it('says that events are counted where there are more than records', async () => {
    const counts = { Ready: true, Users: 1, Items: 1, Feedback: 2, PositiveFeedback: 3, Troubles: [] };
    const server = createServer((_request, response) =>
      response.end(JSON.stringify({ ...counts, Sentence: 'Ready.' })),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { output } = await run([...STATUS, '--url', url]);
      expect(output).toBe('Ready.\n  1 user, 1 item, 2 feedback (3 positive, each event counted)\n');
    } finally {
      server.close();
    }
  });

  it('says that this machine has not the address', async () => {
    const { code, output } = await run([
      'serve',
      '--host',
      '192.0.2.1',
      '--port',
      '0',
      '--data',
      join(folder, 'far'),
    ]);
    expect(code).toBe(1);
    expect(output).toContain('furze: this machine has no address 192.0.2.1');
  });
});
