import { randomFillSync } from 'node:crypto';
import { type PostgresDsn, parseDsn } from '../../src/store/dsn.ts';
import type { ModelStore } from '../../src/store/model-store.ts';
import { Connection } from '../../src/store/postgres/connection.ts';
import { ModelParts } from '../../src/store/postgres/model-parts.ts';
import { openSchema } from '../../src/store/postgres/schema.ts';
import { ModelObjects } from '../../src/store/s3/model-objects.ts';
import type { TestPostgres } from '../../test/servers/postgres.ts';
import { HAS_S3, objectPlace, startS3 } from '../../test/servers/s3.ts';
import { serverCpuMs } from './server-time.ts';

/** Of each kind, in turns, after one that is not counted. */
const ROUNDS = 5;

/** What a part of a model costs a node to put and to get: in PostgreSQL, and in a bucket beside it. Neither is encrypted. */
export async function measureModels(postgres: TestPostgres, mebibytes: number): Promise<void> {
  const dsn = parseDsn(`${postgres.url}?schema=models`) as PostgresDsn;
  const connection = await Connection.open(dsn, 'bench');
  await openSchema(connection, dsn.schema);
  const [epoch] = await connection.rows<[number]>(`SELECT epoch FROM ${dsn.schema}.generation`);
  await connection.close();
  const s3 = HAS_S3 ? await startS3() : undefined;
  const stores = [
    { name: 'PostgreSQL', store: new ModelParts(dsn, epoch![0]), put: 0, get: 0, server: 0 },
    ...(s3 === undefined
      ? []
      : [
          {
            name: 'a bucket',
            store: new ModelObjects(objectPlace(s3.newDsn(true))),
            put: 0,
            get: 0,
            server: 0,
          },
        ]),
  ];
  const bytes = randomFillSync(new Uint8Array(mebibytes * 2 ** 20));
  for (let round = 0; round <= ROUNDS; round++)
    for (const each of stores) {
      const before = serverCpuMs(postgres.processId);
      const put = await cpuSeconds(() => each.store.putBlob(`als/${round}-1-1`, bytes));
      const get = await cpuSeconds(() => read(each.store, `als/${round}-1-1`, bytes));
      if (round === 0) continue;
      each.put += put;
      each.get += get;
      each.server += (serverCpuMs(postgres.processId) - before) / 1000;
    }
  const [first] = stores;
  for (const { name, put, get, server } of stores)
    console.log(
      `a part of ${mebibytes} MiB in ${name}: processor seconds of furze ${told(put)} to put (${ratio(put, first!.put)}), ${told(get)} to get (${ratio(get, first!.get)}); of PostgreSQL ${told(server)}`,
    );
  for (const { store } of stores) await store.close();
  await s3?.stop();
}

async function cpuSeconds(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function read(store: ModelStore, name: string, bytes: Uint8Array): Promise<void> {
  const found = await store.getBlob(name);
  if (found === undefined || Buffer.compare(found, bytes) !== 0) throw new Error('other bytes came back');
}

const told = (all: number) => (all / ROUNDS).toFixed(2);
const ratio = (own: number, first: number) => (own / first).toFixed(2);
