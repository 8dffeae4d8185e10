import { FurzeError } from '../../../domain/furze-error.ts';
import type { FeedbackEdit, TypeRoles } from '../../pair-merge.ts';
import { FEEDBACK_TYPES_MAX, packTimeLow, packTypeAndTime } from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import type { WriteRules } from '../tables/writer-messages.ts';
import { TablesApplier } from '../writer/tables-applier.ts';
import type { SortedRuns } from './sorted-runs.ts';
import type { ValuesAndCommentsFile } from './values-and-comments-file.ts';

/** Fields that edits of one kind have in common. */
export type EditClass = Pick<FeedbackEdit, 'kind' | 'type' | 'isPositive'>;

/** Applies commands as any applier does, but puts feedback by to be sorted. */
export class SortingApplier extends TablesApplier {
  private readonly runs: SortedRuns;
  private readonly notes: ValuesAndCommentsFile;
  private readonly classes: EditClass[];
  private readonly numbers = new Map<number, number>();

  /** @param classes those there are, which the records name in place of types; new ones are put behind */
  constructor(
    tables: DataTables,
    rules: WriteRules,
    parts: {
      readonly runs: SortedRuns;
      readonly notes: ValuesAndCommentsFile;
      readonly classes: EditClass[];
    },
  ) {
    super(tables, rules, new Set());
    this.runs = parts.runs;
    this.notes = parts.notes;
    this.classes = parts.classes;
    // What was put by stands in no table yet.
    this.types.keepNumbers();
    for (const [number, each] of this.classes.entries()) this.numbers.set(keyOf(each), number);
  }

  /** Which types a positive feedback takes the place of. */
  get typeRoles(): TypeRoles {
    return this.roles;
  }

  /** @returns 0: what is new is known once all is sorted */
  protected override editFeedback(edits: readonly FeedbackEdit[]): number {
    const { runs, notes } = this;
    for (const edit of edits) {
      const { userRow, itemRow, timeMs, value, comment } = edit;
      const note = notes.add(value, comment);
      runs.add(userRow, itemRow, packTypeAndTime(this.numberOf(edit), timeMs), packTimeLow(timeMs), note);
    }
    return 0;
  }

  private numberOf(edit: EditClass): number {
    const known = this.numbers.get(keyOf(edit));
    if (known !== undefined) return known;
    if (this.classes.length === FEEDBACK_TYPES_MAX)
      throw new FurzeError('INVALID_BODY', `There can be at most ${FEEDBACK_TYPES_MAX} feedback types.`);
    const { kind, type, isPositive } = edit;
    const number = this.classes.push({ kind, type, isPositive }) - 1;
    this.numbers.set(keyOf(edit), number);
    return number;
  }
}

function keyOf({ kind, type, isPositive }: EditClass): number {
  return type * 16 + kind * 2 + (isPositive ? 1 : 0);
}
