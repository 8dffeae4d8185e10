import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join, relative } from 'node:path';

/** Facts of the machine by the runtime and the control groups. */
export interface Machine {
  readonly processors: number;
  readonly totalBytes: number;
  /** Limits on memory that the runtime knows of; undefined, 0 or absurdly much for none. */
  readonly constrainedBytes: number | undefined;
  /** Processors by the quota of a container, 0.5 for half of one; undefined for no quota. */
  readonly quotaProcessors: number | undefined;
  readonly quotaBytes: number | undefined;
}

/** Resources that this process may use. Node.js 20 knows nothing of quotas of processors, newer ones of most. */
function thisMachine(): Machine {
  const { processors, memoryBytes } = readCgroupLimits();
  return {
    processors: availableParallelism(),
    totalBytes: totalmem(),
    constrainedBytes: process.constrainedMemory(),
    quotaProcessors: processors,
    quotaBytes: memoryBytes,
  };
}

/** The threads that can run at once: the processors, or the whole part of a quota of them; at least 1. */
export function availableThreads({ processors, quotaProcessors }: Machine = thisMachine()): number {
  return Math.max(1, Math.min(processors, Math.floor(quotaProcessors ?? Number.POSITIVE_INFINITY)));
}

/** The bytes of memory that the process may use: the machine's, or less in a container. */
export function availableMemoryBytes(machine: Machine = thisMachine()): number {
  const { totalBytes, constrainedBytes, quotaBytes } = machine;
  return Math.min(totalBytes, constrainedBytes || totalBytes, quotaBytes ?? totalBytes);
}

/** Limits that the control groups of a container or a service manager set for this process; undefined for no limit. */
export interface CgroupLimits {
  /** Processors, 0.5 for half of one. */
  readonly processors: number | undefined;
  readonly memoryBytes: number | undefined;
}

/** A controller as one mount shows it and the process's own group in it. */
interface Mounted {
  /** Where the hierarchy, or the part of it that a container sees, is mounted. */
  readonly mountPoint: string;
  /** The process's group relative to the mount point, `''` for the mount point itself. */
  readonly group: string;
}

/** Version 1 tells the largest number of whole pages where there is no limit. */
const UNLIMITED_BYTES = 2 ** 60;

/**
 * Reads the limits of all groups from the process's own up to the one that is mounted; the least counts. Version 2 and
 * version 1 of control groups, and both at once.
 * @param root stands for `/`
 */
export function readCgroupLimits(root = '/'): CgroupLimits {
  const groups = readText(root, 'proc/self/cgroup');
  const mounts = readText(root, 'proc/self/mountinfo');
  if (groups === undefined || mounts === undefined) return { processors: undefined, memoryBytes: undefined };
  const unified = findMounted(groups, mounts, '');
  const processors = [
    ...inGroups(root, unified, 'cpu.max', quotaV2),
    ...inGroups(root, findMounted(groups, mounts, 'cpu'), 'cpu.cfs_quota_us', quotaV1),
  ];
  const memory = [
    ...inGroups(root, unified, 'memory.max', bytes),
    ...inGroups(root, findMounted(groups, mounts, 'memory'), 'memory.limit_in_bytes', bytes),
  ];
  return { processors: least(processors), memoryBytes: least(memory) };
}

/** @param controller a controller of version 1, or `''` for version 2 */
function findMounted(groups: string, mounts: string, controller: string): Mounted | undefined {
  // hierarchy:controllers:path, see cgroups(7)
  const own = groups
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .find((match) => match?.[1]?.split(',').includes(controller));
  if (own?.[2] === undefined) return undefined;
  const path = own[2];
  for (const line of mounts.split('\n')) {
    // ... root mountPoint options - type source superOptions, see proc_pid_mountinfo(5)
    const [before = '', after = ''] = line.split(' - ');
    const [, , , shown = '/', mountPoint = ''] = before.split(' ');
    const [type, , superOptions = ''] = after.split(' ');
    const isIt =
      controller === ''
        ? type === 'cgroup2'
        : type === 'cgroup' && superOptions.split(',').includes(controller);
    if (!isIt) continue;
    // A container without a namespace of its own knows its path on the host, of which only a part is mounted.
    const group = relative(shown, path);
    return { mountPoint, group: group.startsWith('..') ? '' : group };
  }
  return undefined;
}

type Parse = (text: string, readBeside: (name: string) => string | undefined) => number | undefined;

/** The values of `file` in the process's group and in all above it. */
function inGroups(
  root: string,
  mounted: Mounted | undefined,
  file: string,
  parse: Parse,
): (number | undefined)[] {
  if (mounted === undefined) return [];
  const names = mounted.group === '' ? [] : mounted.group.split('/');
  const folders = names.map((_, at) => names.slice(0, at + 1).join('/'));
  return ['', ...folders].map((folder) => {
    const read = (name: string) => readText(root, join(mounted.mountPoint, folder, name));
    const text = read(file);
    return text === undefined ? undefined : parse(text, read);
  });
}

/** `200000 100000` or `max 100000`, in microseconds. */
function quotaV2(text: string): number | undefined {
  const [quota, period] = text.split(' ').map(Number);
  return share(quota, period);
}

/** -1 for none; the period lies beside it. */
function quotaV1(text: string, readBeside: (name: string) => string | undefined): number | undefined {
  return share(Number(text), Number(readBeside('cpu.cfs_period_us')));
}

function share(quota = Number.NaN, period = Number.NaN): number | undefined {
  return quota > 0 && period > 0 ? quota / period : undefined;
}

function bytes(text: string): number | undefined {
  const value = Number(text);
  return value > 0 && value < UNLIMITED_BYTES ? value : undefined;
}

function least(values: readonly (number | undefined)[]): number | undefined {
  const limits = values.filter((value) => value !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function readText(root: string, path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8').trim();
  } catch {
    return undefined;
  }
}
