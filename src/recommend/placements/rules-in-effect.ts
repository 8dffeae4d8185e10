import { type Config, ConfigError, type GivenRules, type Rules, withRules } from '../../config/config.ts';
import { parseTimestamp } from '../../domain/rfc3339.ts';
import type { LocalReads } from '../../store/data-store.ts';
import type { Journal } from '../../store/journals.ts';

/** A placement or an experiment. */
export interface RuleName {
  readonly kind: keyof Rules;
  readonly name: string;
}

/** Keys of a rule as they were given, with those that have their defaults left out. */
export type RuleSettings = Readonly<Record<string, unknown>>;

/** A rule as staff made it at a time. */
export interface RuleVersion {
  /** RFC 3339 UTC. */
  readonly at: string;
  /** Name of the key. */
  readonly by: string;
  /** The same for rules that were changed together. */
  readonly mark: string;
  /** Undefined where the rule was taken away. */
  readonly settings?: RuleSettings;
}

/** A rule to be, or to be no more where `settings` is undefined. */
export interface RuleChange extends RuleName {
  readonly settings: RuleSettings | undefined;
}

/** The last version of a rule, without what was before it. */
type KeptRule = RuleName & Numbered & { readonly settings: RuleSettings | undefined; readonly atMs: number };

const KINDS = ['placement', 'experiment'] as const satisfies readonly (keyof Rules)[];

/** The journal that keeps the versions of a rule. */
export function journalOf({ kind, name }: RuleName): string {
  return `${kind}/${name}`;
}

/** The rule of a journal; undefined for one that keeps something else. */
export function ruleOf(journal: string): RuleName | undefined {
  const [kind, name] = journal.split('/') as [keyof Rules, string | undefined];
  return name !== undefined && KINDS.includes(kind) ? { kind, name } : undefined;
}

type Numbered = RuleVersion & { readonly number: number };

export function versionsOf(journal: Journal): Numbered[] {
  return journal.map(({ number, text }) => ({ number, ...(JSON.parse(text) as RuleVersion) }));
}

/**
 * The placements and experiments that are in effect: those of the configuration, and beside them those that staff keep in the data
 * store. One of the configuration goes before one of its name.
 */
export class RulesInEffect {
  private readonly configured: Rules;
  private readonly positiveTypes: readonly string[];
  private readonly reads: Pick<LocalReads, 'journal' | 'journalNames'>;
  private readonly onTrouble: (message: string, error: unknown) => void;
  private readonly kept = new Map<string, KeptRule>();
  private readonly listeners: ((rules: Rules) => void)[] = [];
  private reasons: ReadonlyMap<string, string> = new Map();
  private rules: Rules;

  constructor(
    { placement, experiment, recommend }: Pick<Config, 'placement' | 'experiment' | 'recommend'>,
    reads: Pick<LocalReads, 'journal' | 'journalNames'>,
    onTrouble: (message: string, error: unknown) => void,
  ) {
    this.configured = { placement, experiment };
    this.positiveTypes = recommend.data_source.positive_feedback_types;
    this.reads = reads;
    this.onTrouble = onTrouble;
    this.rules = this.configured;
    this.take(reads.journalNames());
  }

  get current(): Rules {
    return this.rules;
  }

  /** Called with the rules whenever others are in effect. */
  onChange(listener: (rules: Rules) => void): void {
    this.listeners.push(listener);
  }

  /** Takes in what was changed, here or on another node. @param journals names of those with new entries */
  follow(journals: readonly string[]): void {
    if (this.take(journals)) for (const listener of this.listeners) listener(this.rules);
  }

  /** Rules that staff keep, whether in effect or not. */
  get keptRules(): readonly RuleChange[] {
    return [...this.kept.values()].filter(({ settings }) => settings !== undefined);
  }

  /** Journals of rules that were taken away, the last of them last. */
  get removed(): readonly string[] {
    const removed = [...this.kept].filter(([, { settings }]) => settings === undefined);
    return removed.sort(([, a], [, b]) => a.atMs - b.atMs).map(([journal]) => journal);
  }

  keptSettings(rule: RuleName): RuleSettings | undefined {
    return this.lastVersion(rule)?.settings;
  }

  /** The version of a rule that is in effect, of which its settings are; undefined for one that never was. */
  lastVersion(rule: RuleName): Numbered | undefined {
    return this.kept.get(journalOf(rule));
  }

  isConfigured({ kind, name }: RuleName): boolean {
    return Object.hasOwn(this.configured[kind], name);
  }

  /** Why a kept rule is not in effect; undefined where it is. */
  reasonAgainst(rule: RuleName): string | undefined {
    if (this.isConfigured(rule)) return 'the configuration has one of this name, which goes first';
    return this.reasons.get(journalOf(rule));
  }

  /**
   * The rules as they would be, those of the configuration among them where it is they that are changed. What is not in effect
   * now, and stays as it is, counts for nothing.
   * @throws ConfigError
   */
  with(changes: readonly RuleChange[]): Rules {
    const next = new Map<string, RuleChange>(this.kept);
    for (const journal of this.reasons.keys()) next.delete(journal);
    for (const change of changes) next.set(journalOf(change), change);
    const configured = {
      placement: { ...this.configured.placement },
      experiment: { ...this.configured.experiment },
    };
    for (const { kind, name, settings } of changes) if (settings !== undefined) delete configured[kind][name];
    return withRules(configured, givenOf([...next.values()]), this.positiveTypes);
  }

  /** @returns whether any of the journals is of a rule */
  private take(journals: readonly string[]): boolean {
    const rules = journals.flatMap((journal) => ruleOf(journal) ?? []);
    if (rules.length === 0) return false;
    for (const rule of rules) {
      const last = versionsOf(this.reads.journal(journalOf(rule)).slice(-1))[0];
      const journal = journalOf(rule);
      // What was changed last stands last among what was changed at the same moment.
      this.kept.delete(journal);
      if (last === undefined) continue;
      this.kept.set(journal, { ...last, ...rule, settings: last.settings, atMs: parseTimestamp(last.at) });
    }
    this.putInEffect();
    return true;
  }

  /**
   * All kept rules together or, where they do not fit, as many as do, those that were changed last first: the configuration may have
   * changed since they were made.
   */
  private putInEffect(): void {
    const reasons = new Map<string, string>();
    this.reasons = reasons;
    try {
      this.rules = this.with([]);
      return;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
    const fitting: RuleChange[] = [];
    const latest = [...this.kept.values()].reverse().sort((a, b) => b.atMs - a.atMs);
    const byKind = KINDS.flatMap((kind) => latest.filter((rule) => rule.kind === kind && rule.settings));
    for (const rule of byKind)
      try {
        this.rules = withRules(this.configured, givenOf([...fitting, rule]), this.positiveTypes);
        fitting.push(rule);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        const [problem = ''] = error.problems;
        reasons.set(journalOf(rule), problem);
        const message = `The ${rule.kind} "${rule.name}" of the dashboard is not in effect: ${problem}`;
        this.onTrouble(message, error);
      }
    if (fitting.length === 0) this.rules = this.configured;
  }
}

function givenOf(rules: readonly RuleChange[]): GivenRules {
  const tablesOf = (of: keyof Rules) =>
    Object.fromEntries(
      rules.flatMap(({ kind, name, settings }) =>
        kind === of && settings !== undefined ? [[name, settings]] : [],
      ),
    );
  return { placement: tablesOf('placement'), experiment: tablesOf('experiment') };
}
