import { signal } from '@preact/signals';

/** Where the page is: the parts of the address behind `#/`, decoded. */
export const place = signal(readPlace());

function readPlace(): readonly string[] {
  const [path = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return path.split('/').filter(Boolean).map(decode);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

addEventListener('hashchange', () => {
  place.value = readPlace();
});

/** The address of a place within the page. */
export function href(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

export function go(...parts: readonly string[]): void {
  location.hash = href(...parts).slice(1);
}
