import { Gauge, type Registry } from 'prom-client';
import type { EngineChoice } from '../engine/engine-choice.ts';

/** Which engine serves and why, as labels of a metric that is always 1. */
export function registerEngine(registry: Registry, { name, why }: Pick<EngineChoice, 'name' | 'why'>): void {
  const metric = new Gauge({
    name: 'furze_http_engine_info',
    help: 'The engine that speaks HTTP, uws or node, and why it was chosen',
    labelNames: ['engine', 'why'],
    registers: [registry],
  });
  metric.set({ engine: name, why }, 1);
}
