const keys = new Map<string, ArrayBuffer>();

/** The name of a header as bytes, which the engine looks up in half the time of a string. @param name in lower case */
export function headerKey(name: string): ArrayBuffer {
  let key = keys.get(name);
  if (key === undefined) keys.set(name, (key = Uint8Array.from(Buffer.from(name)).buffer));
  return key;
}
