/** Proposals where nothing is said of a file: the same on the command line and in the dashboard. */

import { counted } from '../domain/group-digits.ts';
import { plainName } from './column-names.ts';
import {
  columnOf,
  type FilePlan,
  type PlannedText,
  type Reading,
  readPlan,
  type Wishes,
} from './import-plan.ts';
import { type ColumnPairs, withPairs } from './map-columns.ts';
import { OpenReading } from './open-reading.ts';
import { LACKING } from './rows-to-records.ts';
import type { Survey } from './survey-feedback.ts';

/** Of ratings, those from this share of the largest on are proposed: 4 of 5, 7 of 10. */
const LIKED_SHARE = 0.7;
/** Words in the names of files and columns of purchases, in the languages in which columns are known: an order, a quantity, a price. */
const OF_PURCHASES =
  /order|purchas|bought|payment|currency|waehrung|wahrung|^waerk$|invoice|sales|sold|transaction|basket|receipt|quantity|qty|price|bestell|auftrag|rechnung|kae?uf|menge|anzahl|preis|umsatz|commande|achat|vente|factur|fattur|quantit|quantid|prix|pedido|compra|vend[ai]|cantidad|prec[io]|ordin[ei]|acquist|prezzo|aankoop|aantal|prijs|zamow|sprzeda|zakup|ilosc|^cena|cena$|objedn|nakup|prodej|mnozstvi|ordre|antal|pris$|siparis|satis|adet|fiyat|注文|購入|売上|数量|価格|単価|주문|구매|결제|수량|طلب|شراء|الكمية|заказ|замовл|поръчк|покуп|прода|реализ|количе|кільк|цена|ціна|rendel|mennyis|comand|comenz|cantitat|pret$|παραγγελ|ποσοτ|tilau|hinta|kogus|uzsakym|kiekis|donhang|soluong|pesanan|jumlah|สงซอ|จานวน|הזמנ|כמות|تعداد|订单|訂單|數量/;
/** The same of files of returns, which has a type of its own where quantities below 0 do not tell it. */
const OF_RETURNS =
  /retour|return|refund|rueck|ruck(?:gabe|send)|storn|cancel|devol|^res[io]$|zwrot|iade|返品/;
const [PURCHASE, RETURN] = ['purchase', 'return'];

/** The column that may have the other key of a file of users or items, if its rows are of feedback. */
export function otherKeyOf({ mapping, otherKey }: FilePlan): ColumnPairs {
  return otherKey === undefined ? [] : [[mapping.UserId === undefined ? 'user' : 'item', otherKey]];
}

/** A file read by all that is proposed where something of it is open, but for the order of days and months. */
export async function readProposed(text: PlannedText, wishes: Wishes): Promise<Reading> {
  const reading = await readPlan(text, wishes);
  const more = proposalFor(reading, wishes);
  return more === undefined ? reading : readProposed(text, { ...wishes, ...more });
}

/** What is to be said of a file that is open; undefined where nothing is, or it was said before. */
function proposalFor(
  { plan, body, open }: Reading,
  { mapping, map = [], delimiter, kind }: Wishes,
): Wishes | undefined {
  if (mapping !== undefined) return undefined;
  if (open instanceof OpenReading) {
    const { open: what, guess, guessInWords: column } = open;
    if (what === 'delimiter')
      return guess === '' || delimiter !== undefined ? undefined : { delimiter: guess };
    const isNew =
      column !== '' && ['user', 'item', 'time'].includes(what) && !map.some(([field]) => field === what);
    return isNew ? { map: withPairs(map, [[what, column]]) } : undefined;
  }
  const pairs = plan.kind === 'feedback' || plan.isApiForm || kind !== undefined ? [] : otherKeyOf(plan);
  const keys = columnOf(body, plan.mapping.UserId ?? plan.mapping.ItemId);
  // A user or an item a row is what such a file is of.
  const isOfFeedback = pairs.length > 0 && new Set(keys).size < keys.length;
  return isOfFeedback ? { map: withPairs(map, pairs) } : undefined;
}

/** The type of rows of a file that nothing else tells, by the names of the file and its columns. */
export function typeByNames(plan: FilePlan): string {
  const file = plainName(plan.path.replace(/^.*[/\\]/s, '').replace(/\..*/, ''));
  if (OF_RETURNS.test(file) && !plan.hasNegatives) return RETURN;
  return [file, ...plan.columns.map(plainName)].some((name) => OF_PURCHASES.test(name))
    ? PURCHASE
    : plan.type;
}

/** A scale of ratings goes to at most this, has at least so many steps, and seldom so many times as many zeros as ones. */
const [SCALE_MAX, STEPS_MIN, ZEROS_TIMES] = [10, 3, 3];

/** A finding that ratings of 0 mean none, since the scale begins above; undefined where they do not. */
export function describeZeros({ ratings, ratingMin, ratingMax = 0 }: Survey): string | undefined {
  if (ratingMin !== 0 || ratingMax > SCALE_MAX) return undefined;
  const rated = aboveZeroIn(ratings);
  const zeros = ratings.get(0) ?? 0;
  const ones = [...rated].reduce((sum, [rating, count]) => sum + (rating <= 1 ? count : 0), 0);
  if (rated.size < STEPS_MIN || zeros <= ZEROS_TIMES * ones) return undefined;
  const others = `${Math.min(...rated.keys())} to ${ratingMax}`;
  return `${counted(zeros, 'rows')} ${zeros === 1 ? 'has' : 'have'} a rating of 0 beside ratings from ${others}`;
}

/** The ratings above 0, and how many there are of each. */
export function aboveZeroIn(ratings: ReadonlyMap<number, number>): Map<number, number> {
  return new Map([...ratings].filter(([rating]) => rating > 0));
}

/** A round number from which on ratings are likings: whole where the largest is, else with the decimals that tell it apart. */
export function likedFrom(most: number): number {
  const least = LIKED_SHARE * most;
  return Math.ceil(least) <= most ? Math.ceil(least) : Number(least.toPrecision(2));
}

/** The plan with all ratings alike where it is open from which on they are positive. */
export function withRatingMin(plan: FilePlan): FilePlan {
  const isOpen = plan.mapping.Rating !== undefined && plan.ratingMin === undefined;
  return isOpen ? { ...plan, ratingMin: Number.NEGATIVE_INFINITY } : plan;
}

/** Where more rows than this share cannot be stored, a column was mistaken rather than that the rows are bad. */
const BAD_SHARE = 0.1;
/** The same of rows that have no user, item or time, as payments have among sales. */
const LACKING_SHARE = 0.9;

/** Tells whether rows that cannot be stored are few enough to be left out, and which of them are no feedback. */
export function judgeRefused({ rows, refused, refusals }: Survey): {
  readonly isFew: boolean;
  /** Such as `12 rows without user`; empty where there are none. */
  readonly lacking: string;
} {
  const lacking = [...refusals].flatMap(([reason, alike]) =>
    LACKING.has(reason) ? [{ rows: alike.rows, what: LACKING.get(reason)! }] : [],
  );
  const bad = refused - lacking.reduce((sum, each) => sum + each.rows, 0);
  return {
    isFew: bad <= rows * BAD_SHARE && refused <= rows * LACKING_SHARE,
    lacking: lacking.map((each) => `${counted(each.rows, 'rows')} without ${each.what}`).join(', '),
  };
}
