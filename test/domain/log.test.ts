import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/domain/config/config.ts';
import { createLogger } from '../../src/domain/log.ts';

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
