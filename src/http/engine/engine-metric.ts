import type { Registry } from 'prom-client';
import { gauge } from '../metrics/gauge.ts';
import type { EngineChoice } from './engine-choice.ts';

/** Which engine serves and why, as labels of a metric that is always 1. */
export function registerEngine(registry: Registry, { name, why }: Pick<EngineChoice, 'name' | 'why'>): void {
  const help = 'The engine that speaks HTTP, uws or node, and why it was chosen';
  gauge(registry, 'furze_http_engine_info', help, () => [[{ engine: name, why }, 1]], ['engine', 'why']);
}
