import { readdirSync, readFileSync } from 'node:fs';

/** Ticks of /proc a second. */
const TICKS = 100;

/** Processor time of a server and its processes, those that have ended among them, milliseconds. */
export function serverCpuMs(server: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      const isServer = Number(name) === server;
      if (!isServer && Number(fields[1]) !== server) continue;
      ticks += Number(fields[11]) + Number(fields[12]);
      if (isServer) ticks += Number(fields[13]) + Number(fields[14]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return (ticks / TICKS) * 1000;
}
