import { describe, expect, it } from 'vitest';
import { ItemCards } from '../../src/admin/item-cards.ts';
import { parseConfig } from '../../src/config/config.ts';
import type { Item } from '../../src/domain/entities.ts';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import type { LocalReads } from '../../src/store/data-store.ts';

const tea: Item = {
  ...EMPTY_ITEM,
  ItemId: 'tea & more',
  Comment: 'Green tea',
  Labels: ['https://img.shop.example/a.jpg'],
  LabelsAsGiven: { price: 12.5, media: { image: 'https://img.shop.example/a.jpg' }, empty: '' },
};
const ale: Item = { ...tea, ItemId: 'ale', LabelsAsGiven: ['plain'] };
const reads = { itemAt: (row: number) => [tea, ale][row] } as LocalReads;
const cards = (image: string, price = '') => new ItemCards(reads, { image, price });

describe('what is shown of an item', () => {
  it('has the title alone without templates', () => {
    expect(cards('').at(0)).toEqual({ Id: 'tea & more', Title: 'Green tea' });
    expect(cards('').at(2)).toBeUndefined();
    expect(cards('').imageSource).toBe('');
  });

  it('puts fields into an address, encoded, and allows pictures of that host alone', () => {
    const shop = cards('https://img.shop.example/{ItemId}.jpg?size=80');
    expect(shop.at(0)?.Image).toBe('https://img.shop.example/tea%20%26%20more.jpg?size=80');
    expect(shop.imageSource).toBe('https://img.shop.example');
  });

  it('takes an address and a price out of labels that are objects', () => {
    const labels = cards('{Labels.media.image}', '{Labels.price} EUR');
    expect(labels.at(0)).toMatchObject({ Image: 'https://img.shop.example/a.jpg', Price: '12.5 EUR' });
    expect(labels.imageSource).toBe('https:');
  });

  it('leaves out what an item has no field for', () => {
    expect(cards('{Labels.media.image}', '{Labels.price}').at(1)).toEqual({ Id: 'ale', Title: 'Green tea' });
    for (const name of ['empty', 'media', 'constructor', 'price.x'])
      expect(cards('', `{Labels.${name}}`).at(0)).not.toHaveProperty('Price');
  });

  it('keeps the order and the scores of a list, less items that are gone', () => {
    expect(cards('').scored({ rows: [1, 7, 0], scores: [3, 2, 1] })).toMatchObject([
      { Id: 'ale', Score: 3 },
      { Id: 'tea & more', Score: 1 },
    ]);
  });

  it('refuses a template of no address', () => {
    for (const image of ['javascript:alert(1)', '{ItemId}', 'https://{Labels.host}/a', 'img.jpg'])
      expect(() => parseConfig(`[dashboard]\nimage = "${image}"\n`)).toThrow(/dashboard/);
    expect(parseConfig('[dashboard]\nimage = "https://a.example/{ItemId}"\n').dashboard.image).toContain(
      'a.example',
    );
  });
});
