import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/config.ts';
import { createLogger, textLines } from '../../src/platform/log/log.ts';
import { LogOutput } from '../../src/platform/log/log-output.ts';

function logged(level: string, action: (log: ReturnType<typeof createLogger>) => void): string {
  let text = '';
  action(createLogger(level, { write: (line: string) => void (text += line) }));
  return text;
}

describe('the log', () => {
  it('writes one JSON object a line with time, level and message', () => {
    const line = JSON.parse(logged('info', (log) => log.info({ port: 1 }, 'listening'))) as Record<
      string,
      unknown
    >;
    expect(line).toMatchObject({ level: 'info', msg: 'listening', port: 1 });
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('leaves out what lies below its level', () => {
    expect(logged('warn', (log) => log.info('quiet'))).toBe('');
  });

  it('masks secrets wherever the configuration or a request stands', () => {
    const config = defaultConfig({ server: { api_key: 'hush' } });
    const text = logged('info', (log) => {
      log.info({ config });
      log.info(config.server);
      log.info({ headers: { 'x-api-key': 'hush', authorization: 'Bearer hush' } });
      log.info({ request: { headers: { 'x-api-key': 'hush', authorization: 'Bearer hush' } } });
    });
    expect(text).not.toContain('hush');
    expect(text).toContain('[secret]');
  });
});

describe.skipIf(process.platform !== 'linux')('a log that cannot be written', () => {
  it('stops nobody on a full disk', () => {
    const file = openSync('/dev/full', 'w');
    const output = new LogOutput(file);
    for (let line = 0; line < 100; line++) output.write('a line\n');
    closeSync(file);
    // Nor where it is closed.
    output.write('a line\n');
  });

  it('loses whole lines of a pipe that nobody reads, and says how many', () => {
    const folder = mkdtempSync(join(tmpdir(), 'furze-log-'));
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    const read = () => {
      const bytes = Buffer.alloc(2 ** 20);
      return bytes.toString('latin1', 0, readSync(reader, bytes));
    };
    const output = new LogOutput(writer);
    const line = (at: number) => `${String(at).padStart(4, '0')} ${'x'.repeat(10_000)}\n`;
    for (let at = 0; at < 50; at++) output.write(line(at));
    let text = read();
    output.write(line(50));
    output.write(line(51));
    text += read();
    const lines = text.trimEnd().split('\n');
    const told = lines.findIndex((each) => each.startsWith('{'));
    expect(JSON.parse(lines[told]!)).toMatchObject({
      level: 'warn',
      lines: 50 - told,
      msg: expect.stringContaining('EAGAIN'),
    });
    expect([...lines.slice(0, told), ...lines.slice(told + 1)].map((each) => `${each}\n`)).toEqual([
      ...Array.from({ length: told }, (_, at) => line(at)),
      line(50),
      line(51),
    ]);
    closeSync(reader);
    closeSync(writer);
    rmSync(folder, { recursive: true });
  });
});

describe('lines for people', () => {
  const lineOf = (hasColors: boolean, action: (log: ReturnType<typeof createLogger>) => void) => {
    let text = '';
    const render = textLines(hasColors);
    action(createLogger('trace', { write: (line: string) => void (text += render(line)) }));
    return text;
  };

  it('tell time, level, message and values in one line', () => {
    const text = lineOf(false, (log) =>
      log.info({ url: 'http://a/b', took: 3, of: { a: 'b c' }, no: 'a b' }, 'listening'),
    );
    expect(text).toMatch(
      /^\d\d:\d\d:\d\d INFO {2}listening url=http:\/\/a\/b took=3 of=\{"a":"b c"\} no="a b"\n$/,
    );
  });

  it('have the stack of an error below', () => {
    const text = lineOf(false, (log) => log.error({ err: new Error('broken') }, 'the fit failed'));
    expect(text).toMatch(/^\S+ ERROR the fit failed\n {2}Error: broken\n {6}at /);
  });

  it('keep what callers send from making lines and from speaking to the terminal', () => {
    const evil = 'x\n12:00:00 FATAL forged\u001b[2J\u009b\u2028';
    const text = lineOf(false, (log) => log.warn({ id: evil }, evil));
    expect(text.trimEnd()).not.toMatch(/[\n\p{C}\u2028]/u);
    expect(lineOf(false, (log) => log.warn({ err: new Error(evil) })).split('\n')[2]).not.toMatch(/^\d/);
  });

  it('have colors where they are asked for, and secrets nowhere', () => {
    expect(lineOf(true, (log) => log.warn('look'))).toContain('\u001b[33mWARN \u001b[0m');
    expect(lineOf(false, (log) => log.warn({ api_key: 'hush' }, 'look'))).toMatch(/api_key=\[secret\]\n$/);
  });
});
