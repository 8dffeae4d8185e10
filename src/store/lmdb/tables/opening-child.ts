import { Engine } from './engine.ts';

/* A process of its own that opens an environment and closes it; see `showNewestCommit`. */
await new Engine(process.argv[2]!, 0, { readOnly: true }).close();
