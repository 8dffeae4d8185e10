/**
 * Names of columns that are understood, in English, German, French, Spanish, Italian, Dutch and, of orders, in some thirty more
 * languages: small letters without accents, blanks, dashes and underscores.
 */

const words = (text: string): readonly string[] =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').normalize('NFC').trim().split(/\s+/);

/** Names of a key, which go before names put together of common words, and those before what is often a name. */
const USER_KEYS = words(`
  userid uid userpseudoid distinctid userno customerid customernumber customerno clientid buyerid accountid personid reviewerid memberid
  kundennummer kundennr kundenid kunnr kunag klantnummer kundnummer kundnr kundid kundenummer kundenr kundeid
  会員番号 会員id 会員コード 顧客番号 顧客id 顧客コード お客様番号 ユーザーid ユーザid
  회원번호 회원아이디 회원id 회원코드 고객번호 고객아이디 고객id 고객코드 사용자아이디 사용자id 주문자아이디 주문자id
  رقمالعميل كودالعميل معرفالعميل رقمالزبون رقمالمستخدم معرفالمستخدم`);
const USER_WORDS = words(`
  user customer buyer purchaser reviewer member student pupil attendee subscriber listener borrower patron learner loyaltycard librarycard cardholder household kunde nutzer benutzer debitor auftraggeber besteller kaufer kaeufer soldto soldtoparty utilisateur
  acheteur cliente usuario comprador utente acquirente klant gebruiker koper username client bookedby orderedby purchasedby kund
  klient uzytkownik nabywca kupujacy odbiorca zakaznik kupujici musteri kullanici uye alici 会員 顧客 お客様 購入者 ユーザー 회원 고객 사용자 구매자 주문자 العميل عميل الزبون المستخدم المشتري ชื่อผู้ใช้ 买家会员名 买家昵称`);
/** Visitors that are known before a visit. */
const VISITS = words('visitorid visitor amplitudeid deviceid sessionid kortnummer kartennummer cardnumber');
const ITEM_KEYS = words(`
  itemid iid movieid filmid productid productcode productno sku asin articleid articleno articlenumber articleordernumber biblionumber oclcnumber mmsid itemno
  itemnumber bookid isbn trackid spotifytrackuri songid artistid videoid gameid stockcode matnr artikelnummer artikelnr artikelid produktnummer
  produktnr produktid varenummer varenr varunummer varunr
  商品コード 商品管理番号 商品番号 商品id 品番 製品コード 製品番号 書籍コード 作品id 記事id
  상품코드 상품번호 상품id 제품코드 제품번호 품목코드 도서코드 رقمالمنتج كودالمنتج رمزالمنتج معرفالمنتج رقمالصنف كودالصنف رمزالصنف
  артикул cikkszam tittelnr titelnr מקט`);
const ITEM_WORDS = words(`
  item movie film product article book track song recipe podcast episode course lesson artikel produkt material produit producto articulo prodotto articolo towar artykul
  ksiazka zbozi vyrobek kniha livro urun 商品 製品 作品 상품 제품 품목 المنتج منتج الصنف صنف upc ean gtin barcode barkod plu`);
/** Of orders perhaps a number of their own; so these come last. */
const ITEM_REFERENCES = words(
  'propertyid propertycode hotelid hotelcode listingid ref reference referencia riferimento eventcontext ereigniskontext',
);
const TITLES = words(`
  comment titletext arktx maktx mastermetadatatrackname title name titel bezeichnung benennung titre designation libelle nom titulo nombre titolo nome denominazione
  naam benamning varenavn produktnavn produktnamn tytul nazwa nazev ad baslik 商品名 品名 製品名 書名 作品名 タイトル 名称 상품명 제품명 품목명 도서명 제목
  اسمالمنتج اسمالصنف العنوان название наименование назва найменування nazov megnevezes denumire ονομασια nimetus nimike pavadinimas nosaukums tittel 名稱 标题 標題`);
const DESCRIPTIONS = words(
  'description beschreibung kurztext descripcion descrizione omschrijving beskrivning beskrivelse descricao opis popis aciklama 説明 설명 الوصف',
);

