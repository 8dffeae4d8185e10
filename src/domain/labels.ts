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
  const fault = collect(given, texts);
  if (fault !== undefined) throw refuseBody(place, fault);
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

/** @returns what cannot be given back as it was, in words */
function collect(value: Json, texts: Set<string>): string | undefined {
  if (typeof value === 'string') texts.add(value);
  if (typeof value === 'number' && !Number.isFinite(value))
    return 'must hold no number beyond 64-bit floating point';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, child] of Object.entries(value)) {
    if (!name.isWellFormed()) return 'must have names of well-formed Unicode';
    const fault = collect(child, texts);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
