/** Asks the running service over HTTP, like any caller, and reads the JSON answer. */
export type Caller = <T>(path: string) => Promise<T>;

/**
 * @param url the service's address without a path
 * @param apiKey what the service wants as X-API-Key; empty for nothing
 */
export function createCaller(url: string, apiKey: string): Caller {
  const headers: Record<string, string> = apiKey === '' ? {} : { 'X-API-Key': apiKey };
  return async <T>(path: string): Promise<T> => {
    const response = await fetch(url + path, { headers });
    if (!response.ok)
      throw new Error(`GET ${path} was answered with ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
}

/** The path of a user's recommendations. */
export function recommendPath(userId: string, n: number): string {
  return `/api/recommend/${encodeURIComponent(userId)}?n=${n}`;
}