/** The names of each field; of several columns the one counts whose name stands first. */
export const COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = {
  UserId: [...USER_KEYS, ...USER_WORDS, ...VISITS],
  ItemId: [...ITEM_KEYS, ...ITEM_WORDS, ...ITEM_REFERENCES],
  FeedbackType: words(
    'feedbacktype eventtype eventname votetype votetypeid actiontype event action behavior interaction type',
  ),
  Timestamp: words(`
    timestamp eventtimestamp datetime eventtime createdat created datecreated when ts date time kaufdatum bestelldatum zeitstempel zeitpunkt datum
    zeit fkdat audat tijd horodatage fecha dato czas cas tarih zaman 注文日 注文日時 購入日 購入日時 受注日 売上日 日時 日付
    주문일 주문일시 주문일자 구매일 구매일시 구매일자 결제일 결제일시 일시 날짜 تاريخالطلب تاريخالشراء التاريخ تاريخ
    дата датазаказа датазамовлення дататавремя ημερομηνια paivays pvm kuupaev ngay tanggal תאריך`),
  Rating: words(`
    rating ratings myrating yourrating userrating starrating score stars preference bewertung wertung sterne etoiles calificacion puntuacion valoracion estrellas
    valutazione voto punteggio beoordeling waardering ocena hodnoceni avaliacao puan 評価 평점 별점 التقييم تقييم 评分 評分 оценка рейтинг оцінка betyg vurdering
    arvosana βαθμολογια ertekeles hodnotenie hinnang vertejums ivertinimas danhgia คะแนน דירוג`),
  Value: words(`
    value quantity qty fkimg kwmeng amount menge anzahl stuckzahl stueckzahl stuck stueck quantite qte qtd cantidad unidades quantita qta
    aantal antal antall quantidade ilosc sztuk mnozstvi mnozstvo kolicina pocet qtde adet miktar 数量 個数 冊数 수량 주문수량 구매수량 الكمية كمية
    количество колво кількість ксть mennyiseg darab db cantitate buc ποσοτητα maara kpl kogus kiekis daudzums soluong jumlah kuantitas จำนวน כמות تعداد 數量`),
  Comment: [...TITLES, ...DESCRIPTIONS],
  Categories: words(`
    categories category matkl genres genre kategorie kategorien warengruppe categorie rubrique rayon categoria categorias famille familia famiglia varugrupp
    varegruppe kategoria dzial grupa gatunek zanr department section kategori カテゴリ カテゴリー ジャンル 分類 카테고리 분류 장르
    الفئة التصنيف القسم категория категорія раздел розділ группа група жанр csoport κατηγορια tuoteryhma danhmuc หมวดหมู่ קטגוריה 类别 類別 分类 类目`),
  Labels: words(
    'labels label tags tag keywords schlagworte stichworte etiquettes etiquetas etichette etykiety tagi stitky etiketler タグ 태그 الوسوم',
  ),
  IsHidden: words('ishidden hidden discontinued archived disabled'),
  Subscribe: words('subscribe subscriptions'),
};

/** True for the name of a field as the API has it. */
export function isFieldName(name: string): boolean {
  return Object.hasOwn(COLUMN_NAMES, name);
}

/** One of several words, as a part of a pattern. */
const anyOf = (text: string) => `(?:${words(text).join('|')})`;

// Words of English, German and Dutch, in which what a thing is comes last: `Artikelnummer`, `customer_id`.
const WHO = anyOf(`
  steam students? pupils? attendees? readers? listeners? viewers? profiles? borrowers? players? learners? patrons? households? loyalty(?:cards?|members?)? users? customers? cust clients? buyers? shoppers? members? subscribers? accounts? persons? reviewers? kunden? kd
  debitor(?:en)? besteller kaufer kaeufer nutzer benutzer mitglieds? abonnent(?:en)? klant(?:en)? gebruikers? kopers?
  debiteur(?:en)? musteri kullanici uye alici`);
const VISITOR = anyOf('visitors? anonymous guests? gast besucher bezoekers?');
const WHAT = anyOf(`
  items? lineitem products? prod variants? variante(?:n)? articles? parts? skus? stock movies? films? books? tracks? songs?
  videos? games? apps? listings? courses? posts? questions? recipes? episodes? shows? series podcasts? anime beers? wines? jobs? restaurants? venues? business hotels? artikel art produkt produkts material mat teile? buch boek urun stok`);
