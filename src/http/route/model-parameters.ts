import type { AskedModel } from '../../background/generation/given-models.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import { FOLDS } from '../../model/part/given-model.ts';

/** Query parameters of whoever puts a model of another tool. */
export type ModelParameter = 'piece' | 'fold' | 'regularization' | 'unobserved-weight' | 'judged-by' | 'use';

/** Pieces that a file may come in. */
const PIECES_MAX = 1000;
const PENALTY_MAX = 1e12;

/**
 * Writes a parameter into a query. @param id the value as an id
 * @throws FurzeError INVALID_PARAMETER
 */
export function assignModel(
  query: { -readonly [Key in keyof AskedModel]: AskedModel[Key] },
  name: ModelParameter,
  value: string,
  id: () => string,
): void {
  switch (name) {
    case 'piece':
      query.piece = parsePiece(value);
      return;
    case 'fold':
      query.fold = FOLDS.find((fold) => fold === value) ?? refuse(name, `must be one of ${FOLDS.join(', ')}`);
      return;
    case 'regularization':
      query.regularization = parsePenalty(value, name);
      return;
    case 'unobserved-weight':
      query.unobservedWeight = parsePenalty(value, name);
      return;
    case 'judged-by':
      query.judgedBy = id();
      return;
    case 'use':
      query.isUsed = parseFlag(value, name);
  }
}

/** @throws FurzeError INVALID_PARAMETER */
export function parseFlag(value: string, name: string): boolean {
  return value === 'true' || (value !== 'false' && refuse(name, 'must be true or false'));
}

function parsePiece(value: string): NonNullable<AskedModel['piece']> {
  const [, number, of, upload] = /^(\d{1,4}):(\d{1,4}):([\w-]{1,64})$/.exec(value) ?? [];
  const piece = { number: Number(number), of: Number(of), upload: upload! };
  const isSound = piece.number >= 1 && piece.number <= piece.of && piece.of <= PIECES_MAX;
  return isSound ? piece : refuse('piece', `must be as 2:5:name, of at most ${PIECES_MAX} pieces`);
}

function parsePenalty(value: string, name: string): number {
  const number = /^[\d.][\d.e-]*$/i.test(value) ? Number(value) : Number.NaN;
  return number >= 0 && number <= PENALTY_MAX
    ? number
    : refuse(name, `must be a number from 0 to ${PENALTY_MAX}`);
}

/** @throws FurzeError INVALID_PARAMETER, always */
function refuse(path: string, message: string): never {
  throw new FurzeError('INVALID_PARAMETER', `${path} ${message}.`, [{ path, message }]);
}
