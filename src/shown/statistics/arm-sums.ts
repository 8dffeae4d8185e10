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

  get pastVariance(): number {
    return Math.max(0, this.pastSquares / Math.max(1, this.users) - this.pastMean ** 2);
  }

  /** Outcome for each unit of the past, by least squares; 0 where all have the same past. */
  get slope(): number {
    const { pastVariance, users } = this;
    // Of sums that are equal but for rounding.
    if (pastVariance <= 1e-12 * this.pastMean ** 2) return 0;
    return (this.products / users - this.outcomeMean * this.pastMean) / pastVariance;
  }

  /** Variance of the outcome around the line through the past, without bias. */
  get residualVariance(): number {
    const { users, slope } = this;
    const total = this.outcomeSquares / Math.max(1, users) - this.outcomeMean ** 2;
    const left = Math.max(0, total - slope ** 2 * this.pastVariance);
    return (left * users) / Math.max(1, users - 2);
  }
}