const KEY = anyOf(
  'ids? no nr num number nummer internalreference barcode code kennung key ref uuid guid hash sku kodu numarasi',
);
const TITLE = anyOf('title name bezeichnung bez benennung titel kurztext kurzbezeichnung naam adi ismi');
const DESCRIPTION = anyOf('description desc beschreibung text langtext omschrijving');
const GROUP = anyOf('categor(?:y|ies) genres? gruppen? kategorien? categorie groep kategorisi grubu');
const ORDERED = anyOf(
  'bestell auftrags? liefer verkaufs? kauf absatz bestel order(?:ed)? lineitem item product',
);
/** What somebody did with an item, whose day says more than that on which it was written down. */
const DID = anyOf(
  'read watched viewed seen played listened visited borrowed bought purchased ordered completed finish(?:ed)?',
);
const RATED = anyOf('ratings? scores? stars');
const COUNT = anyOf('menge anzahl stuckzahl stueckzahl quantity qty aantal');

// Of French, Spanish, Italian, Portuguese, Polish and Czech, in which it comes first: `Code produit`, `Nr klienta`. In the singular alone:
// `num_clients` and `No. articles` are counts.
const OF = '(?:de|du|do|da|dos|das|del|della|dell|di|des|d|la|le|el|lo|il|l)*';
const ROMANCE_WHO = anyOf(`
  client cliente acheteur utilisateur usuario utente comprador acquirente membre miembro socio abonne abonado compte
  cuenta debiteur klienta uzytkownika nabywcy kupujacego odbiorcy zakaznika`);
const ROMANCE_WHAT = anyOf(`
  article produit articulo producto articolo prodotto plato plat piatto prato danie film livre libro pelicula disque disco cours corso curso
  produktu towaru artykulu oferty aukcji ksiazki zbozi vyrobku knihy polozky produto livro`);
const ROMANCE_TEXT = anyOf('description descripcion descrizione descr descricao opis popis');
const ROMANCE_COUNT = anyOf(
  'quantite qte quantita qta cantidad unidades quantidade ilosc liczba mnozstvi pocet',
);
const ROMANCE_ORDERED = anyOf(
  'commandee? ordinata pedida? achetee? acquistata comprada vendue vendida venduta zamowiona sprzedana kusu sztuk',
);

// Of languages in which words are bent: what each begins with, and up to four letters of an alphabet behind that, in either order.
const bent = (text: string) => `(?:${words(text).join('|')})[a-zа-яіґα-ω]{0,4}`;
const BENT_WHO = bent(`
  клиент клієнт покупат покупц контрагент заказчик замовник пользоват користувач купувач потребит читат vasarl vevo ugyfel felhasznal megrendel
  cumparat utilizat odberatel pouzivat uzivatel πελατ αγοραστ χρηστ asiak kayttaj ostaj tilaaj lainaaj kasutaj ostj klien pirkej vartotoj pircej
  lietotaj khachhang nguoimua nguoidung pelanggan pembeli pengguna kupc kupac korisnik bruker bruger kober kjoper laner anvandar kopar lantagar
  ลูกค้า ผู้ซื้อ ผู้ใช้ สมาชิก לקוח קונה משתמש مشتری خریدار کاربر 客户 顾客 用户 会员 买家 客戶 顧客 用戶 會員 買家`);
const BENT_WHAT = bent(`
  товар номенклатур продукт издели книг фильм termek cikk konyv produs articol προιον ειδ tuot nimik toot kaub prek prece vyrobk poloz sanpham
  mathang produk barang buku vare varu tittel kirja proizvod sku สินค้า מוצר פריט کالا محصول 商品 宝贝 货品 产品 產品`);
const BENT_KEY = anyOf(`
  n num code codigo codice login identifiant identificador identificativo ref reference referencia riferimento cle numer symbol indeks cpf id код
  номер no kod kodu szam azonosito cod codul nr numar cislo κωδικος αριθμος numero tunnus koodi kodas numeris kods kood number ma so kode nomor
  nomorreferensi sifra รหัส เลขที่ เลขอ้างอิง מספר קוד מזהה کد شناسه شماره 编号 編號 编码 編碼 代码 代碼 账号 帳號 货号`);
