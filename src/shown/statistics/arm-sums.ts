/**
 * Sums over the users of one variant: for each what came of it (`outcome`) and something of before that tells what would come anyway
 * (`past`). All that the analysis needs of them, in constant memory.
 */
export class ArmSums {
  users = 0;
  /** Users whose outcome is not 0. */
  responders = 0;
  private outcomes = 0;
  private pasts = 0;
  private outcomeSquares = 0;
  private pastSquares = 0;
  private products = 0;

  add(outcome: number, past: number): void {
    this.users++;
    if (outcome !== 0) this.responders++;
    this.outcomes += outcome;
    this.pasts += past;
    this.outcomeSquares += outcome * outcome;
    this.pastSquares += past * past;
    this.products += outcome * past;
  }

  get outcomeMean(): number {
    return this.outcomes / Math.max(1, this.users);
  }

  get pastMean(): number {
    return this.pasts / Math.max(1, this.users);
  }

  /** Sum of the squares of how far each past lies from the mean; 0 where all are equal but for rounding. */
  get pastSpread(): number {
    const spread = this.pastSquares - this.users * this.pastMean ** 2;
    return spread <= 1e-12 * this.pastSquares ? 0 : spread;
  }

  /** Sum of the products of how far outcome and past of each lie from their means. */
  get shared(): number {
    return this.products - this.users * this.outcomeMean * this.pastMean;
  }

  /** Variance of the outcome less `slope` for each unit of the past. */
  residualVariance(slope: number): number {
    const total = this.outcomeSquares - this.users * this.outcomeMean ** 2;
    const left = total - 2 * slope * this.shared + slope ** 2 * this.pastSpread;
    return Math.max(0, left) / Math.max(1, this.users - 2);
  }
}
