import { getOrPut } from '../../domain/get-or-put.ts';
import { hashText } from '../../domain/hash.ts';
import type { ListBasis } from '../../store/cache-store.ts';
import type { TypeTest } from '../history/counts-as-positive.ts';
import type { History } from '../history/history.ts';
import type { ListSettings } from '../sources/list-settings.ts';

/** The ground of lists beside the user's feedback and the generation. */
export interface ListGround {
  readonly settings: ListSettings;
  readonly positiveTypes: readonly string[];
  readonly positiveTtlMs: number;
}

/**
 * Tells what lists are made from, where several nodes make them: a list is as of now where its basis is that of the user's
 * history. So nobody has to be told of changes, and a list that is lost or late costs its making alone.
 */
export class ListVersions {
  readonly settings: number;
  private readonly counts: TypeTest;
  private readonly typeNames: () => readonly string[];
  private readonly digests = new Map<string, number>();

  /** @param typeNames names of feedback types by number, which nodes give in different orders */
  constructor(ground: ListGround, isPositive: TypeTest, typeNames: () => readonly string[]) {
    this.settings = hashText(JSON.stringify([ground.settings, ground.positiveTypes, ground.positiveTtlMs]));
    this.counts = marksLists(ground.settings, isPositive);
    this.typeNames = typeNames;
  }

  /** The basis of a list that is made of the history now. */
  basisOf(history: History): ListBasis {
    return { version: this.versionOf(history), settings: this.settings };
  }

  /** True when the list was made from this feedback. */
  isOf(history: History, basis: ListBasis | undefined): boolean {
    return basis?.settings === this.settings && basis.version === this.versionOf(history);
  }

  private versionOf(history: History): number {
    const names = this.typeNames();
    return history.digest(this.counts, (type) => this.digestOf(names[type] ?? ''));
  }

  private digestOf(name: string): number {
    return getOrPut(this.digests, name, () => hashText(name));
  }
}

/** The feedback types after which a user's list is another: where what was read comes back, any. */
export function marksLists({ replacement }: ListSettings, isPositive: TypeTest): TypeTest {
  return replacement === undefined ? isPositive : () => true;
}
