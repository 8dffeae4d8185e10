import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  availableMemoryBytes,
  availableThreads,
  type Machine,
  readCgroupLimits,
} from '../../src/platform/process/machine.ts';

const GIB = 2 ** 30;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Files by their absolute paths, in a folder that stands for `/`. */
function machineWith(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'furze-cgroup-'));
  folders.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  }
  return root;
}

const V2_MOUNT = '29 23 0:26 / /sys/fs/cgroup ro,nosuid,nodev - cgroup2 cgroup rw,nsdelegate';
const v1Mount = (controllers: string, shown: string, mountPoint = controllers) =>
  `33 31 0:30 ${shown} /sys/fs/cgroup/${mountPoint} ro,nosuid - cgroup cgroup rw,${controllers}`;

describe('limits of control groups', () => {
  it('version 2: those of a container with a namespace of its own', () => {
    const root = machineWith({
      '/proc/self/cgroup': '0::/',
      '/proc/self/mountinfo': `22 1 0:21 / /proc rw - proc proc rw\n${V2_MOUNT}`,
      '/sys/fs/cgroup/cpu.max': '250000 100000',
      '/sys/fs/cgroup/memory.max': String(2 * GIB),
    });
    expect(readCgroupLimits(root)).toEqual({ processors: 2.5, memoryBytes: 2 * GIB });
  });

  it('version 2: the least of a service and the slices that it is in', () => {
    const root = machineWith({
      '/proc/self/cgroup': '0::/system.slice/furze.service',
      '/proc/self/mountinfo': V2_MOUNT,
      '/sys/fs/cgroup/system.slice/cpu.max': '400000 100000',
      '/sys/fs/cgroup/system.slice/memory.max': String(GIB),
      '/sys/fs/cgroup/system.slice/furze.service/cpu.max': 'max 100000',
      '/sys/fs/cgroup/system.slice/furze.service/memory.max': String(3 * GIB),
    });
    expect(readCgroupLimits(root)).toEqual({ processors: 4, memoryBytes: GIB });
  });

  it('version 2: none', () => {
    const root = machineWith({
      '/proc/self/cgroup': '0::/',
      '/proc/self/mountinfo': V2_MOUNT,
      '/sys/fs/cgroup/cpu.max': 'max 100000',
      '/sys/fs/cgroup/memory.max': 'max',
    });
    expect(readCgroupLimits(root)).toEqual({ processors: undefined, memoryBytes: undefined });
  });

  it('version 1: a container that sees its path on the host, and only its own part mounted', () => {
    const root = machineWith({
      '/proc/self/cgroup': '5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/docker/abc',
      '/proc/self/mountinfo': [v1Mount('cpu,cpuacct', '/docker/abc'), v1Mount('memory', '/docker/abc')].join(
        '\n',
      ),
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '50000',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': String(GIB / 2),
    });
    expect(readCgroupLimits(root)).toEqual({ processors: 0.5, memoryBytes: GIB / 2 });
  });

  it('version 1: none', () => {
    const root = machineWith({
      '/proc/self/cgroup': '5:memory:/\n4:cpu:/',
      '/proc/self/mountinfo': `${v1Mount('cpu', '/')}\n${v1Mount('memory', '/')}`,
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712',
    });
    expect(readCgroupLimits(root)).toEqual({ processors: undefined, memoryBytes: undefined });
  });

  it('both at once: the processors by version 1 and the memory by version 2', () => {
    const root = machineWith({
      '/proc/self/cgroup': '1:cpu:/jobs\n0::/jobs',
      '/proc/self/mountinfo': `${v1Mount('cpu', '/')}\n${V2_MOUNT.replace('/sys/fs/cgroup ', '/sys/fs/cgroup/unified ')}`,
      '/sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us': '300000',
      '/sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us': '100000',
      '/sys/fs/cgroup/unified/jobs/memory.max': String(GIB),
    });
    expect(readCgroupLimits(root)).toEqual({ processors: 3, memoryBytes: GIB });
  });

  it('are none where there are no control groups', () => {
    expect(readCgroupLimits(machineWith({}))).toEqual({ processors: undefined, memoryBytes: undefined });
  });
});

describe('what the process may use', () => {
  const free: Machine = {
    processors: 64,
    totalBytes: 10 * GIB,
    constrainedBytes: undefined,
    quotaProcessors: undefined,
    quotaBytes: undefined,
  };

  it('is the machine where nothing limits it', () => {
    expect(availableThreads(free)).toBe(64);
    for (const constrainedBytes of [undefined, 0, 2 ** 63])
      expect(availableMemoryBytes({ ...free, constrainedBytes })).toBe(10 * GIB);
  });

  it('is what a quota has room for, and one thread at least', () => {
    expect(availableThreads({ ...free, quotaProcessors: 2.9 })).toBe(2);
    expect(availableThreads({ ...free, quotaProcessors: 0.2 })).toBe(1);
    expect(availableThreads({ ...free, quotaProcessors: 100 })).toBe(64);
  });

  it('is the least of the limits on memory', () => {
    const limited = { ...free, constrainedBytes: 4 * GIB, quotaBytes: 3 * GIB };
    expect(availableMemoryBytes(limited)).toBe(3 * GIB);
    expect(availableMemoryBytes({ ...limited, constrainedBytes: GIB })).toBe(GIB);
  });
});
