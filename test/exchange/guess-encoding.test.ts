import { describe, expect, test } from 'vitest';
import { likelyEncoding } from '../../src/exchange/guess-encoding.ts';

/** Lines of orders in the words of a country, encoded by what `TextDecoder` reads back. */
const TEXTS: readonly (readonly [encoding: string, text: string])[] = [
  ['shift_jis', '注文番号,会員ID,商品名,ステータス\n1,kai01,抹茶セット,発送済\n2,kai02,ほうじ茶,キャンセル'],
  ['euc-jp', '注文番号,会員ID,商品名,ステータス\n1,kai01,抹茶セット,発送済\n2,kai02,ほうじ茶,キャンセル'],
  ['euc-kr', '주문번호,회원아이디,상품명,수량\n1,hong,녹차 세트,2\n2,kim,유자차,1'],
  ['gb18030', '订单号,客户编号,商品名称,数量\n1,li,绿茶礼盒,2\n2,wang,普洱茶,1'],
  ['big5', '訂單編號,客戶編號,商品名稱,數量\n1,li,綠茶禮盒,2\n2,wang,烏龍茶葉,1'],
  ['windows-1251', 'Номер заказа,Покупатель,Товар,Количество\n1,ivan,Зелёный чай,2'],
  ['windows-1253', 'Κωδικός,Πελάτης,Προϊόν,Ποσότητα\n1,Μαρία,Πράσινο τσάι,2\n2,Νίκος,Κόκκινη τσάντα,1'],
  ['windows-1255', 'מספר הזמנה,שם לקוח,מוצר,כמות\n1,דנה,תה ירוק,2\n2,יוסי,תיק אדום,1'],
  ['windows-1256', 'رقم العميل,اسم المنتج,الكمية\n1,الشاي الأخضر,2\n2,الحقيبة الحمراء,1'],
  ['windows-1250', 'Numer,Klient,Nazwa towaru\n1,jan,Kołdra bawełniana,2\n2,ewa,Żółta poduszka gęś'],
  ['windows-1254', 'Sipariş No,Müşteri,Ürün adı\n1,ayşe,Kırmızı çanta\n2,ali,Yeşil ayakkabı'],
  [
    'windows-1254',
    `Ürün Adı,Tarih\n${'Mat ürünü,4 Şubat 2025\n'.repeat(90)}Bez ürünü,3 Mayıs 2025\nMat ürünü,1 Ağustos 2025\nMat ürünü,7 Kasım 2025\n`,
  ],
  ['windows-1252', 'Numéro,Client,Désignation\n1,é1,Crème brûlée à la poêle °C £5\n2,b,Été indien'],
  ['windows-1252', 'Bestellung,Käufer,Größe\n1,Jörg,Übertöpfe groß\n2,Änne,Stövchen Ø 10'],
  ['windows-1252', 'order,buyer,item\n1,ann,Heater 30\u00b0C\n2,bob,Box 3 m\u00b3 \u00a35'],
];

describe.each(TEXTS)('%s', (encoding, text) => {
  test(`is told by its signs: ${text.slice(0, 12)}`, () => {
    const bytes = encoded(text, encoding);
    expect(new TextDecoder(encoding).decode(bytes)).toBe(text);
    expect(likelyEncoding(bytes).encoding).toBe(encoding);
  });
});

test('bytes beyond ASCII of no such signs are of the west', () => {
  expect(likelyEncoding(new Uint8Array([0xe9])).encoding).toBe('windows-1252');
});

/** The text in bytes: the inverse of the decoder of one and two bytes. */
function encoded(text: string, encoding: string): Uint8Array {
  const decoder = new TextDecoder(encoding);
  const codes = new Map<string, number[]>();
  for (let lead = 0; lead < 256; lead++) {
    const one = decoder.decode(Uint8Array.of(lead));
    if (one.length === 1 && one !== '\ufffd') codes.set(one, [lead]);
  }
  for (let lead = 0x81; lead < 255; lead++)
    for (let trail = 0x40; trail < 255; trail++) {
      const two = decoder.decode(Uint8Array.of(lead, trail));
      if (two.length === 1 && two !== '\ufffd' && !codes.has(two)) codes.set(two, [lead, trail]);
    }
  return Uint8Array.from([...text].flatMap((sign) => codes.get(sign) ?? []));
}