const BENT_TITLE = anyOf(`
  nom nombre nome titre titulo titolo designation libelle denominazione nazwa tytul название наименование назва найменування име nev neve megnevezes
  denumire denumirea nume nazov nazev naziv ονομα ονομασια τιτλος nimi nimetus nimike nosaukums pavadinimas ten nama navn namn ชื่อ שם نام 名称 名稱 标题
  標題 名`);
const BENT_GROUP = anyOf(`
  famille familia famiglia categorie rubrique rayon gruppo grupo groupe genre genero genere grupa kategorie категория категорія группа група
  kategoria kategoriaja csoport categoria κατηγορια ryhma kategoori grupp kategorija danhmuc nhom kategori หมวดหมู่ קטגוריה دسته 类别 類別 分类 分類 类目`);
const BENT_ITEM = new RegExp(`^${BENT_WHAT}$`);
const eitherWay = (one: string, other: string) => [`${one}(?:${OF}|на|του)${other}`, `${other}${one}`];

/** A pattern of a whole name. */
const whole = (...patterns: readonly string[]) => new RegExp(`^(?:${patterns.join('|')})$`);

const MAIL = new RegExp(
  `^(?:${WHO}|${VISITOR}|purchase|order|contact)?e?mail(?:address|cim)?$|^(?:имеил|элпочта|електроннапошта|электроннаяпочта|elpastas|epasts|sahkoposti|epost|eposta|邮箱|電子郵件)$`,
);

/** A column of a field by its name. */
type Known = readonly string[] | RegExp;

/** Fields in the order in which they are looked for; each takes no column that has been taken, but for a name of the list. */
const ORDER: readonly (readonly [field: string, known: Known])[] = [
  ['UserId', USER_KEYS],
  [
    'UserId',
    whole(
      `${WHO}(?:unique)?(?:${KEY}|username|login|account)`,
      `id${WHO}`,
      ...eitherWay(BENT_KEY, `(?:${ROMANCE_WHO}|${BENT_WHO})`),
    ),
  ],
  ['UserId', [...USER_WORDS, ...VISITS]],
  ['UserId', whole(BENT_WHO)],
  ['UserId', whole(`${VISITOR}${KEY}`)],
  ['UserId', MAIL],
  // Of several people with one name there is one user, which is better than none.
  ['UserId', whole(`(?:review)?${WHO}(?:full)?name`, ...eitherWay(BENT_TITLE, BENT_WHO))],
  ['ItemId', ITEM_KEYS],
  [
    'ItemId',
    whole(
      `(?:${WHAT}){1,2}(?:db)?${KEY}`,
      `id${WHAT}`,
      ...eitherWay(BENT_KEY, `(?:${ROMANCE_WHAT}|${BENT_WHAT})`),
      'productviewsku',
    ),
  ],
  ['ItemId', [...ITEM_WORDS, ...ITEM_REFERENCES]],
  ['ItemId', BENT_ITEM],
  ['Timestamp', whole(`(?:my)?${DID}(?:date|day|on|at)`, `date${DID}`)],
  ...['FeedbackType', 'Timestamp', 'Rating', 'Value', 'Labels', 'IsHidden', 'Subscribe', 'Categories'].map(
    (field) => [field, COLUMN_NAMES[field]!] as const,
  ),
  [
    'Rating',
    whole(`(?:review|overall|user|customer|student|my|your)?${RATED}{1,2}(?:given|value)?`, 'reviewoverall'),
  ],
  ['Value', whole(`${ORDERED}${COUNT}`, `${COUNT}ordered`, `${ROMANCE_COUNT}${OF}${ROMANCE_ORDERED}`)],
  // In orders a bare name is that of the order or of the customer.
  [
    'Comment',
    whole(
      `(?:lineitem|item|product|produkt|artikel)${TITLE}`,
      'menuitem',
      ...eitherWay(BENT_TITLE, BENT_WHAT),
    ),
  ],
  ['Comment', TITLES],
  ['Comment', whole(`${WHAT}${TITLE}`, `waren(?:bezeichnung|name)`, `${BENT_TITLE}${OF}${ROMANCE_WHAT}`)],
  ['Comment', whole(`artists?${TITLE}`)],
  ['Comment', DESCRIPTIONS],
  ['Comment', whole(`${WHAT}${DESCRIPTION}`, `${ROMANCE_TEXT}${OF}${ROMANCE_WHAT}`)],
  [
    'Categories',
    whole(
      `(?:${WHAT}){1,2}${GROUP}`,
      ...eitherWay(BENT_GROUP, `(?:${ROMANCE_WHAT}|${BENT_WHAT})`),
      'categoriamerceologica',
    ),
  ],
];

