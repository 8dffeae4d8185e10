import { number, period, text } from './schema-types.ts';

/** The keys of `[server]` that say what connections may take, memory and time, and how they are secured. */
export const connectionKeys = {
  ssl_cert: text('', 'File with the certificate, and those that it hangs on, in PEM; empty for plain HTTP.'),
  ssl_key: text('', 'File with the private key of ssl_cert, in PEM without a passphrase.'),
  max_bodies_mb: number(
    256,
    1,
    1_048_576,
    'Memory for the bodies of all requests under way, in MiB; beyond it requests are answered 503.',
  ),
  max_answers_mb: number(
    256,
    1,
    1_048_576,
    'Memory for long answers that their callers have not taken yet, in MiB; beyond it requests are answered 503.',
  ),
  body_timeout: period(
    '7s',
    'Time in which a body must bring 16 KiB for each second or end; a slower one is answered 408. uWebSockets.js closes such a connection after 8 to 12 seconds whatever is set.',
  ),
  send_timeout: period(
    '10s',
    'Time in which a caller must take 16 KiB of a long answer for each second, or its end; a slower one is cut off.',
  ),
  keep_alive_timeout: period(
    '65s',
    'How long a connection may rest between two requests, over node:http; longer than proxies keep theirs, so that none is closed under a request. uWebSockets.js has 10 seconds.',
  ),
  shutdown_timeout: period(
    '10s',
    'How long stopping may take; what is still under way then is cut off. Every acknowledged write is safe.',
  ),
};
