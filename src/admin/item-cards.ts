import type { ItemCard, TitledScore } from '../domain/admin-schemas.ts';
import { type Item, titleOf } from '../domain/entities.ts';
import type { Json } from '../domain/labels.ts';
import type { Ranked } from '../memory/ranked-rows.ts';
import type { LocalReads } from '../store/data-store.ts';

const PLACEHOLDER = /\{(ItemId|Comment|Labels(?:\.[^{}.]+)+)\}/g;
/** A template whose host is written out. */
const FIXED_HOST = /^(https?:\/\/[^/{}\s]+)\//;

/** Templates of what is shown of an item beside its title; empty for nothing. */
export interface CardTemplates {
  /** Address of a picture. */
  readonly image: string;
  readonly price: string;
}

/** Shows items as people know them: by title, with a picture and a price where templates tell them. */
export class ItemCards {
  private readonly reads: LocalReads;
  private readonly templates: CardTemplates;

  constructor(reads: LocalReads, templates: CardTemplates) {
    this.reads = reads;
    this.templates = templates;
  }

  /** Where the page may load pictures from, as a source of a content security policy; `""` for nowhere. */
  get imageSource(): string {
    const { image } = this.templates;
    if (image === '') return '';
    return FIXED_HOST.exec(image)?.[1] ?? 'https:';
  }

  /** The item of a row, undefined when it is gone. */
  at(itemRow: number): ItemCard | undefined {
    const item = this.reads.itemAt(itemRow);
    return item && this.of(item);
  }

  of(item: Item): ItemCard {
    const { image, price } = this.templates;
    const Image = fill(image, item, image.startsWith('{') ? String : encodeURIComponent);
    const Price = fill(price, item, String);
    return {
      Id: item.ItemId,
      Title: titleOf(item.Comment),
      ...(Image !== undefined && { Image }),
      ...(Price !== undefined && { Price }),
    };
  }

  /** Rows of items with their scores. An item that is gone is left out. */
  scored({ rows, scores }: Ranked): TitledScore[] {
    return rows.flatMap((row, at) => {
      const card = this.at(row);
      return card === undefined ? [] : [{ ...card, Score: scores[at]! }];
    });
  }
}

/** @returns the template with the item's fields in it; undefined where it is empty or the item lacks one of them */
function fill(template: string, item: Item, encode: (text: string) => string): string | undefined {
  let isWhole = template !== '';
  const text = template.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = fieldOf(item, name);
    isWhole &&= value !== '';
    return encode(value);
  });
  return isWhole ? text : undefined;
}

function fieldOf(item: Item, name: string): string {
  if (name === 'ItemId' || name === 'Comment') return item[name];
  let value: Json | undefined = item.LabelsAsGiven;
  for (const key of name.split('.').slice(1)) {
    const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    value = isObject ? (value as { readonly [key: string]: Json })[key] : undefined;
  }
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
