import type { Ranked } from '../ranked.ts';
import type { Ask, Source, SourceName } from './source.ts';

/** All recommenders by name. */
export class Sources {
  private readonly byName: Readonly<Record<SourceName, Source>>;

  constructor(byName: Readonly<Record<SourceName, Source>>) {
    this.byName = byName;
  }

  async rank(name: SourceName, ask: Ask): Promise<Ranked> {
    return this.byName[name].rank(ask);
  }
}
