import { signal } from '@preact/signals';

/** Where the key is kept: for this tab, until it is closed. */
const KEY_NAME = 'furze-api-key';

/** True while the service asks for a key and has none that it takes. */
export const needsKey = signal(false);

/** What is wrong in a body, by place: `/17/ItemId`. */
export interface ErrorPlace {
  readonly path: string;
  readonly message: string;
}

/** An answer that is no success. */
export class ApiError extends Error {
  readonly status: number;
  readonly places: readonly ErrorPlace[];

  constructor(status: number, message: string, places: readonly ErrorPlace[] = []) {
    super(message);
    this.status = status;
    this.places = places;
  }
}

export function setKey(key: string): void {
  sessionStorage.setItem(KEY_NAME, key);
  needsKey.value = false;
}

/** Asks the service and reads its JSON. @throws ApiError with a sentence for a person */
export async function api<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const headers: Record<string, string> = {};
  const key = sessionStorage.getItem(KEY_NAME);
  if (key !== null) headers['X-API-Key'] = key;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, 'The service does not answer. Is it running?');
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  if (response.status === 401) needsKey.value = true;
  const problem = readProblem(text);
  throw new ApiError(response.status, problem.detail ?? `The answer was ${response.status}.`, problem.errors);
}

function readProblem(text: string): { detail?: string; errors?: readonly ErrorPlace[] } {
  try {
    return JSON.parse(text) as { detail?: string; errors?: readonly ErrorPlace[] };
  } catch {
    return text === '' ? {} : { detail: text };
  }
}

/** A path with its parts and its query encoded. */
export function pathOf(
  parts: readonly string[],
  query: Readonly<Record<string, string | number>> = {},
): string {
  const path = `/${parts.map(encodeURIComponent).join('/')}`;
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}
