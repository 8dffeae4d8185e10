/** Columns that say what became of an order, and the states in which nothing was bought in the end, such as `storniert`. */

import { cellText } from './cell-text.ts';
import { isOfCustomers, plainName } from './column-names.ts';
import type { Mapping } from './guess-columns.ts';
import { isNoTime, timeForm } from './time-formats.ts';

/** Words that begin with one of these, or that are one with a `$` behind it. */
const anyOf = (text: string) => new RegExp(`^(?:${text.trim().split(/\s+/).map(plainPart).join('|')})`);
const plainPart = (word: string) => plainName(word) + (word.endsWith('$') ? '$' : '');

/** Words of orders that were cancelled, came back or never came about, in the languages of `column-names`. */
const GONE = anyOf(`
  cancel annul anul storn retour$ retoure retourn return$ returns$ returned$ refund$ refunds$ refunded$ reversed$ void$ voided$ declin
  quotation$ quote$ draft$ missing$ angebot$ entwurf devis$ brouillon presupuesto preventivo offerte$ reject fail$ failed$ failure$ expired chargeback abgelehnt abgebroch fehlgeschl rückerstatt rueckerstatt zurückerstatt erstattet zurückgegeb zurückgesend zurückgenomm
  zurueckgegeb zurueckgesend widerruf rembours renvoy refus échou abandon devol devuel reembols rechaz fallid rimbors reso$ resi$
  restituit rifiut geannul geretourn terugbetaald teruggestuurd mislukt zwroc zwrot odrzucon nieudan zrušen vracen vrácen vratk zamítnut selhal neúspěš falhou falhad estorn
  unavailab erreur$ error$ errore$ fehler$ zahlungsfehl betalingsfout błąd$ skip$ skipped$ fraud betrug retur$ recus avbest avbrut makuler returner återbetald återtag tilbakef tilbageb iptal iade reddedil キャンセル 返品 返金 取消 取り消し
  취소 주문취소 구매취소 결제취소 반품 주문반품 환불 ملغي ملغى ملغاة الغاء الإلغاء مسترجع مسترد مرتجع الاسترجاع الاسترداد
  отмен скасован возврат$ возвращ поверн отказ върнат анулир töröl visszaküld visszatér lemond returnat ramburs respins ακυρω επιστροφ peruttu peruut palaut
  tühista tagasta atšauk grąžin atcelt batal dibatalkan pengembalian dikembalikan vráten storno povrat otkaz hủy$ ยกเลิก คืนสินค้า คืนเงิน בוטל מבוטל הוחזר החזר
  لغو مرجوع 交易关闭 已关闭 已取消 已退 退款 退货 退貨 不成立`);
/** Words that turn a state around, or say that a part alone came back or that it is asked for. */
const NOT = anyOf(`
  not no$ non$ nicht kein nie$ ne$ não sin$ sans$ partial partly part$ teil parti$ partiel parci parzi część castec částeč delvis kısm request
  一部 未`);
/** A delivery that failed, or somebody who did not come, told by two words. */
const NOT_DONE =
  /(?:^| )(?:closed lost|undeliver|unzustellbar|tra hang|hoan tien|timed out|(?:not|nicht|no|non|nao|nie|niet) (?:deliver|zugestell|geliefert|entreg|livr|consegn|dorecz|bezorgd|attend|erschien|teilgenomm|show))/;
/** Orders that stand, by which a column of states is told where none was cancelled yet. */
const STANDS = anyOf(`
  complet attend won$ paid$ payment$ ship deliver fulfil process pending dispatch approv confirm invoiced done bezahlt versa versend versend geliefert
  erledigt abgeschl offen$ bestätigt in$ expédi livr termin valid envi entreg pagad pendient conclu pago$ spedit consegn evas pagat verzond
  gelever betaald afgerond wysł zreali opłac dostarcz odesl doruc doruč vyříz zaplac skick lever betal tamam teslim kargo 完了 発送 入金 処理
  배송 구매확정 결제완료 발송 입금 مكتمل تم$ شحن توصيل التوصيل مدفوع`);

/** Names of columns of states. */
const STATE_NAME =
  /statu[st]|states?$|zustand|^etat|situa[ct]|^estado|^stato|^stan(?:zam|$)|^stav$|^stavobj|durum|stage$|статус|состояни|стан$|allapot|^stare|καταστασ|^tila$|^olek|busen|trangthai|สถานะ|סטטוס|מצב|وضعیت|状态|狀態|ステータス|状態|状況|상태|حالة/;
/** A column that says whether customers came, which is of the row; another one that names them is of the customers. */
const ATTENDANCE = /^(?:attendee|guest|participant|registrant|teilnehmer)(?:status|state)$/;
/** Around the word of a column that says of each row whether it was cancelled, or when: `is_cancelled`, `Refunded at`. */
const FLAG_NAME = /^(?:is|was|has|ist|est)?(.+?)(?:at|on|am|date|datum|time|flag|yn|le)?$/;
const NO =
  '0|n|f|false|no|nein|non|nie|ne|nee|ei|nem|nu|n[aã]o|nej|hay[iı]r|нет|ні|не|όχι|tidak|không|いいえ|아니요|아니오|لا|否|-|';
