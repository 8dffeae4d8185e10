import { statSync } from 'node:fs';
import { OperatorError } from '../../domain/operator-error.ts';

/** Refuses a path to be read that has no end, as /dev/zero has none; what is not there is left to who reads it. @throws OperatorError */
export function refuseDevice(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isCharacterDevice() || stat?.isBlockDevice())
    throw new OperatorError(`${path} is a device; name a file.`);
}
