import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiledSources } from './test/compiled/sources.ts';
import { findPrograms } from './test/servers/postgres.ts';
import { V8_FLAGS } from './test/v8-flags.ts';

/** What every project of tests has; the global set-up is the root's, which runs once. */
const common = {
  setupFiles: ['test/compiled/use.ts'],
  // No test comes near these on a machine that is much slower and stalls for seconds; one that hangs ends by them.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 300_000 } },
  pool: 'forks' as const,
  execArgv: [...V8_FLAGS],
};

/**
 * Files that come after one another in a process share what they import, and the code that is compiled by then. Some dozens do: where
 * three hundred did, one waited for ever for an answer to `fetch`, another one each time.
 */
const shared = { ...common, isolate: false };

const plugins = [compiledSources()];

/** Tests that put another module in a source's place, which reads them one by one for it. */
const MOCKED = ['test/http/{telemetry,dashboard-without-handles}.test.ts', 'test/kernel/missing.test.ts'];

/** Tests of what serves nothing: many files share a process. */
const PURE = [
  'test/{admin,bench,config,dashboard,dataset,domain,evaluate,exchange,kernel,memory,model,platform,quality,recommend,shown,store,threads}/**/*.test.ts',
];

/** Files there that serve after all or start processes, and all that change what belongs to a whole process or measure what it holds. */
const ALONE = [
  'test/admin/{evaluation-process,import-tasks}.test.ts',
  'test/background/{service-fits,worker-pool}.test.ts',
  'test/cli/init-questions.test.ts',
  'test/http/outflow.test.ts',
  'test/kernel/relaxed-simd.test.ts',
  'test/memory/garbage-collection.test.ts',
  'test/platform/machine.test.ts',
  'test/recommend/{in-effect,label-sums,request-filter,saved-counts,states,taken-back}.test.ts',
  'test/recommend/lists/list-versions.test.ts',
  'test/recommend/placements/trained-placements.test.ts',
  'test/store/{crash,folder-lock,hidden-commits,id-rows,live-compaction,long-walks,shown-log,trouble,unfinished-copies,write-error-text}.test.ts',
];

/** Whole fits and long searches, each of some seconds or more: `npm run test:long` and `.ci/run` run them. They share processes. */
const LONG = [
  'test/admin/job-races.test.ts',
  'test/evaluate/replay.test.ts',
  'test/exchange/round-trip.test.ts',
  'test/http/{models,never-shown,vector-lists}.test.ts',
  'test/kernel/heads.test.ts',
  'test/model/threads.test.ts',
  'test/recommend/{answers,choose-ranking,crawler,merge-order,pipeline,reasons,service,sessions-of-a-shop}.test.ts',
  'test/recommend/lists/{answer-cache,lists-that-live}.test.ts',
  'test/store/{data-store,property}.test.ts',
  'test/background/{fit-pipeline,generation-fit,list-pass,live-rows,search}.test.ts',
];

/** The same of whole commands, and of what measures its process or has one to itself. */
const COMMANDS = [
  'test/cli/{admin-memory,backup,bad-input,clumsy-operator,commands,documented-commands,evaluate,exchange,full-disk,hostile-folders,init,playground,supervise,tutorial,without-native-engine}.test.ts',
  'test/clients/compiled.test.ts',
  'test/deploy/{drain-of-clients,smuggling-behind-proxies,what-proxies-pass}.test.ts',
  'test/model/throw-away-model.test.ts',
  'test/scripts/release.test.ts',
  'test/recommend/cache-memory.test.ts',
  'test/background/stopped-pass.test.ts',
];

/** What runs over servers that are started for the run: PostgreSQL, Redis. Stores over them share processes, and serve nothing. */
const SERVICES_OVER_SERVERS = ['test/servers/**/*.test.ts'];
const STORES_OVER_SERVERS = ['test/store/{postgres,redis,s3}/**/*.test.ts'];
const SERVERS = [...SERVICES_OVER_SERVERS, ...STORES_OVER_SERVERS];

/** Tests of HTTP that start no service, so that they are the same over any store. */
const STORELESS =
  'test/http/{body-reader,entity-texts,flow,list-reply,model-metrics,outflow,page-reply,quick-paths,request-pipeline,smuggling,tls,transport}.test.ts';

/** The tests of HTTP with the data in PostgreSQL, where there is one. */
const OVER_POSTGRES =
  findPrograms() === undefined
    ? []
    : [
        {
          plugins,
          test: {
            ...shared,
            name: 'http-postgres',
            include: ['test/http/**/*.test.ts', 'test/clients/gorsejs.test.ts'],
            exclude: [STORELESS, ...MOCKED, 'test/http/{access,engine-choice}.test.ts'],
            env: { TEST_STORE: 'postgres' },
            globalSetup: ['test/servers/setup.ts'],
          },
        },
        {
          // Over a server and a worker, which share PostgreSQL and Redis.
          plugins,
          test: {
            ...shared,
            name: 'http-split',
            include: [
              'test/http/{feedback,items,lists,operation,users}.test.ts',
              'test/clients/gorsejs.test.ts',
            ],
            env: { TEST_STORE: 'split' },
            globalSetup: ['test/servers/setup.ts'],
          },
        },
      ];

/** Begins with what takes longest: a long file that is the last one leaves a core idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = ({ project }: TestSpecification) =>
      !['long', 'commands', 'servers', 'engines'].includes(project.name);
    return (await super.sort(files)).sort((a, b) => Number(isShort(a)) - Number(isShort(b)));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/compiled/compile.ts'],
    // Twice two cores, since tests wait for disks, timers and processes for much of their time.
    maxWorkers: 4,
    // Servers of the run end and their folders are removed after the last test.
    teardownTimeout: 300_000,
    projects: [
      {
        plugins,
        test: {
          ...shared,
          name: 'furze',
          include: ['test/**/*.test.ts'],
          exclude: [...LONG, ...COMMANDS, ...SERVERS, ...MOCKED, ...ALONE, ...PURE],
        },
      },
      {
        plugins,
        test: {
          ...shared,
          name: 'pure',
          include: PURE,
          exclude: [...LONG, ...COMMANDS, ...SERVERS, ...MOCKED, ...ALONE],
        },
      },
      { plugins, test: { ...common, name: 'alone', include: ALONE } },
      { test: { ...common, name: 'mocked', include: MOCKED } },
      { plugins, test: { ...shared, name: 'long', include: LONG } },
      { plugins, test: { ...common, name: 'commands', include: COMMANDS } },
      {
        plugins,
        test: {
          ...common,
          name: 'servers',
          include: SERVICES_OVER_SERVERS,
          globalSetup: ['test/servers/setup.ts'],
        },
      },
      {
        plugins,
        test: {
          ...shared,
          name: 'engines',
          include: STORES_OVER_SERVERS,
          globalSetup: ['test/servers/setup.ts'],
        },
      },
      ...OVER_POSTGRES,
      {
        // The same over node:http, which serves where no native engine loads.
        plugins,
        test: {
          ...shared,
          name: 'node-http',
          include: ['test/http/**/*.test.ts'],
          exclude: [
            ...MOCKED,
            // What no engine has a part in.
            'test/http/{body-reader,engine-choice,entity-texts,list-reply,model-metrics,outflow,page-reply,quick-paths}.test.ts',
            // What reads, fits and experiments come to.
            'test/http/{experiments,first-reads,models,never-shown,placement-report,two-rankings,vector-lists}.test.ts',
          ],
          env: { TEST_HTTP_ENGINE: 'node' },
        },
      },
    ],
  },
});
