import { signal } from '@preact/signals';

/** Where the key is kept: for this tab, until it is closed. */
const KEY_NAME = 'furze-api-key';

/** True while the service asks for a key and has none that it takes. */
export const needsKey = signal(false);
/** True when a key was sent and not taken. */
export const isKeyRefused = signal(false);
/** True while a key is kept in this tab. */
export const hasKey = signal(sessionStorage.getItem(KEY_NAME) !== null);
/** Since when the service does not answer at all; undefined while it does. */
export const silentSince = signal<Date | undefined>(undefined);

/** Faults of a body, by place: `/17/ItemId`. */
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
  hasKey.value = true;
  needsKey.value = false;
}

/** Forgets the key, and asks for one. */
export function forgetKey(): void {
  dropKey();
  isKeyRefused.value = false;
  needsKey.value = true;
}

function dropKey(): void {
  sessionStorage.removeItem(KEY_NAME);
  hasKey.value = false;
}

/** Characters that can be sent as a header: a key with any other character is none that the service could have. */
const SENDABLE = /^[\x20-\x7e\xa0-\xff]*$/;

/** Asks the service and reads its JSON. @throws ApiError with a sentence for a person */
export async function api<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const response = await ask(path, method, body);
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(
      response.status,
      'The answer is not JSON: something between here and the service answered.',
    );
  }
}

/** Asks the service. @throws ApiError with a sentence for a person; the signal's reason once it is aborted */
export async function ask(
  path: string,
  method = 'GET',
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const key = sessionStorage.getItem(KEY_NAME);
  if (key !== null && !SENDABLE.test(key)) throw refuseKey('The key holds characters that no key has.', key);
  const headers: Record<string, string> = key === null ? {} : { 'X-API-Key': key };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      ...(signal !== undefined && { signal }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch {
    signal?.throwIfAborted();
    silentSince.value ??= new Date();
    throw new ApiError(0, 'The service does not answer.');
  }
  silentSince.value = undefined;
  if (response.ok) {
    isKeyRefused.value = false;
    return response;
  }
  const problem = readProblem(await response.text());
  const message = problem.detail ?? `The answer was ${response.status}.`;
  if (response.status === 401) throw refuseKey(message, key);
  throw new ApiError(response.status, message, problem.errors);
}

/**
 * Asks for another key, unless one was entered since the request was sent, of which its answer says nothing.
 * @param sent null for a request without a key, whose answer is no refusal
 */
function refuseKey(message: string, sent: string | null): ApiError {
  if (sent === sessionStorage.getItem(KEY_NAME)) {
    if (sent !== null) isKeyRefused.value = true;
    dropKey();
    needsKey.value = true;
  }
  return new ApiError(401, message);
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
