import { describe, expect, it } from 'vitest';
import { guess } from '../../src/exchange/guess-columns.ts';

/** What a first row is taken for, with the names of the columns in place of their numbers. */
function named(header: string): object {
  const names = header.split(';');
  const { kind, hasHeader, mapping } = guess([names]);
  expect(hasHeader).toBe(true);
  return { kind, ...Object.fromEntries(Object.entries(mapping).map(([field, at]) => [field, names[at]])) };
}

describe('the columns of a file', () => {
  it.each<[string, string, object]>([
    [
      'a German article master',
      'Artikelnr;Artikelbezeichnung;Warengruppe;VK-Preis',
      { ItemId: 'Artikelnr', Comment: 'Artikelbezeichnung', Categories: 'Warengruppe' },
    ],
    [
      'one with short and long texts',
      'Art.-Nr.;Hersteller-Name;Art.-Bez. 1;Art.-Bez. 2;Beschreibung;Artikelgruppe;Preisgruppe',
      { ItemId: 'Art.-Nr.', Comment: 'Art.-Bez. 1', Categories: 'Artikelgruppe' },
    ],
    [
      'one whose title is called as the article is',
      'Artikelnummer;Artikel;Lieferantenname;Kategorie',
      { ItemId: 'Artikelnummer', Comment: 'Artikel', Categories: 'Kategorie' },
    ],
    [
      'one out of SAP',
      'Materialnummer;Materialkurztext;Materialgruppe',
      { ItemId: 'Materialnummer', Comment: 'Materialkurztext', Categories: 'Materialgruppe' },
    ],
    [
      'the books of a shop',
      'ISBN;Buchtitel;Autorenname;Verlagsname',
      { ItemId: 'ISBN', Comment: 'Buchtitel' },
    ],
    [
      'articles by a bare reference',
      'Réf.;Désignation;Famille;Prix TTC',
      { ItemId: 'Réf.', Comment: 'Désignation', Categories: 'Famille' },
    ],
    [
      'French products',
      'Réf. article;Désignation article;Famille article;Prix HT',
      { ItemId: 'Réf. article', Comment: 'Désignation article', Categories: 'Famille article' },
    ],
    [
      'French products by their names',
      'Code produit;Nom du produit;Catégorie produit;Nom du fournisseur',
      { ItemId: 'Code produit', Comment: 'Nom du produit', Categories: 'Catégorie produit' },
    ],
    [
      'Spanish products',
      'Código de artículo;Nombre del producto;Familia;Precio',
      { ItemId: 'Código de artículo', Comment: 'Nombre del producto', Categories: 'Familia' },
    ],
    [
      'Italian products',
      'Cod. articolo;Descrizione articolo;Categoria merceologica;Prezzo',
      { ItemId: 'Cod. articolo', Comment: 'Descrizione articolo', Categories: 'Categoria merceologica' },
    ],
    [
      'Dutch products',
      'Artikelcode;Artikelomschrijving;Productgroep;Verkoopprijs',
      { ItemId: 'Artikelcode', Comment: 'Artikelomschrijving', Categories: 'Productgroep' },
    ],
    [
      'English products, titles before descriptions',
      'Product description;Product title;Item No.;Brand name;Product category',
      { ItemId: 'Item No.', Comment: 'Product title', Categories: 'Product category' },
    ],
  ])('of items are known by the parts of their names: %s', (_, header, expected) => {
    expect(named(header)).toEqual({ kind: 'items', ...expected });
  });

  it.each<[string, string, object]>([
    [
      'German orders',
      'Belegnr;Kd.-Nr.;Kundenname;Art.-Nr.;Bestellmenge;Mindestmenge;Einzelpreis',
      { UserId: 'Kd.-Nr.', ItemId: 'Art.-Nr.', Value: 'Bestellmenge' },
    ],
    [
      'orders with keys beside names',
      'Kunde;Artikel;Debitorennummer;Produktcode;Stück',
      { UserId: 'Debitorennummer', ItemId: 'Produktcode', Comment: 'Artikel', Value: 'Stück' },
    ],
    [
      'order lines of Odoo',
      'Order Reference;Order Date;Customer/ID;Customer;Order Lines/Product/Internal Reference;Order Lines/Product;Order Lines/Product/Product Category;Order Lines/Quantity',
      {
        UserId: 'Customer/ID',
        ItemId: 'Order Lines/Product/Internal Reference',
        Comment: 'Order Lines/Product',
        Categories: 'Order Lines/Product/Product Category',
        Value: 'Order Lines/Quantity',
      },
    ],
    [
      'invoice lines by the names of SAP',
      'VBELN;POSNR;FKDAT;KUNAG;NAME1;MATNR;ARKTX;FKIMG;NETWR',
      { UserId: 'KUNAG', ItemId: 'MATNR', Timestamp: 'FKDAT', Comment: 'ARKTX', Value: 'FKIMG' },
    ],
    [
      'loans of a library',
      'Patron Barcode;Item Barcode;Biblionumber;Title;Due Date',
      { UserId: 'Patron Barcode', ItemId: 'Biblionumber', Comment: 'Title' },
    ],
    [
      'books that a member read',
      'Member;Book Id;Title;ISBN;My Rating;Average Rating',
      { UserId: 'Member', ItemId: 'Book Id', Comment: 'Title', Rating: 'My Rating' },
    ],
    [
      'numbers of others than the customer and of other articles',
      'Lieferantennummer;Kundenartikelnummer;Kundengruppe;Kunden-ID;Artikel-ID;Rechnungsnummer',
      { UserId: 'Kunden-ID', ItemId: 'Artikel-ID' },
    ],
    [
      'French orders',
      'N° commande;N° client;Référence article;Quantité commandée',
      { UserId: 'N° client', ItemId: 'Référence article', Value: 'Quantité commandée' },
    ],
    [
      'Spanish orders',
      'Nº pedido;Código cliente;Ref. producto;Unidades',
      { UserId: 'Código cliente', ItemId: 'Ref. producto', Value: 'Unidades' },
    ],
    [
      'Italian orders',
      'Numero ordine;Codice cliente;Codice prodotto;Qtà',
      { UserId: 'Codice cliente', ItemId: 'Codice prodotto', Value: 'Qtà' },
    ],
    [
      'Dutch orders',
      'Ordernummer;Klant-ID;Productnummer;Bestelaantal',
      { UserId: 'Klant-ID', ItemId: 'Productnummer', Value: 'Bestelaantal' },
    ],
    [
      'orders out of SAP',
      'Verkaufsbeleg;Auftraggeber;Material;Bezeichnung;Auftragsmenge;Nettowert',
      { UserId: 'Auftraggeber', ItemId: 'Material', Comment: 'Bezeichnung', Value: 'Auftragsmenge' },
    ],
    [
      'orders of a French shop system',
      'id_order;id_customer;id_product;product_name;product_quantity;unit_price',
      {
        UserId: 'id_customer',
        ItemId: 'id_product',
        Comment: 'product_name',
        Value: 'product_quantity',
      },
    ],
    [
      'English orders of parts',
      'Order No.;Sold-to party;Part number;Part description;Quantity ordered',
      {
        UserId: 'Sold-to party',
        ItemId: 'Part number',
        Comment: 'Part description',
        Value: 'Quantity ordered',
      },
    ],
    [
      'orders of a shop system',
      'order_id;customer_email;Lineitem sku;Lineitem quantity;Lineitem price',
      { UserId: 'customer_email', ItemId: 'Lineitem sku', Value: 'Lineitem quantity' },
    ],
  ])('of feedback are known by the parts of their names: %s', (_, header, expected) => {
    expect(named(header)).toEqual({ kind: 'feedback', ...expected });
  });

  it.each([
    'Lieferantenname',
    'Herstellername',
    'Warengruppennummer',
    'Mengeneinheit',
    'Einzelpreis',
    'Artikelpreis',
    'Preisgruppe',
    'Kundengruppe',
    'Mindestbestellmenge',
    'Vorname',
    'Nombre del proveedor',
    'Nom du fournisseur',
    'Nome fornitore',
    'Code postal',
    'Número de pedido',
    'Auftragsnummer',
    'Number of items',
    'num_users',
    'Prix produit',
    'Herstellerartikelnummer',
    'Artikelgruppenname',
    'Leveranciersnaam',
    'id_order',
    'Partner',
    'Steuersatz',
  ])('are not taken for what they only resemble: %s', (name) => {
    const { mapping } = guess([['Kundennummer', 'Artikelnummer', name]]);
    expect(mapping).toEqual({ UserId: 0, ItemId: 1 });
    // Nor where nothing else could be meant.
    const alone = guess([['x', name]], true);
    expect(alone.mapping).not.toHaveProperty('UserId');
    expect(alone.mapping).not.toHaveProperty('ItemId');
  });

  it.each([
    ['Erstellt am', '01.12.2010 08:26'],
    ['Auftragsdatum', '01.12.2010'],
    ['Date de commande', '01/12/2010'],
    ['Fecha pedido', '13/12/2010'],
    ['Data', '13/12/2010'],
    ['Data ordine', '13/12/2010'],
    ['Orderdatum', '13-12-2010'],
  ])('of times are known where they hold times: %s', (name, time) => {
    const row = ['1', '2', time];
    expect(guess([['Kundennr', 'Artikelnr', name], row]).mapping).toEqual({
      UserId: 0,
      ItemId: 1,
      Timestamp: 2,
    });
    expect(
      guess([
        ['Kundennr', 'Artikelnr', name],
        ['1', '2', 'soon'],
      ]).mapping,
    ).toEqual({
      UserId: 0,
      ItemId: 1,
    });
  });

  it('of times are those of the order before others, and never those of births', () => {
    const dates = ['01.02.1980', '05.12.2010', '01.12.2010'];
    const names = ['Geburtsdatum', 'Lieferdatum', 'Auftragsdatum', 'Kundennr', 'Artikelnr'];
    expect(guess([names, [...dates, '1', '2']]).mapping).toMatchObject({ Timestamp: 2 });
    expect(
      guess([
        ['Geburtsdatum', 'Kundennr', 'Artikelnr'],
        ['01.02.1980', '1', '2'],
      ]).mapping,
    ).toEqual({
      UserId: 1,
      ItemId: 2,
    });
  });
});
