import Type from 'typebox';

const ORIGIN = '^(\\*|https?://[^/\\s]+)$';
const HOST = '^(\\*|[\\w.-]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)$';

/** The keys of `[server]` that say which pages and hosts may ask while no key is set. */
export const callerKeys = {
  cors_origins: Type.Array(Type.String({ pattern: ORIGIN }), {
    default: [],
    uniqueItems: true,
    description:
      'Origins whose pages may write when no key is set, such as "https://shop.example"; "*" for all. Pages of other origins may only read. With a key set every origin may ask, as each request needs the key.',
  }),
  hosts: Type.Array(Type.String({ pattern: HOST }), {
    default: [],
    uniqueItems: true,
    description:
      'Host names, without a port, by which the service answers when no key is set, such as "furze.internal"; "*" for all. Loopback names and addresses always count, and every address where the service listens beyond loopback. With a key set any name will do.',
  }),
};
