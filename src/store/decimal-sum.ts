/** Digits that each decimal number keeps as a floating-point number: 0.1, 0.2 and -0.3 add up to 0 within so many. */
const DIGITS = 15;
/** The most that `toFixed` takes. */
const DECIMALS_MAX = 100;

/**
 * Adds up decimal numbers as a person would on paper: what their floating-point forms are off by is taken out again, so that
 * 0.1 + 0.2 - 0.3 is 0. The running error is kept beside the sum (Neumaier, Rundungsfehleranalyse einiger Verfahren zur
 * Summation endlicher Summen, 1974), and the sum is rounded to 15 digits of all that was added, whatever its sign.
 */
export class DecimalSum {
  private sum = 0;
  private error = 0;
  private magnitude = 0;

  /** @param value finite */
  add(value: number): void {
    const sum = this.sum + value;
    const [larger, smaller] = Math.abs(this.sum) >= Math.abs(value) ? [this.sum, value] : [value, this.sum];
    this.error += larger - sum + smaller;
    this.sum = sum;
    this.magnitude += Math.abs(value);
  }

  /** Finite also where the sum of all is not: the largest number then. */
  get value(): number {
    if (!Number.isFinite(this.magnitude)) return clamp(this.sum);
    const total = this.sum + this.error;
    const decimals = this.magnitude === 0 ? 0 : DIGITS - 1 - Math.floor(Math.log10(this.magnitude));
    // Whole numbers of so many digits have no decimals that could be off, and beyond a hundred no number is meant.
    return decimals < 0 || decimals > DECIMALS_MAX ? total : Number(total.toFixed(decimals));
  }
}

function clamp(sum: number): number {
  return Number.isNaN(sum) ? 0 : Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, sum));
}
