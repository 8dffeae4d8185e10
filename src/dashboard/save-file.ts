/** Gives bytes or text to the browser to keep. */
export function saveFile(name: string, parts: BlobPart[]): void {
  const url = URL.createObjectURL(new Blob(parts));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to save it by then, or asks where to.
  setTimeout(() => URL.revokeObjectURL(url), 600_000);
}
