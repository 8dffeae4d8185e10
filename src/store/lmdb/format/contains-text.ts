const utf8 = new TextDecoder();
const ASCII = /^[\x20-\x7e]*$/;

/**
 * A quick test whether a stored entity may contain a text, whatever the case. It looks at the bytes as they are, numbers
 * and lengths among them, so what passes has to be looked at again; what fails does not contain it.
 */
export function textTest(text: string): (bytes: Uint8Array) => boolean {
  const wanted = text.toLowerCase();
  // Of a text in ASCII nothing but its own bytes can be a part of UTF-8, so there is nothing to decode.
  if (ASCII.test(text)) return (bytes) => asLatin1(bytes).toLowerCase().includes(wanted);
  return (bytes) => utf8.decode(bytes).toLowerCase().includes(wanted);
}

function asLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
