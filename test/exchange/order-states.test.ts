import { describe, expect, it, test } from 'vitest';
import { describePlan } from '../../src/exchange/describe-plan.ts';
import { type FilePlan, planFile, type Wishes } from '../../src/exchange/import-plan.ts';
import { isGone } from '../../src/exchange/order-states.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';

describe('states of orders', () => {
  it.each(
    `cancelled canceled CANCELED Cancelled_by_customer CancelledByShop wc-cancelled refunded wc-refunded Refunded returned
    RETURNED storniert Storniert,Kunde Stornierung Retoure retourniert zurückgesendet Zurückgegeben annulé Annulée Retournée
    remboursé Refusé anulowane zwrócone Zwrot anulado Cancelado Devuelto devolvido reembolsado estornado annullato rimborsato
    reso geannuleerd Geretourneerd terugbetaald zrušeno Vráceno avbeställd annulleret returnerad iptal İptal,edildi İade
    キャンセル 返品済み voided failed payment_failed declined chargeback widerrufen Quotation Draft Missing,Orders Selhalo Falhada Platba,neúspěšná 주문취소 반품완료 환불 ملغي مسترجع تم,الإلغاء`.split(
      /\s+/,
    ),
  )('%s was not bought in the end', (state) => expect(isGone(state.replace(',', ' '))).toBe(true));

  it.each(
    `complete completed paid pending shipped processing partially_refunded wc-completed teilweise,erstattet bezahlt offen
    versendet Retour,abgelehnt-nicht payée en,cours expédiée livré enviado entregue opłacone zrealizowane odesláno
    skickad levererad returning new open on-hold 発送済み 入金済み not_returned return,requested no annual Annie
    partial,refund 未返品 resolved response voucher avoid 배송완료 구매확정 مكتمل تم,التوصيل`.split(/\s+/),
  )('%s stays', (state) => expect(isGone(state.replaceAll(',', ' '))).toBe(false));
});

const rowsOf = async (text: string, wishes: Wishes = {}, name = 'orders.csv') => {
  const plan = await planFile(name, text, true, wishes);
  const rows = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => recordOf(line.split(/[;,]/), plan));
  const left = rows.map((made) => ('leftOut' in made ? made.leftOut : 'record' in made ? '' : 'refused'));
  return { left, plan, states: (plan.states ?? []).map(({ name: column }) => column) };
};

