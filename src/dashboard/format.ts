const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function count(value: number | undefined | null): string {
  return value === undefined || value === null ? '–' : whole.format(value);
}

/** Four significant figures at most. */
export function figure(value: number | undefined | null): string {
  if (value === undefined || value === null || Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 1000) return whole.format(value);
  return String(Number(value.toPrecision(Math.abs(value) < 0.001 ? 2 : 3)));
}

/** A measure of quality, in [0, 1], or a difference or half width of one: as many decimals for each, so that columns compare. */
export function measure(value: number | undefined | null): string {
  return value === undefined || value === null || Number.isNaN(value) ? '–' : value.toFixed(4);
}

export function bytes(value: number | undefined | null): string {
  if (value === undefined || value === null) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let size = value;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`;
}

export function milliseconds(value: number | undefined | null): string {
  if (value === undefined || value === null) return '–';
  if (value > 0 && value < 1) return `${Math.round(value * 1000)} µs`;
  return value < 1000 ? `${figure(value)} ms` : `${figure(value / 1000)} s`;
}

export function percent(value: number | undefined | null): string {
  return value === undefined || value === null ? '–' : `${figure(value * 100)} %`;
}

/** `12 s`, `18 min`, `3 h 5 min`, `2 days`. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 90) return `${figure(Math.round(seconds * 10) / 10)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
  return `${Math.round(hours / 24)} days`;
}

/** A time in the reader's zone. */
export function time(text: string | undefined): string {
  if (text === undefined || text === '') return '–';
  const date = new Date(text);
  return Number.isNaN(date.getTime())
    ? text
    : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

/** The beginning of a text that is too long to be shown whole. */
export function short(text: string, most = 120): string {
  const characters = text.length > most ? Array.from(text.slice(0, 2 * most)) : [];
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text;
}

/** The name of a recommender as people read it. */
export function recommenderName(name: string): string {
  return name.replaceAll('_', '-');
}

/** A name as it stands at the head of a column. */
export function capital(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

const HALF_WIDTH = ' half width';

/** Measures with their intervals: `NDCG@10` and its half width become one figure. */
export function measuresOf(quality: Readonly<Record<string, unknown>>): [name: string, value: string][] {
  return Object.entries(quality)
    .filter(([name]) => !name.endsWith(HALF_WIDTH))
    .map(([name, value]) => {
      if (typeof value !== 'number') return [name, String(value)];
      if (/bytes/i.test(name)) return [name.replace(/ ?bytes/i, '').toLowerCase(), bytes(value)];
      const half = quality[`${name}${HALF_WIDTH}`];
      return [name, typeof half === 'number' ? `${measure(value)} ± ${measure(half)}` : figure(value)];
    });
}

/** The name of a way to rank as people read it. */
export function nameOf(name: string): string {
  return name.replaceAll('_', ' ');
}

/** The name of a type of feedback without the value from which on it counts. */
export function typeName(name: string): string {
  return name.replace(/(?:>=|<=|>|<)-?[\d.]+$/, '');
}