/** Letters that have no accent to be left out. */
const UNDIVIDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  đ: 'd',
  ı: 'i',
};

/** Lists of what was ordered, by which Odoo begins the names of columns: `Order Lines/Product`. */
const LIST = /^.*(?:\[\]\.|(?:lines?|lignes|positionen|zeilen)[^/]*\/)/i;

/** An object around a key in JSON: one of keys by who gives them, as `movie.ids.imdb`, or of a type, as MongoDB has `_id.$oid`. */
const OBJECT_OF_KEY = /(?<=\.id)s\.[^.]+$|\.\$\w+$/;

/** A name as the list has it, without the list that it is in; what it has in brackets behind it says more of it: `Email (Billing)`. */
export function plainName(name: string): string {
  return name
    .replace(LIST, '')
    .replace(OBJECT_OF_KEY, '')
    .replace(/(?<=\p{L}.*)[(（][^)）]*[)）]/u, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[ßłøæœđı]/g, (letter) => UNDIVIDED[letter]!)
    .replace(/[^\p{L}]/gu, '')
    .normalize('NFC');
}

/** True for a column that tells something of customers, such as `customer_status`. */
export function isOfCustomers(name: string): boolean {
  return new RegExp(`^(?:${WHO}|${ROMANCE_WHO})|${ROMANCE_WHO}$`).test(plainName(name));
}

/** True for a column that is called as ratings of items are, by one user or by all: `Book-Rating`. */
export function isRatingOfItems(name: string): boolean {
  return RATING_OF_ITEMS.test(plainName(name));
}

/** True when a column is called as an address of mail is. */
export function isMailName(name: string): boolean {
  return MAIL.test(plainName(name));
}

/** Field by column number: keys, then names put together of common words, then what is often a name. */
export function mappingByNames(names: readonly string[]): Record<string, number> {
  const plain = names.map(plainName);
  const mapping: Record<string, number> = {};
  const find = (namesFor: (field: string) => readonly string[]) => {
    for (const [field, known] of ORDER) {
      if (field in mapping) continue;
      const at = columnOf(namesFor(field), known, Object.values(mapping));
      if (at >= 0) mapping[field] = at;
    }
  };
  find(() => plain);
  // Of nested names the last two parts count where the whole tells nothing, and then the last.
  for (const count of names.some((name) => name.includes('.')) ? [2, 1] : [])
    find((field) => names.map((name) => lastParts(name, count, field)));
  const title =
    'ItemId' in mapping && !('Comment' in mapping) ? titleBesideKey(plain, Object.values(mapping)) : -1;
  return title < 0 ? mapping : { ...mapping, Comment: title };
}

/** The last parts of a name with dots; none of what is short for a word (`Lief.Name`), or of something else, as in `product.created_at`. */
function lastParts(name: string, count: number, field: string): string {
  const parts = name.replace(OBJECT_OF_KEY, '').split(/\.(?=[\p{Ll}_])/u);
  const owner = parts.at(-count - 1);
  if (owner === undefined) return '';
  const isOfWhat = OF_ITEMS.test(plainName(owner)) && !ITEM_OWN.includes(field);
  const isOfWho = isOfCustomers(owner) && field !== 'UserId';
  return isOfWhat || isOfWho ? '' : plainName(parts.slice(-count).join('.'));
}

