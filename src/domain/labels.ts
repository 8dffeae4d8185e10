import { type Place, refuseBody } from './field-checks.ts';
import type { Limits } from './request-limits.ts';

/** Anything that JSON can write. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface LabelFields {
  /** The texts that are compared. */
  readonly Labels: readonly string[];
  /** The labels as the caller wrote them, where that was more than a list of texts. */
  readonly LabelsAsGiven?: Json;
}

/**
 * Takes labels of any form, as clients of Gorse 0.5 send them: what is compared are the texts in them, at any depth.
 * Names in objects, numbers and the rest are kept and given back, and not compared.
 * @throws FurzeError INVALID_BODY when there are too many or they are too long
 */
export function takeLabels(given: Json, place: Place, limits: Limits): LabelFields {
  if (isTexts(given)) return { Labels: given };
  const bytesMax = limits.labelsMax * limits.labelBytesMax;
  if (Buffer.byteLength(JSON.stringify(given)) > bytesMax) {
    throw refuseBody(place, `must be at most ${bytesMax} bytes of JSON`);
  }
  const texts = new Set<string>();
  if (!collect(given, texts)) throw refuseBody(place, 'must hold no number beyond 64-bit floating point');
  return { Labels: [...texts], LabelsAsGiven: given };
}

/** A user or an item as it is answered: its labels as they were given. */
export function withGivenLabels<T extends LabelFields>(entity: T): object {
  if (entity.LabelsAsGiven === undefined) return entity;
  const { LabelsAsGiven: Labels, ...rest } = entity;
  return { ...rest, Labels };
}

function isTexts(given: Json): given is readonly string[] {
  return Array.isArray(given) && given.every((entry) => typeof entry === 'string');
}

/** @returns false where a number is none that JSON can give back, as of `1e999` */
function collect(value: Json, texts: Set<string>): boolean {
  if (typeof value === 'string') texts.add(value);
  else if (typeof value === 'number') return Number.isFinite(value);
  else if (typeof value === 'object' && value !== null)
    return Object.values(value).every((child) => collect(child, texts));
  return true;
}
