/** The value below which the given share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** One line of the printed table: what was measured beside its reference, and their ratio beside its aim. */
export interface Row {
  readonly bench: string;
  readonly unit: string;
  readonly furze: number;
  readonly reference: string;
  readonly referenceValue: number;
  readonly ratio: number;
  readonly aim: string;
}

export function printRows(rows: readonly Row[]): void {
  const rounded = (value: number) =>
    Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
  console.table(
    rows.map(({ bench, unit, furze, reference, referenceValue, ratio, aim }) => ({
      bench,
      unit,
      furze: rounded(furze),
      reference,
      'its value': rounded(referenceValue),
      ratio: ratio.toFixed(2),
      aim,
    })),
  );
}