const RATING_OF_ITEMS = whole(`${WHAT}${RATED}`);
const OF_ITEMS = whole(WHAT, ROMANCE_WHAT);
const ITEM_OWN = ['ItemId', 'Comment', 'Categories', 'Labels', 'IsHidden'];

function columnOf(plain: readonly string[], known: Known, taken: readonly number[]): number {
  if (known instanceof RegExp) return plain.findIndex((name, at) => known.test(name) && !taken.includes(at));
  const name = known.find((each) => plain.includes(each));
  return name === undefined ? -1 : plain.indexOf(name);
}

/** A column of items that is called just as an item is, beside one of keys: their titles. */
function titleBesideKey(plain: readonly string[], taken: readonly number[]): number {
  return plain.findIndex(
    (name, at) => !taken.includes(at) && (ITEM_TITLES.includes(name) || BENT_ITEM.test(name)),
  );
}

const ITEM_TITLES = ITEM_WORDS.filter(
  (word) => !['upc', 'ean', 'gtin', 'barcode', 'barkod', 'plu'].includes(word),
);

/** Ends of the names of columns of times, or in French, Spanish and Italian beginnings. */
const TIME_NAME =
  /(?:date|datum|time|zeit|tijd|tid|heure|hora|ora|godzina|czas|čas|saati?|時刻|時間|시간|시각|stamp|stempel|tarihi?|dato|dátum\p{L}*|data|päivä\p{L}*|pvm|kuupäev|дата|время|日期|时间|[ _-]at|[a-z]At|[ _-](?:on|am|ts|dt|utc))$|^checked[ _-]?out$|^(?:date|datum|fecha|data|heure|hora|ora|дата|время|ημερομηνία|ngày|thời gian|tanggal|tgl|waktu|תאריך|تاریخ)(?:[ _-]|$)|^(?:วันที่|เวลา)/iu;
const ORDER_TIME =
  /order|purchas|bought|sold|sale[ _-]?(?:date|time)|invoice|event|creat|kauf|auftrag|bestell|rechnung|erstellt|command|achat|factur|fattur|pedid|compra|acquist|ordin|aankoop|zam[oó]wi|zakup|sprzeda|objedn|n[aá]kup|sipari|satış|заказ|замовл|поръч|прода|покуп|созда|rendel|comen|παραγγ|tilaus|osto|ostu|užsak|pesan|beli|đặt|mua|สั่งซื้อ|订单|下单|訂單|購買|购买|成交|הזמנ|utlån|utlan|laina/iu;
const NO_EVENT =
  /birth|geburt|naissance|nacimiento|nascita|geboorte|expir|ablauf|valid|gultig|gültig|due|fallig|fällig|urodz|nascimento|narozen|wa[zż]no|platnost|рожд|народж|szület|naşter|γένν|γεννή|syntym|fødsel|födel|sünni|gimim|sinh|lahir|เกิด|出生|生日|לידה/iu;
const CHANGED = /updat|modif|geänd|geaend|измен/i;

/** True for a column of whole sentences about each row, which are no titles. */
export function isSentence(name: string): boolean {
  return ['comment', ...DESCRIPTIONS].includes(plainName(name));
}

/** True for a column whose times are not those of what its rows tell of, such as `valid until` or `customer_since`. */
export function isNoEvent(name: string): boolean {
  return NO_EVENT.test(name) || isOfCustomers(name);
}

/** True for a column that tells when a row was changed, which is nearer to its event than nothing. */
export function isOfChange(name: string): boolean {
  return CHANGED.test(name);
}

/**
 * The column of times by its name: of an order before others; of births and ends of validity never.
 * @param holdsTimes whether a column holds times, or times of day where such are looked for, and nothing else
 */
export function timeColumn(names: readonly string[], holdsTimes: (at: number) => boolean): number {
  const isTime = (name: string) =>
    TIME_NAME.test(name.replace(/\([^)]*\)\s*$/, '').trim()) && !NO_EVENT.test(name) && !isOfChange(name);
  const ordered = names.findIndex((name, at) => isTime(name) && ORDER_TIME.test(name) && holdsTimes(at));
  return ordered >= 0 ? ordered : names.findIndex((name, at) => isTime(name) && holdsTimes(at));
}
