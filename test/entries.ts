/** Where a thread or a process begins. */
export const ENTRIES = [
  'src/main.ts',
  'src/threads/worker-entry.ts',
  'src/store/lmdb/writer-thread.ts',
  'src/store/postgres/replica-thread.ts',
  'src/store/lmdb/check/check-child.ts',
  'src/store/lmdb/tables/opening-child.ts',
  'src/evaluate/evaluation-process-entry.ts',
];
