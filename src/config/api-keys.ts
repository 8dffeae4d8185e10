import type { Config } from './schema.ts';

/** The keys that may do everything; with none, everybody may. */
export function apiKeys({ server, key }: Pick<Config, 'server' | 'key'>): string[] {
  const named = Object.values(key).filter(({ role }) => role === 'own');
  return [server.api_key, ...server.api_keys, ...named.map(({ value }) => value)].filter(
    (each) => each !== '',
  );
}
