/** Undoes things when something stops, the last first. */
export class Teardown {
  private steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  /** Undoes all that was added; a second call has nothing left to do. */
  async run(): Promise<void> {
    for (const step of this.steps.splice(0).reverse()) await step();
  }
}
