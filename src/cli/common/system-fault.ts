/** Of a path, by the code of the system. */
const SYSTEM_FAULTS: Readonly<Record<string, string>> = {
  EACCES: 'is not for this user to read or write',
  EPERM: 'is not for this user to read or write',
  EROFS: 'is on a file system that is only read',
  ENOENT: 'is not there',
  EEXIST: 'is a file, where a folder is needed',
  ENOTDIR: 'goes by way of a file, where a folder is needed',
  EISDIR: 'is a folder, where a file is needed',
  ENOSPC: 'has no room left on its disk',
  EDQUOT: 'has no room left in the quota of this user',
};

/**
 * A sentence for the system's error about a file or a folder that a command needs.
 * @param path for an error that names none, as that of reading a folder
 * @returns undefined for any other fault
 */
export function systemFault(error: unknown, path?: string): string | undefined {
  const { code = '', path: named = path, syscall } = error as NodeJS.ErrnoException;
  const words = SYSTEM_FAULTS[code];
  return words && named && syscall && `${named} ${words} (${code}: ${syscall})`;
}
