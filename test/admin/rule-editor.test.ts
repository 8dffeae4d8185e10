import { expect, it } from 'vitest';
import { AuditLog } from '../../src/admin/audit-log.ts';
import { RuleEditor, type RuleEditorParts } from '../../src/admin/rule-editor.ts';
import { defaultConfig } from '../../src/config/config.ts';
import { RulesInEffect } from '../../src/recommend/placements/rules-in-effect.ts';
import type { WriteCommand } from '../../src/store/data-store.ts';
import { appended, type Journal } from '../../src/store/journals.ts';
import { code } from '../store/helpers.ts';

const BY = { by: 'merchant' };
const clock = () => Date.UTC(2026, 0, 30);
const variants = [
  { name: 'now', share: 0.5 },
  { name: 'short', share: 0.5, override: { length: 1 } },
];

/** An editor over journals in memory, of which the rules in effect hear only by `tell`. */
function editorOverMemory(dataSource: object = {}) {
  const journals = new Map<string, Journal>();
  const untold = new Set<string>();
  const local = {
    journal: (name: string) => journals.get(name) ?? [],
    journalNames: () => [...journals.keys()],
    findItem: () => undefined,
  };
  const write = async (command: WriteCommand) => {
    if (command.kind !== 'writeJournals') throw new Error(command.kind);
    for (const each of command.appends) {
      const journal = appended(local.journal(each.journal), each);
      if (journal.length === 0) journals.delete(each.journal);
      else journals.set(each.journal, journal);
      untold.add(each.journal);
    }
  };
  const data = { local, write } as unknown as RuleEditorParts['data'] &
    ConstructorParameters<typeof AuditLog>[0];
  const config = defaultConfig({ recommend: { data_source: dataSource } });
  const rules = new RulesInEffect(config, local, () => {});
  const tell = () => {
    rules.follow([...untold]);
    untold.clear();
  };
  const audit = new AuditLog(data, clock, () => {});
  return { editor: new RuleEditor({ data, rules, audit, clock }), rules, journals, tell };
}

it('takes no measure that counts nothing, as the configuration takes none', async () => {
  const { editor, tell } = editorOverMemory({ positive_feedback_types: ['rating>=4=2'] });
  await editor.put({ kind: 'placement', name: 'home' }, {}, BY);
  tell();
  const rule = { kind: 'experiment', name: 'sizes' } as const;
  const settings = { placement: 'home', variants };
  await expect(editor.put(rule, { ...settings, measure: 'rating>=5' }, BY)).rejects.toMatchObject({
    code: 'INVALID_BODY',
    places: [{ path: '/measure', message: expect.stringContaining('("rating>=4"), got "rating>=5"') }],
  });
  await editor.put(rule, { ...settings, measure: 'rating>=4' }, BY);
});

it('promotes no variant over an edit that was only just committed', async () => {
  const { editor, rules, tell } = editorOverMemory();
  const home = { kind: 'placement', name: 'home' } as const;
  await editor.put(home, { max_per_label: 2 }, BY);
  tell();
  await editor.put({ kind: 'experiment', name: 'sizes' }, { placement: 'home', variants }, BY);
  tell();
  await editor.put(home, { max_per_label: 3 }, BY);
  await expect(editor.promote('sizes', 'short', BY)).rejects.toEqual(code('CHANGED_MEANWHILE'));
  tell();
  await editor.put({ kind: 'experiment', name: 'sizes' }, { placement: 'home', variants, traffic: 0.5 }, BY);
  await expect(editor.promote('sizes', 'short', BY)).rejects.toEqual(code('CHANGED_MEANWHILE'));
  tell();
  const { Rule } = await editor.promote('sizes', 'short', BY);
  tell();
  expect(rules.keptSettings(home)).toEqual({ max_per_label: 3, length: 1 });
  expect(Rule).toMatchObject({ Name: 'home', Source: 'dashboard' });
  expect(rules.current.experiment).toEqual({});
});

it('knows of at most 200 rules that were taken away what they were', async () => {
  const { editor, journals, tell } = editorOverMemory();
  const ruleOf = (at: number) => ({ kind: 'placement', name: `p${at}` }) as const;
  for (let at = 0; at < 205; at++) {
    await editor.put(ruleOf(at), { length: 1 }, BY);
    tell();
    await editor.remove(ruleOf(at), BY);
    tell();
  }
  await editor.undo(ruleOf(204), BY);
  tell();
  const names = [...journals.keys()].filter((name) => name !== 'audit');
  expect(names.length).toBeLessThanOrEqual(202);
  expect(names).toContain('placement/p204');
  expect(names).not.toContain('placement/p0');
  await expect(editor.history(ruleOf(0))).rejects.toMatchObject({ code: 'PLACEMENT_NOT_FOUND' });
  await editor.put(ruleOf(0), { length: 2 }, { ...BY, version: 0 });
});

it('keeps the rule in effect that was changed last, whatever the names, and edits it while another does not fit', async () => {
  const { editor, rules, journals, tell } = editorOverMemory();
  const versionAt = (at: string, settings: object | undefined) => [
    { number: 1, text: JSON.stringify({ at, by: 'merchant', mark: at, settings }) },
  ];
  journals.set('placement/home', versionAt('2026-01-01T00:00:00Z', {}));
  journals.set('experiment/a', versionAt('2026-01-02T00:00:00Z', { placement: 'home', variants }));
  journals.set('experiment/b', versionAt('2026-01-03T00:00:00Z', { placement: 'home', variants }));
  journals.set('placement/p2', versionAt('2026-01-05T00:00:00Z', undefined));
  journals.set('placement/p1', versionAt('2026-01-06T00:00:00Z', undefined));
  rules.follow([...journals.keys()]);
  expect(Object.keys(rules.current.experiment)).toEqual(['b']);
  expect(rules.removed).toEqual(['placement/p2', 'placement/p1']);
  const b = { kind: 'experiment', name: 'b' } as const;
  await editor.put(b, { placement: 'home', variants, traffic: 0.5 }, BY);
  tell();
  expect(rules.current.experiment).toMatchObject({ b: { traffic: 0.5 } });
  expect(rules.reasonAgainst({ kind: 'experiment', name: 'a' })).toMatch('no other experiment');
});

it('tells of a rule the version that its settings are of, and reads no history for it', async () => {
  const { editor, journals, tell } = editorOverMemory();
  const home = { kind: 'placement', name: 'home' } as const;
  await editor.put(home, { length: 5 }, BY);
  tell();
  // A change of another node that is committed and not yet heard of.
  await editor.put(home, { length: 6 }, BY);
  const shown = () => editor.view({ name: 'merchant', role: 'operate' }).Placements[0]!;
  expect(shown()).toMatchObject({ Settings: { length: 5 }, Version: 1 });
  await expect(editor.put(home, { length: 7 }, { ...BY, version: shown().Version })).rejects.toEqual(
    code('CHANGED_MEANWHILE'),
  );
  tell();
  journals.clear();
  expect(shown()).toMatchObject({ Settings: { length: 6 }, Version: 2, ChangedBy: 'merchant' });
});
