import { describe, expect, it } from 'vitest';
import {
  look as lookAt,
  openQuestions,
  planOf,
  previewOf,
  type Said,
} from '../../src/dashboard/import/plan.ts';
import { openFile } from '../../src/dashboard/import/read-file.ts';

/** What the page makes of a file. */
async function look(text: string | Buffer, more: Said = {}) {
  const opened = await openFile(new File([text], 'rows.csv'));
  const planned = planOf(opened, await lookAt(opened, more), more);
  const { plan, body } = planned;
  return { body, plan, names: plan.columns, questions: openQuestions(planned) };
}

const HEADER = 'Kundennr;Artikelnr;Datum\n';

describe('the import page', () => {
  it('leaves out orders that were cancelled, unless all are to be taken', async () => {
    const text = 'Kundennr;Artikelnr;Status\nann;tea;versendet\nann;ale;storniert\n';
    const { body, plan } = await look(text);
    expect(previewOf(body, plan)[1]).toEqual({ leftOut: 'storniert' });
    const all = await look(text, { leftOut: [] });
    expect(previewOf(all.body, all.plan)[1]).toHaveProperty('cells');
    // A column that was chosen has states, whatever it is called.
    const { mapping } = plan;
    const named = await look(text.replace('Status', 'Verbleib'), { mapping: { ...mapping, State: 2 } });
    expect(previewOf(named.body, named.plan)[1]).toEqual({ leftOut: 'storniert' });
  });

  it('shows times as they are written while it is open how, and refuses no row for it', async () => {
    const { body, plan, questions } = await look(`${HEADER}ann;tea;02/01/2024\nann;;03/01/2024\n`);
    expect(previewOf(body, plan)).toEqual([
      { cells: ['ann', 'tea', 'like', '02/01/2024', '', ''] },
      { refusal: 'the item id is empty' },
    ]);
    expect(questions).toEqual([
      'how the times are written, since nothing tells whether the day or the month of "02/01/2024" comes first',
    ]);
    const said = await look(`${HEADER}ann;tea;02/01/2024\n`, { timeForm: 'day-first' });
    expect(previewOf(said.body, said.plan)).toEqual([
      { cells: ['ann', 'tea', 'like', '2024-01-02', '', ''] },
    ]);
    expect(said.questions).toEqual([]);
  });

  it('takes dates with points without a question, and others by the whole file', async () => {
    const dotted = await look(`${HEADER}ann;tea;01.12.10 08:26\n`);
    expect([dotted.plan.timeForm, dotted.questions]).toEqual(['day-first', []]);
    const far = `${HEADER}${'ann;tea;1/2/2024\n'.repeat(6000)}`;
    expect((await look(`${far}ann;tea;13/2/2024\n`)).plan.timeForm).toBe('day-first');
    expect((await look(far)).plan.timeForm).toBeUndefined();
  });

  it("reads Excel's own first line, and any sign that stands in each line", async () => {
    const excel = await look(`sep=;\r\n${HEADER}ann;tea;01.12.10\r\n`);
    expect([excel.names, excel.questions]).toEqual([['Kundennr', 'Artikelnr', 'Datum'], []]);
    expect((await look('user#item\nann#tea\nbob#ale\n')).names).toEqual(['user', 'item']);
    const one = await look('user item\nann tea\n');
    expect([one.names, one.questions]).toEqual([['column 1'], ['which column is ItemId']]);
    expect((await look('user item\nann tea\n', { delimiter: ' ' })).names).toEqual(['user', 'item']);
    const wide = await look(Buffer.from('user\titem\nJörg\ttea\n', 'utf16le'));
    expect(previewOf(wide.body, wide.plan)).toEqual([{ cells: ['Jörg', 'tea', 'like', '', '', ''] }]);
  });

  it('asks for another column where user and item are the same', async () => {
    const { questions } = await look(`${HEADER}ann;tea;01.12.10\n`, {
      mapping: { UserId: 0, ItemId: 0, Timestamp: 2 },
    });
    expect(questions).toEqual(['which of UserId and ItemId is another column']);
  });

  it('says what a workbook is', async () => {
    const workbook = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from('_rels/.rels')]);
    await expect(look(workbook)).rejects.toThrow(/^rows\.csv is an Excel workbook; save it as CSV .+\.$/);
  });
});
