import { randomUUID } from 'node:crypto';
import { type Config, ConfigError, type Rules } from '../config/config.ts';
import type { KeySchema } from '../config/keys.ts';
import { placement as placementSchema } from '../config/schema-placements.ts';
import type { Clock } from '../domain/clock.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import type { Role } from '../domain/roles.ts';
import type { Rule, RuleHistory, RuleKey, RulesView } from '../domain/rule-schemas.ts';
import { mapInTurns, turns } from '../platform/concurrency/event-loop-turns.ts';
import {
  journalOf,
  type RuleChange,
  type RuleName,
  type RuleSettings,
  type RulesInEffect,
  type RuleVersion,
  ruleOf,
  versionsOf,
} from '../recommend/placements/rules-in-effect.ts';
import type { DataStore } from '../store/data-store.ts';
import type { AuditLog } from './audit-log.ts';

/** Versions of a rule that are kept. */
const VERSIONS_MAX = 50;
/** Rules of a kind that staff may have, and rules that were taken away of which it is known what they were. */
const RULES_MAX = 200;
const NAME_LENGTH_MAX = 64;
const TITLES_MAX = 200;
/** Characters of a rule's settings as JSON. */
const SETTINGS_LENGTH_MAX = 200_000;

/** The holder of the key that changes something, and the version that is changed, if that is told. */
export interface Editing {
  readonly by: string;
  /** Version that it has to be of, 0 for none; undefined for any. */
  readonly version?: number | undefined;
}

export interface RuleEditorParts {
  readonly data: Pick<DataStore, 'write' | 'local'>;
  readonly rules: RulesInEffect;
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/** Placements and experiments as staff change them: checked, kept in the data store beside what they were before, and taken back. */
export class RuleEditor {
  private readonly parts: RuleEditorParts;

  constructor(parts: RuleEditorParts) {
    this.parts = parts;
  }

  /** All rules, in effect or not. */
  view({ name, role }: { readonly name: string; readonly role: Role }): RulesView {
    return {
      Caller: name,
      Role: role,
      Placements: this.allOf('placement'),
      Experiments: this.allOf('experiment'),
      Keys: KEYS,
    };
  }

  /** @throws FurzeError PLACEMENT_NOT_FOUND, EXPERIMENT_NOT_FOUND for one that never was */
  async history(rule: RuleName): Promise<RuleHistory> {
    // To take in a change was a part of its own, and so is each of what follows: some milliseconds with a thousand items.
    await turns.take();
    const versions = this.versions(rule);
    const known = this.find(rule);
    if (known === undefined && versions.length === 0) throw notFound(rule);
    return {
      ...(known !== undefined && { Rule: known }),
      Titles: await this.titlesOf(known?.Settings),
      History: versions.toReversed().map(({ number, at, by, settings }) => ({
        ...{ Version: number, At: at, By: by },
        ...(settings !== undefined && { Settings: settings }),
      })),
    };
  }

  /** A placement that is not kept, by keys as staff write them. @throws FurzeError INVALID_BODY */
  draft(name: string, settings: RuleSettings): Config['placement'][string] {
    checkLength('placement', settings);
    return this.checked([{ kind: 'placement', name, settings }], 'INVALID_BODY').placement[name]!;
  }

  /**
   * Makes a rule or puts other settings in the place of those it has. An experiment that does not say since when lists count goes by
   * those from now on.
   * @throws FurzeError INVALID_BODY, BAD_REQUEST for one of the configuration, CHANGED_MEANWHILE, STORE_UNAVAILABLE
   */
  async put(rule: RuleName, given: RuleSettings, editing: Editing): Promise<RuleHistory> {
    this.refuseConfigured(rule);
    if (rule.name.length > NAME_LENGTH_MAX)
      throw invalid(`A name has at most ${NAME_LENGTH_MAX} characters.`, '');
    checkLength(rule.kind, given);
    const isNew = this.parts.rules.keptSettings(rule) === undefined;
    if (isNew && this.parts.rules.keptRules.filter(({ kind }) => kind === rule.kind).length >= RULES_MAX)
      throw invalid(`There are at most ${RULES_MAX} of a kind.`, '');
    const starts = rule.kind === 'experiment' && (given.start ?? '') === '';
    const settings = starts ? { ...given, start: formatTimestamp(this.parts.clock()) } : given;
    const changes = [{ ...rule, settings }];
    this.checked(changes, 'INVALID_BODY');
    await this.write(changes, editing, `${inWords(rule)} ${isNew ? 'made' : 'changed'}`);
    return this.history(rule);
  }

  /** @throws FurzeError as `put`, and PLACEMENT_NOT_FOUND, EXPERIMENT_NOT_FOUND */
  async remove(rule: RuleName, editing: Editing): Promise<RuleHistory> {
    if (this.parts.rules.keptSettings(rule) === undefined) {
      this.refuseConfigured(rule);
      throw notFound(rule);
    }
    await this.write([{ ...rule, settings: undefined }], editing, `${inWords(rule)} removed`);
    return this.history(rule);
  }