const NO_FLAG = new RegExp(`^(?:${NO})$`, 'i');
const FLAGS = new RegExp(
  `^(?:${NO}|[1xyjt]|true|yes|ja|oui|s[ií]|tak|ano|sim|evet|igen|da|да|так|ναι|kyllä|jah|ya|có|はい|예|네|نعم|是)$`,
  'i',
);
/** A column with more different texts than this has no states, and one with more words in a text has sentences. */
const [STATES_MAX, WORDS_MAX] = [30, 5];
/** In fewer rows it may be chance that most of them have a mark. */
const MARKED_MIN = 10;

/** A column of states, or one that marks what was cancelled. */
export interface StateColumn {
  readonly at: number;
  readonly name: string;
  /** Its name is the state of the rows in which it has a mark or a time. */
  readonly isFlag: boolean;
  /** The state is of numbers below this one. */
  readonly under?: number;
}

/** Milliseconds that something was played; what was played for less than half a minute is no stream to those who sell it. */
const PLAYED = /^msplayed$|^playedms$/;
const PLAYED_MIN = 30_000;
/** Of a film service the kind of what is no film or episode but shown before one. */
const TRAILERS = /^supplementalvideotype$/;

/** Names of columns of what libraries and others lend, and of its return. */
const LENT =
  /checkout|borrow|loan|issuedate|ausleih|verleih|entleih|prestamo|pret$|prestito|emprest|wypozycz|vypujc/;
const LENT_BACK = /return|checkin|ruckgabe|devol|retour|restitu|zwrot|vracen/;

/**
 * The columns of states of a file of feedback.
 * @param rows the first rows, without names of columns
 * @param taken those that are something else @param named one that was said to have states
 */
export function findStateColumns(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  taken: Mapping,
  named?: number,
): StateColumn[] {
  const isLent = columns.some((name) => LENT.test(plainName(name)));
  return columns.flatMap((name, at) => {
    if (isLent && LENT_BACK.test(plainName(name)) && at !== named) return [];
    const values = [...new Set(rows.map((row) => cellText(row[at] ?? '')))];
    const isFlag = isFlagColumn(name, values);
    if (PLAYED.test(plainName(name))) return [{ at, name, isFlag: true, under: PLAYED_MIN }];
    if (TRAILERS.test(plainName(name))) return [{ at, name, isFlag: true }];
    // Nearly all that is lent comes back: that is no sale undone.
    const marked = isFlag ? rows.filter((row) => !NO_FLAG.test(cellText(row[at] ?? ''))).length : 0;
    if (marked * 2 > rows.length && rows.length >= MARKED_MIN && at !== named) return [];
    const isOfRow = ATTENDANCE.test(plainName(name)) || !isOfCustomers(name);
    const isFree = !Object.values(taken).includes(at) && isOfRow;
    const isFound = at === named || (isFree && (isFlag || areStates(name, values, rows.length)));
    return isFound ? [{ at, name, isFlag }] : [];
  });
}

function isFlagColumn(name: string, values: readonly string[]): boolean {
  const [, word = ''] = FLAG_NAME.exec(plainName(name)) ?? [];
  if (!isGone(name) && !isGone(word)) return false;
  return values.every((value) => FLAGS.test(value) || isNoTime(value) || timeForm([value]) !== undefined);
}

function areStates(name: string, values: readonly string[], rows: number): boolean {
  if (values.length > STATES_MAX) return false;
  const hasGone = values.some(isGone);
  if (STATE_NAME.test(plainName(name)))
    return hasGone || values.some((value) => wordsOf(value).some((word) => STANDS.test(word)));
  return hasGone && values.length * 2 <= rows && values.every((value) => wordsOf(value).length <= WORDS_MAX);
}

/** Findings on states before; a column has few. */
const found = new Map<string, boolean>();
const FOUND_MAX = 1000;

/** True for a state in which nothing was bought in the end: `storniert`, `wc-refunded`; not for `partially refunded`. */
export function isGone(state: string): boolean {
  const before = found.get(state);
  if (before !== undefined) return before;
  const words = wordsOf(state);
  const isNamed = words.some((word) => GONE.test(word)) && !words.some((word) => NOT.test(word));
  const isIt = isNamed || NOT_DONE.test(words.join(' '));
  if (found.size >= FOUND_MAX) found.clear();
  found.set(state, isIt);
  return isIt;
}

/** The words of a text, as `plainName` has them; those of `CancelledByShop` are three. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .split(/[^\p{L}\p{M}]+/u)
    .map(plainName)
    .filter((word) => word !== '');
}

/**
 * The state by which a row is left out, as the file has it.
 * @param leftOut the states that were said; absent where those count that `isGone` knows
 * @returns undefined for a row that stays
 */
export function stateLeftOut(
  textOf: (at: number) => string,
  columns: readonly StateColumn[],
  leftOut: readonly string[] | undefined,
): string | undefined {
  for (const column of columns) {
    const state = stateOf(column, textOf(column.at));
    const isSaid = leftOut?.some((each) => each.toLowerCase() === state.toLowerCase());
    if (isSaid ?? isGoneIn(column, state)) return state;
  }
  return undefined;
}

/** True for a state of a column by which rows are left out unless other states are said. */
function isGoneIn({ isFlag }: StateColumn, state: string): boolean {
  return isFlag ? state !== '' : isGone(state);
}

/** The state that a cell means; empty in a column of marks for a row without one. */
export function stateOf({ name, isFlag, under }: StateColumn, cell: string): string {
  if (!isFlag) return cell;
  if (under !== undefined) return Number(cell) < under ? `played for less than ${under / 1000} seconds` : '';
  return NO_FLAG.test(cell) || isNoTime(cell) ? '' : name;
}
