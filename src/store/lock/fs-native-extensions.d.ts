/** The part of the package that the folder lock uses; it brings no typings. */
declare module 'fs-native-extensions' {
  /**
   * Takes the kernel's exclusive lock on a range of an open file. It is let go with the last descriptor of that opening,
   * so with the process at the latest.
   * @returns false when another opening of the file holds it, in this process or in another
   */
  export function tryLock(fd: number, offset: number, length: number): boolean;
}
