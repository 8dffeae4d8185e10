/** Texts that databases write into a cell without a value. */
const NULLS: readonly string[] = ['NULL', '\\N'];

/**
 * The text that a cell means: without blanks around it, out of the formula `="0017"` by which Excel keeps zeros, and empty
 * where a database has no value. Quotes behind the mark of a file that was put behind another are those of CSV.
 */
export function cellText(cell: string): string {
  const isMarked = cell.startsWith('\uFEFF"') && cell.endsWith('"');
  const text = isMarked ? cell.slice(2, -1).replaceAll('""', '"').trim() : cell.trim();
  if (NULLS.includes(text)) return '';
  return text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1) : text;
}

/** A number or a time with the digits and signs of ASCII in place of wide and Arabic ones: `2024/03` of `２０２４／０３`. */
export function narrowDigits(text: string): string {
  return text
    .replace(/[\uFF0B-\uFF1A]/g, (sign) => sign.normalize('NFKC'))
    .replace(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replace(/(?<=\d)\u066B/g, '.')
    .replace(/(?<=\d)\u066C/g, ',');
}

/** True when a spreadsheet has rounded a long number, so that several ids look the same: `4,00638E+12`. */
export function isRounded(text: string): boolean {
  return /^\d(?:[.,]\d+)?E\+\d{2}$/.test(text);
}

/** A cell that a spreadsheet runs or ends a row in, behind as many apostrophes as there are (OWASP, CSV injection). */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** A text as a cell of an export has it: an apostrophe, which spreadsheets take for a mark of text, before a formula. */
export function withoutFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** The text that `withoutFormula` was given. */
export function withFormula(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** Stars drawn or counted, and a number of so many: `4.0 out of 5 stars`, `4/5`. */
const STARS = /^(★*)(½?)☆*$/;
const OF_SO_MANY =
  /^([\d.,]+) ?(?:(?:\/|out of|of|von|sur|de|di|van|av|z|\/ )\s*\d+)?(?: ?(?:stars?|sterne?n?|étoiles?|%))?$/i;

/** A rating as a number: a verdict in words, 1 for yes and 0 for no, stars, or what is given of so many; other texts stay. */
export function ratingOf(text: string): string {
  if (/^(?:true|yes|y|recommended)$/i.test(text)) return '1';
  if (/^(?:false|no|n|not recommended)$/i.test(text)) return '0';
  const [, full = '', half = ''] = STARS.exec(text) ?? [];
  if (full + half !== '') return String(full.length + half.length / 2);
  return OF_SO_MANY.exec(text)?.[1] ?? text;
}
