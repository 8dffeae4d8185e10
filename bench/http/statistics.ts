/** The value below which the given share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Time by the clock and of processors that something took, all turns together. */
export class Spent {
  ms = 0;
  cpuMs = 0;

  /** Adds what a run takes. @param cpuMs processor time so far of those who do it */
  async add<T>(cpuMs: () => number, run: () => Promise<T>): Promise<T> {
    const [beganCpuMs, beganMs] = [cpuMs(), performance.now()];
    const result = await run();
    this.ms += performance.now() - beganMs;
    this.cpuMs += cpuMs() - beganCpuMs;
    return result;
  }
}

/** Processor time of this process so far, all its threads, milliseconds. */
export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
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

/** A line whose ratio is that of the two values. */
export function ratioRow(
  bench: string,
  unit: string,
  furze: number,
  reference: string,
  referenceValue: number,
  aim = '',
): Row {
  return { bench, unit, furze, reference, referenceValue, ratio: furze / referenceValue, aim };
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
