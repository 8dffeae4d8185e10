import { Gauge, type Registry } from 'prom-client';

type Labelled = readonly [labels: Readonly<Record<string, string>>, value: number];

/**
 * Adds a gauge that is worked out when the metrics are asked for.
 * @param value a number, several with their labels, or undefined for none: a gauge that was never set tells 0, which is a
 *   value like another
 */
export function gauge(
  registry: Registry,
  name: string,
  help: string,
  value: () => Value | Promise<Value>,
  labelNames: readonly string[] = [],
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const known = await value();
      if (labelNames.length > 0) this.reset();
      else this.remove();
      if (typeof known === 'number') this.set(known);
      else for (const [labels, each] of known ?? []) this.set(labels, each);
    },
  });
}

type Value = number | undefined | readonly Labelled[];