describe('columns of states', () => {
  it.each([
    [
      'Shopify',
      'Email,Lineitem sku,Financial Status,Fulfillment Status,Cancelled at,Created at',
      3,
      [
        'a@b.c,s1,paid,fulfilled,,2024-01-01 10:00:00 +0100',
        'a@b.c,s2,refunded,fulfilled,,2024-01-01 10:00:00 +0100',
        'b@b.c,s1,paid,,2024-01-02 10:00:00 +0100,2024-01-01 10:00:00 +0100',
        'b@b.c,s3,partially_refunded,fulfilled,,2024-01-01 10:00:00 +0100',
      ],
      ['', 'refunded', 'Cancelled at', ''],
    ],
    [
      'WooCommerce',
      'customer_id,product_id,order_status,date',
      1,
      ['1,2,wc-completed,2024-01-01', '1,3,wc-cancelled,2024-01-01', '2,3,wc-processing,2024-01-01'],
      ['', 'wc-cancelled', ''],
    ],
    [
      'a German shop',
      'Kundennr;Artikelnr;Bestelldatum;Bearbeitungsstand;Storno',
      2,
      [
        '1;2;01.02.2024;geliefert;nein',
        '1;3;01.02.2024;Retoure;nein',
        '2;3;01.02.2024;geliefert;ja',
        '2;4;01.02.2024;geliefert;nein',
      ],
      ['', 'Retoure', 'Storno', ''],
    ],
    [
      'flags',
      'user,item,time,is_returned,refunded_at',
      2,
      [
        'a,1,2024-01-01,0,',
        'a,2,2024-01-01,1,',
        'b,2,2024-01-01,0,2024-01-09',
        'b,3,2024-01-01,0,0000-00-00',
      ],
      ['', 'is_returned', 'refunded_at', ''],
    ],
  ] as const)('are found in an export of %s', async (_, head, count, rows, left) => {
    const found = await rowsOf(`${head}\n${rows.join('\n')}\n`);
    expect(found.left).toEqual(left);
    expect(found.states).toHaveLength(count);
    expect(describePlan(found.plan)).toMatch(/State from ".+" \(left out: what was cancelled or came back\)/);
  });

  it.each([
    ['customer_status', 'new', 'returned'],
    ['State', 'CA', 'NY'],
    ['Estado', 'SP', 'RJ'],
    ['note', 'please ring the bell and then say that it was not cancelled', 'cancelled'],
    ['returned quantity', '0', '2'],
    ['Refund amount', '0.00', '12.50'],
    ['return policy', 'none', '30 days'],
  ])('are none that is called %s with %s', async (name, one, other) => {
    const { left, states, plan } = await rowsOf(
      `user,item,${name}\na,1,${one}\na,2,${other}\nb,1,${one}\nb,2,${other}\n`,
    );
    expect([left, states]).toEqual([['', '', '', ''], []]);
    expect(describePlan(plan)).toContain(`not used: ${name}`);
  });

  it('say of those who attend whether they came, and of customers nothing', async () => {
    const rows = ['a@b.c,77,Attending,gone', 'b@b.c,77,Not Attending,new', 'a@b.c,78,Checked In,cancelled'];
    const found = await rowsOf(`Email,Event ID,Attendee Status,Customer Status\n${rows.join('\n')}\n`, {
      kind: 'feedback',
      map: [['item', 'Event ID']],
    });
    expect([found.left, found.states]).toEqual([['', 'Not Attending', ''], ['Attendee Status']]);
  });

  it('leave a row with a quantity below 0, which takes back what was bought', async () => {
    const text = 'user,upc,qty,is_return\na,1,1,false\na,1,-1,true\nb,1,1,true\n';
    expect((await rowsOf(text)).left).toEqual(['', '', 'is_return']);
    expect((await rowsOf(text, { leftOut: ['is_return'] })).left).toEqual(['', 'is_return', 'is_return']);
  });

  it('go by the states that are said, and by the column', async () => {
    const text = 'user,item,status,Verbleib\na,1,paid,weg\na,2,cancelled,da\na,3,on hold,da\n';
    expect((await rowsOf(text, { leftOut: ['On Hold'] })).left).toEqual(['', '', 'on hold']);
    expect((await rowsOf(text, { leftOut: [] })).left).toEqual(['', '', '']);
    const named = await rowsOf(text, { map: [['state', 'Verbleib']], leftOut: ['weg'] });
    expect([named.left, named.states]).toEqual([
      ['weg', '', ''],
      ['status', 'Verbleib'],
    ]);
  });

  it('are none of files of items and of exports', async () => {
    expect((await rowsOf('sku,title,status\n1,A,returned\n')).states).toEqual([]);
    const own = 'FeedbackType,UserId,ItemId,Timestamp,Comment,Value\nlike,a,1,2024-01-01,returned,1\n';
    expect((await rowsOf(own)).left).toEqual(['']);
  });
});

test.each([
  ['Erreur de paiement', 'Paiement accepté'],
  ['Payment error', 'Payment accepted'],
  ['No entregado', 'Entregado'],
  ['Rückerstattet', 'In Bearbeitung'],
  ['Retur', 'Levererad'],
  ['fraud', 'complete'],
  ['not_delivered', 'not shipped'],
])('%s came to nothing, and %s stands', (failed, taken) => {
  expect([isGone(failed), isGone(taken)]).toEqual([true, false]);
});

test('plays of less than half a minute, what was skipped and trailers are no liking', async () => {
  const rows = (names: string, ...cells: string[]) => {
    const lines = cells.map((cell, at) => `u${at % 3},i${at},2024-01-0${1 + at},${cell}`);
    return planFile('a.csv', `user,item,time,${names}\n${lines.join('\n')}\n`, true, {});
  };
  const madeOf = (plan: FilePlan, cell: string) => recordOf(['u', 'i', '2024-01-01', cell], plan);
  const played = await rows('ms_played', '200000', '1200', '30000');
  expect(madeOf(played, '1200')).toEqual({ leftOut: 'played for less than 30 seconds' });
  expect(madeOf(played, '30000')).toHaveProperty('record');
  const skipped = await rows('skipped', 'false', 'true', 'false');
  expect(madeOf(skipped, 'true')).toEqual({ leftOut: 'skipped' });
  const trailers = await rows('Supplemental Video Type', '', 'HOOK', '');
  expect(madeOf(trailers, 'TRAILER')).toEqual({ leftOut: 'Supplemental Video Type' });
  expect(madeOf(trailers, '')).toHaveProperty('record');
});
