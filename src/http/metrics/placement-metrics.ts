import { Counter, type Registry } from 'prom-client';
import type { PlacementCountName, PlacementCounts } from '../../recommend/placements/placement-counts.ts';

const METRICS: readonly (readonly [PlacementCountName, name: string, help: string])[] = [
  ['lists', 'furze_placement_lists_total', 'Lists of placements that were answered'],
  ['shown', 'furze_placement_shown_total', 'Items of such lists that were told to have been seen'],
  ['feedback', 'furze_placement_feedback_total', 'Feedback that named the list that it came of'],
];

/** The counts of placements, by placement and variant. */
export function registerPlacements(registry: Registry, counts: PlacementCounts): void {
  for (const [what, name, help] of METRICS)
    new Counter({
      name,
      help,
      labelNames: ['placement', 'variant'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, value } of counts.read(what)) this.inc(labels, value);
      },
    });
}