  /** Takes the last change back, with what was changed together with it; a second time brings it again. @throws as `put` */
  async undo(rule: RuleName, editing: Editing): Promise<RuleHistory> {
    const last = this.versions(rule).at(-1);
    if (last === undefined) throw notFound(rule);
    const { local } = this.parts.data;
    const together = [rule, ...this.othersWith(rule, last.mark)];
    const changes = together.map((each): RuleChange => {
      const versions = versionsOf(local.journal(journalOf(each)));
      const before = versions.at(-2);
      if (before === undefined && versions.at(-1)!.number > 1)
        throw new FurzeError('BAD_REQUEST', 'What was before is no longer kept.');
      return { ...each, settings: before?.settings };
    });
    const { by, version = last.number } = editing;
    await this.write(changes, { by, version }, `${inWords(rule)} undone`);
    return this.history(rule);
  }

  /**
   * Writes what a variant overrides into the placement, and ends the experiment.
   * @throws FurzeError as `put`, and EXPERIMENT_NOT_FOUND
   */
  async promote(name: string, variant: string, editing: Editing): Promise<RuleHistory> {
    const { rules } = this.parts;
    const rule: RuleName = { kind: 'experiment', name };
    const experiments = rules.current.experiment;
    if (!Object.hasOwn(experiments, name)) throw notFound(rule);
    const experiment = experiments[name]!;
    this.refuseConfigured(rule);
    const chosen = experiment.variants.find((each) => each.name === variant);
    if (chosen === undefined)
      throw new FurzeError('BAD_REQUEST', `The experiment has no variant ${JSON.stringify(variant)}.`);
    const placement: RuleName = { kind: 'placement', name: experiment.placement };
    this.refuseConfigured(placement);
    const version = this.lastInEffect(rule);
    this.lastInEffect(placement);
    const settings = { ...rules.keptSettings(placement), ...chosen.override };
    const changes = [
      { ...rule, settings: undefined },
      { ...placement, settings },
    ];
    const what = `${inWords(rule)} ended, its variant ${variant} written into ${inWords(placement)}`;
    await this.write(changes, { by: editing.by, version: editing.version ?? version }, what);
    return this.history(placement);
  }

  /** The last version of a rule, if what is in effect is of that. @throws FurzeError CHANGED_MEANWHILE where a change is only just committed */
  private lastInEffect(rule: RuleName): number {
    const last = this.versions(rule).at(-1);
    const known = this.parts.rules.keptSettings(rule);
    if (JSON.stringify(last?.settings) === JSON.stringify(known)) return last?.number ?? 0;
    const message = `The ${inWords(rule)} was changed in the same moment; look at it and try again.`;
    throw new FurzeError('CHANGED_MEANWHILE', message);
  }

  private allOf(kind: keyof Rules): Rule[] {
    const { rules } = this.parts;
    const kept = rules.keptRules.filter((rule) => rule.kind === kind).map(({ name }) => name);
    const names = [...new Set([...Object.keys(rules.current[kind]), ...kept])].sort();
    return names.flatMap((name) => this.find({ kind, name }) ?? []);
  }

  private find(rule: RuleName): Rule | undefined {
    const { rules } = this.parts;
    const isConfigured = rules.isConfigured(rule);
    const kept = rules.keptSettings(rule);
    const settings = isConfigured ? rules.current[rule.kind][rule.name]! : kept;
    if (settings === undefined) return undefined;
    const last = rules.lastVersion(rule);
    const against = rules.reasonAgainst(rule);
    return {
      Name: rule.name,
      Source: isConfigured ? 'configuration' : 'dashboard',
      Settings: settings as RuleSettings,
      Version: last?.number ?? 0,
      ...(last !== undefined && { ChangedAt: last.at, ChangedBy: last.by }),
      ...(!isConfigured && against !== undefined && { NotInEffect: against }),
    };
  }

  /** Titles of the first items that are pinned or left out. */
  private async titlesOf(settings: RuleSettings = {}): Promise<Record<string, string>> {
    const { pins = [], exclude = [] } = settings as { pins?: { item: string }[]; exclude?: string[] };
    const ids = [...pins.map(({ item }) => item), ...exclude].slice(0, TITLES_MAX);
    const { local } = this.parts.data;
    await turns.take();
    return Object.fromEntries(
      await mapInTurns(ids, (id) => {
        const item = local.findItem(id);
        return item && [id, item.Comment];
      }),
    );
  }

  private versions(rule: RuleName) {
    return versionsOf(this.parts.data.local.journal(journalOf(rule)));
  }

