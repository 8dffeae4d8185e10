import { OperatorError } from '../../../domain/operator-error.ts';
import { inspectFile } from './file-head.ts';

/** @throws OperatorError when the folder has a store already: nothing is ever written over */
export function refuseExisting(target: string): void {
  if (inspectFile(target).kind === 'absent') return;
  throw new OperatorError(
    `There is a data store in ${target} already. Nothing is written over it; name an empty folder.`,
  );
}
