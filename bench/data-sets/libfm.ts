import { finiteNumber, lines, refuseLine, rowNumber } from './lines.ts';

/** Examples as sparse rows of features; a target is 1 for positive and 0 otherwise. */
export interface FeatureRows {
  readonly targets: Float32Array;
  readonly starts: Uint32Array;
  readonly features: Uint32Array;
  readonly values: Float32Array;
  /** One more than the highest feature number. */
  readonly featureCount: number;
}

/**
 * Reads the libfm (also libsvm) form: `label index:value ...` a line. A label above 0 is positive, so that
 * -1 / 1 and 0 / 1 files read alike.
 * @throws FurzeError BAD_REQUEST that names the line
 */
export function parseLibfm(text: string): FeatureRows {
  const targets: number[] = [];
  const starts: number[] = [0];
  const features: number[] = [];
  const values: number[] = [];
  let featureCount = 0;
  for (const { number, line } of lines(text)) {
    const fields = line.trim().split(/\s+/);
    targets.push(finiteNumber(fields[0], number) > 0 ? 1 : 0);
    for (const field of fields.slice(1)) {
      const colon = field.indexOf(':');
      if (colon < 0) refuseLine(number, `"${field}" is no index:value`);
      const feature = rowNumber(field.slice(0, colon), number);
      features.push(feature);
      values.push(finiteNumber(field.slice(colon + 1), number));
      featureCount = Math.max(featureCount, feature + 1);
    }
    starts.push(features.length);
  }
  return {
    targets: Float32Array.from(targets),
    starts: Uint32Array.from(starts),
    features: Uint32Array.from(features),
    values: Float32Array.from(values),
    featureCount,
  };
}
