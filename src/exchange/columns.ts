/**
 * What the columns of a file of users, items or feedback mean, told by their names or by their first values. Used by the
 * command line and by the dashboard.
 */

import { timeForm } from './time-forms.ts';

/** What a file holds. */
export type Kind = 'users' | 'items' | 'feedback';

/** The fields that a column of a file may become. */
export const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId', 'Labels', 'Comment', 'Subscribe'],
  items: ['ItemId', 'Comment', 'Categories', 'Labels', 'Timestamp', 'IsHidden'],
  feedback: ['UserId', 'ItemId', 'FeedbackType', 'Timestamp', 'Rating', 'Value', 'Comment'],
};
/** The fields of the API's records, in the order in which exports have them. */
export const API_FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId', 'Labels', 'Comment', 'Subscribe'],
  items: ['ItemId', 'IsHidden', 'Categories', 'Timestamp', 'Labels', 'Comment'],
  feedback: ['FeedbackType', 'UserId', 'ItemId', 'Timestamp', 'Comment', 'Value'],
};
export const REQUIRED: Readonly<Record<Kind, readonly string[]>> = {
  users: ['UserId'],
  items: ['ItemId'],
  feedback: ['UserId', 'ItemId'],
};

/**
 * Names of columns that are understood, in English, German, French, Spanish, Italian and Dutch: small letters without
 * accents, blanks, dashes and underscores. Of several columns the one counts whose name stands first: keys before what is
 * often a name, whoever is known before a visit.
 */
export const COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = {
  UserId: [
    'userid',
    'user',
    'uid',
    'userno',
    'customerid',
    'customernumber',
    'customerno',
    'customer',
    'clientid',
    'buyerid',
    'accountid',
    'personid',
    'reviewerid',
    'memberid',
    'member',
    'kundennummer',
    'kundennr',
    'kundenid',
    'kunde',
    'nutzer',
    'benutzer',
    'utilisateur',
    'cliente',
    'usuario',
    'utente',
    'klantnummer',
    'klant',
    'gebruiker',
    'username',
    'client',
    'visitorid',
    'visitor',
    'sessionid',
  ],
  ItemId: [
    'itemid',
    'item',
    'iid',
    'movieid',
    'movie',
    'filmid',
    'film',
    'productid',
    'productcode',
    'productno',
    'product',
    'sku',
    'asin',
    'isbn',
    'articleid',
    'articleno',
    'articlenumber',
    'article',
    'itemno',
    'itemnumber',
    'bookid',
    'book',
    'trackid',
    'songid',
    'artistid',
    'videoid',
    'gameid',
    'stockcode',
    'artikelnummer',
    'artikelnr',
    'artikelid',
    'artikel',
    'produktnummer',
    'produktnr',
    'produkt',
    'produit',
    'producto',
    'articulo',
    'prodotto',
    'articolo',
  ],
  FeedbackType: ['feedbacktype', 'eventtype', 'event', 'action', 'behavior', 'interaction', 'type'],
  Timestamp: [
    'timestamp',
    'datetime',
    'eventtime',
    'createdat',
    'created',
    'when',
    'ts',
    'date',
    'time',
    'kaufdatum',
    'bestelldatum',
    'zeitstempel',
    'zeitpunkt',
    'datum',
    'zeit',
    'tijd',
    'horodatage',
    'fecha',
  ],
  Rating: [
    'rating',
    'score',
    'stars',
    'preference',
    'bewertung',
    'sterne',
    'calificacion',
    'valutazione',
    'beoordeling',
  ],
  Value: [
    'value',
    'quantity',
    'qty',
    'amount',
    'menge',
    'anzahl',
    'stuckzahl',
    'stueckzahl',
    'quantite',
    'cantidad',
    'quantita',
    'aantal',
  ],
  Comment: [
    'comment',
    'title',
    'name',
    'description',
    'titel',
    'bezeichnung',
    'beschreibung',
    'titre',
    'designation',
    'titulo',
    'descripcion',
    'titolo',
    'descrizione',
    'omschrijving',
  ],
  Categories: [
    'categories',
    'category',
    'genres',
    'genre',
    'kategorie',
    'kategorien',
    'warengruppe',
    'categorie',
    'rubrique',
    'categoria',
    'categorias',
  ],
  Labels: [
    'labels',
    'label',
    'tags',
    'tag',
    'keywords',
    'schlagworte',
    'stichworte',
    'etiquettes',
    'etiquetas',
    'etichette',
  ],
  IsHidden: ['ishidden', 'hidden', 'discontinued', 'archived', 'disabled'],
  Subscribe: ['subscribe', 'subscriptions'],
};

/** Field by column number; a column without one is passed over. */
export type Mapping = Readonly<Record<string, number>>;

/** How the first rows of a file are to be read. */
export interface Guess {
  readonly kind: Kind;
  readonly hasHeader: boolean;
  readonly mapping: Mapping;
}

const WHO =
  '(?:user|customer|cust|client|buyer|shopper|member|subscriber|visitor|guest|account|person|reviewer)s?';
