import { parentPort } from 'node:worker_threads';
import { automaticChoice } from '../../src/kernel/load-kernels.ts';

parentPort?.postMessage(automaticChoice());