  /** Other rules whose last change was made together with one. */
  private othersWith(rule: RuleName, mark: string): RuleName[] {
    const { local } = this.parts.data;
    return local.journalNames().flatMap((journal) => {
      const other = journal === journalOf(rule) ? undefined : ruleOf(journal);
      const [last] = other === undefined ? [] : versionsOf(local.journal(journal).slice(-1));
      return last?.mark === mark ? [other!] : [];
    });
  }

  private async write(changes: readonly RuleChange[], { by, version }: Editing, what: string): Promise<void> {
    const { data, rules, audit, clock } = this.parts;
    this.checked(changes, 'BAD_REQUEST');
    const at = formatTimestamp(clock());
    const mark = randomUUID();
    // Others than the first go by what was read of them.
    const lastOf = (journal: string) => data.local.journal(journal).at(-1)?.number ?? 0;
    const appends = changes.map(({ settings, ...rule }, number) => {
      const made: RuleVersion = { at, by, mark, ...(settings !== undefined && { settings }) };
      const journal = journalOf(rule);
      const after = number === 0 ? version : lastOf(journal);
      return { journal, text: JSON.stringify(made), most: VERSIONS_MAX, after };
    });
    const changed = new Set(appends.map(({ journal }) => journal));
    const forgotten = rules.removed.slice(0, -RULES_MAX).filter((journal) => !changed.has(journal));
    const emptied = forgotten.map((journal) => ({ journal, text: '', most: 0, after: lastOf(journal) }));
    await data.write({ kind: 'writeJournals', appends: [...appends, ...emptied, audit.entry(by, what)] });
  }

  /** The rules as they would be. @param code of the error where they do not hold: whether a body says what they are @throws FurzeError */
  private checked(changes: readonly RuleChange[], code: 'INVALID_BODY' | 'BAD_REQUEST'): Rules {
    try {
      return this.parts.rules.with(changes);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const [first] = changes;
      const own = `${first!.kind}.${first!.name}`;
      const places = error.problems.map((problem) => placeOf(problem, own));
      const message = places.map((place) => place.message).join('; ');
      if (code === 'INVALID_BODY') throw new FurzeError(code, message, places);
      throw new FurzeError(code, `Without ${inWords(first!)} as it is, other rules do not hold: ${message}`);
    }
  }

  private refuseConfigured(rule: RuleName): void {
    if (!this.parts.rules.isConfigured(rule)) return;
    const name = `${rule.kind}.${rule.name}`;
    const message = `[${name}] is of the configuration, which goes first; change it there.`;
    throw new FurzeError('BAD_REQUEST', message);
  }
}

const FORMS: Readonly<Record<string, RuleKey['Form']>> = {
  integer: 'number',
  number: 'number',
  boolean: 'switch',
};

/** The keys of a placement, as a form asks for them. */
const KEYS = Object.entries(placementSchema.properties).map(([Name, key]): RuleKey => {
  const schema = key as KeySchema;
  const { type, description = '', items, enum: one } = schema;
  const Choices = one ?? items?.enum;
  const form = type === undefined ? undefined : FORMS[type];
  const Form = one ? 'choice' : (form ?? (items?.type === 'string' ? 'texts' : 'json'));
  const told = { Name, Meaning: description, Form, Default: JSON.stringify(schema.default) } as const;
  return { ...told, ...(Choices !== undefined && { Choices: [...Choices] }) };
});

/** `placement.home.pins[0].place: expected ...` as a place in the body. @param own path of the rule that is the body */
function placeOf(problem: string, own: string): { path: string; message: string } {
  const [, at = '', key = ''] = /^([\w.[\]-]+): /.exec(problem) ?? [];
  const isOwn = at.startsWith(`${own}.`);
  const inside = at.slice(own.length + 1).replaceAll(/[.[]/g, '/');
  const path = isOwn ? `/${inside.replaceAll(']', '')}` : key;
  return { path, message: isOwn ? problem.slice(own.length + 1) : problem };
}

/** @throws FurzeError INVALID_BODY */
function checkLength(kind: RuleName['kind'], settings: RuleSettings): void {
  if (JSON.stringify(settings).length > SETTINGS_LENGTH_MAX)
    throw invalid(`A ${kind} has at most ${SETTINGS_LENGTH_MAX} characters.`, '');
}

function invalid(message: string, path: string): FurzeError {
  return new FurzeError('INVALID_BODY', message, [{ path, message }]);
}

function inWords({ kind, name }: RuleName): string {
  return `${kind} ${name}`;
}

function notFound({ kind, name }: RuleName): FurzeError {
  const code = kind === 'placement' ? 'PLACEMENT_NOT_FOUND' : 'EXPERIMENT_NOT_FOUND';
  return new FurzeError(code, `There is no ${kind} ${JSON.stringify(name)}.`);
}