const WHAT =
  '(?:item|product|prod|variant|article|sku|stock|movie|film|book|track|song|artist|video|game|listing|course)s?';
const KEY = '(?:ids?|no|nr|num|number|code|key|ref|uuid|guid|hash|sku)';
const MAIL = new RegExp(`^(?:${WHO})?e?mail(?:address)?$`);
/** Names put together of common words, which count where no column has a name of the list. */
const COMPOUND_NAMES: readonly (readonly [string, RegExp])[] = [
  ['UserId', new RegExp(`^${WHO}${KEY}$`)],
  ['UserId', MAIL],
  ['ItemId', new RegExp(`^${WHAT}${KEY}$`)],
  ['Comment', new RegExp(`^${WHAT}(?:title|name|description)$`)],
  ['Categories', new RegExp(`^${WHAT}(?:categor(?:y|ies)|genres?)$`)],
];

function plainName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(/[^a-z]/g, '');
}

/** Field by column number: a name of the list goes before a later one of it and before a compound one. */
function mappingByNames(names: readonly string[]): Record<string, number> {
  const plain = names.map(plainName);
  const mapping: Record<string, number> = {};
  for (const [field, known] of Object.entries(COLUMN_NAMES)) {
    const name = known.find((each) => plain.includes(each));
    if (name !== undefined) mapping[field] = plain.indexOf(name);
  }
  for (const [field, pattern] of COMPOUND_NAMES) {
    if (field in mapping) continue;
    const at = plain.findIndex((name) => pattern.test(name));
    if (at >= 0 && !Object.values(mapping).includes(at)) mapping[field] = at;
  }
  return mapping;
}

/** Tells by the first rows what a file holds and which column is what. */
export function guess(rows: readonly (readonly string[])[], isNamed = false): Guess {
  const names = rows[0] ?? [];
  const mapping = mappingByNames(names);
  const isData = names.some(isValue) || (Object.keys(mapping).length === 0 && !isAboveValues(rows));
  if (isData && !isNamed) return { kind: 'feedback', hasHeader: false, mapping: byPlace(rows) };
  const time = 'Timestamp' in mapping ? -1 : timeColumn(rows, Object.values(mapping));
  if (time >= 0) mapping.Timestamp = time;
  const has = (...fields: readonly string[]) => fields.some((field) => field in mapping);
  // A file of items or users calls its key just "id", and users have addresses beside it.
  const id = names.findIndex((name) => name.trim().toLowerCase() === 'id');
  const isMail = has('UserId') && MAIL.test(plainName(names[mapping.UserId!]!));
  if (id >= 0 && !has('ItemId') && (isMail || !has('UserId'))) {
    const isItems = !isMail && has('Categories', 'Comment', 'Timestamp', 'IsHidden');
    mapping[isItems ? 'ItemId' : 'UserId'] = id;
  }
  return { kind: kindOf(mapping), hasHeader: true, mapping };
}

function kindOf(mapping: Mapping): Kind {
  const hasItem = 'ItemId' in mapping;
  if ('UserId' in mapping) return hasItem ? 'feedback' : 'users';
  return hasItem || 'Categories' in mapping || 'Comment' in mapping ? 'items' : 'feedback';
}

/** True when a column holds numbers or times under a first cell that is neither: the first row names the columns. */
function isAboveValues([first = [], ...body]: readonly (readonly string[])[]): boolean {
  return first.some((name, at) => {
    const given = body.map((row) => row[at] ?? '').filter((value) => value !== '');
    return name !== '' && given.length > 0 && !isValue(name) && given.every(isValue);
  });
}

/** What no column is called: a number, or a date. */
function isValue(cell: string): boolean {
  const number = cell.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2');
  return timeForm([cell]) !== undefined || (number !== '' && Number.isFinite(Number(number)));
}

/** How names of columns of times end. */
const TIME_NAME = /(?:date|time|stamp|[ _-]at|[a-z]At|[ _-](?:on|ts|utc))$/i;

/** The first column whose name speaks of a time, such as `InvoiceDate` or `purchased_at`, and which holds nothing else. */
function timeColumn([names = [], ...body]: readonly (readonly string[])[], taken: readonly number[]): number {
  return names.findIndex(
    (name, at) =>
      !taken.includes(at) &&
      TIME_NAME.test(name.trim()) &&
      timeForm(body.map((row) => row[at] ?? '')) !== undefined,
  );
}

/** Without names: user, item, then a small number is a rating and a large one or a date is a time. */
function byPlace(rows: readonly (readonly string[])[]): Mapping {
  const mapping: Record<string, number> = { UserId: 0, ItemId: 1 };
  const width = rows[0]?.length ?? 0;
  for (let at = 2; at < width; at++) {
    const values = rows.map((row) => row[at] ?? '').filter((value) => value !== '');
    if (values.length === 0) continue;
    if (timeForm(values) !== undefined) mapping.Timestamp ??= at;
    else if (values.every((value) => Number.isFinite(Number(value)))) mapping.Rating ??= at;
    else mapping.FeedbackType ??= at;
  }
  return mapping;
}
