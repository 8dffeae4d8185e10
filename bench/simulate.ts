// npm run bench:simulate [-- --seed N]: load, loss of nodes and growth over a year, from measured slopes (bench/cluster/simulation.ts).
import { parseArgs } from 'node:util';
import { type Machines, type Site, simulate } from './cluster/simulation.ts';

const { values: options } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });
const seed = Number(options.seed);

const BILLION: Site = {
  name: 'a billion',
  users: 50e6,
  items: 5e6,
  feedback: 1e9,
  activeShare: 0.2,
  reads: 20_000,
  writes: 300,
  growth: 0.5,
};
const TEN_BILLION: Site = {
  ...BILLION,
  name: 'ten billion on Citus',
  users: 500e6,
  items: 50e6,
  feedback: 10e9,
  reads: 200_000,
  writes: 3000,
};
const ONE_DATABASE = { databases: 1, databaseCores: 16, serverCores: 2, hasCopies: true };
const CITUS: Omit<Machines, 'servers'> = {
  databases: 16,
  databaseCores: 16,
  serverCores: 8,
  hasCopies: false,
};

const CASES: readonly (readonly [Site, Machines, number])[] = [
  [BILLION, { ...ONE_DATABASE, servers: 2 }, 0],
  [BILLION, { ...ONE_DATABASE, servers: 3 }, 0],
  [BILLION, { ...ONE_DATABASE, servers: 3 }, 2],
  [BILLION, { ...ONE_DATABASE, servers: 4 }, 2],
  [TEN_BILLION, { ...CITUS, servers: 8 }, 0],
  [TEN_BILLION, { ...CITUS, servers: 9 }, 0],
  [TEN_BILLION, { ...CITUS, servers: 16 }, 2],
];

const gb = (bytes: number) => (bytes / 1e9).toFixed(0);
const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
console.log(
  '| Site | After | Servers | PostgreSQL, GB | A copy, GB | Redis, GB | A new server is ready after | Servers at the peak | PostgreSQL at the peak | Its order of commits | Lost a year | Minutes short | Writes refused |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|---|---|---|');
for (const [site, machines, years] of CASES) {
  const found = simulate(site, machines, years, seed);
  const cells = [
    site.name,
    `${years} years`,
    `${machines.servers} × ${machines.serverCores} cores`,
    gb(found.postgresBytes),
    gb(found.copyBytes),
    gb(found.redisBytes),
    `${Math.ceil(found.firstCopySeconds / 60)} min`,
    percent(found.serverShare),
    percent(found.databaseShare),
    percent(found.orderShare),
    found.losses,
    found.shortMinutes,
    `${found.refusedSeconds.toFixed(0)} s`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
