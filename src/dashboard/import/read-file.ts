import { notText, wideEncoding } from '../../exchange/foreign-files.ts';
import { likelyEncoding, markedEncoding, type TextEncoding } from '../../exchange/guess-encoding.ts';
import { linesOfArray } from '../../exchange/nested-rows.ts';

/** A file that was chosen, unpacked, and how its text is written. */
export interface OpenedFile {
  readonly file: File;
  readonly encoding: TextEncoding;
  /** The first text, by which columns are guessed; the last line may be cut off unless it is all of the file. */
  readonly head: string;
  readonly isWhole: boolean;
}

const HEAD_BYTES = 64 * 1024;

/** @throws Error in words when it is damaged or no text */
export async function openFile(given: File): Promise<OpenedFile> {
  const file = await unpack(given);
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const encoding = markedEncoding(bytes) ?? wideEncoding(bytes) ?? (await encodingOf(file, bytes));
  const head = linesOfArray()(new TextDecoder(encoding).decode(bytes), true);
  return { file, encoding, head, isWhole: file.size <= HEAD_BYTES };
}

/** Unpacks gzip. */
async function unpack(file: File): Promise<File> {
  if (!/\.gz$/i.test(file.name)) return file;
  const unpacked = new Response(file.stream().pipeThrough(new DecompressionStream('gzip')));
  const name = file.name.replace(/\.gz$/i, '');
  const blob = await unpacked.blob().catch(() => {
    throw new Error(`${file.name} cannot be unpacked: it is damaged, or not packed with gzip.`);
  });
  return new File([blob], name, { lastModified: file.lastModified });
}

/** UTF-8 where all of it is, else what its bytes are likely of. @throws Error when it is no text */
async function encodingOf(file: File, bytes: Uint8Array): Promise<TextEncoding> {
  const other = notText(bytes);
  if (other !== undefined) throw new Error(`${file.name} is ${other}.`);
  try {
    for await (const _text of textsOf(file, new TextDecoder('utf-8', { fatal: true })));
    return 'utf-8';
  } catch {
    return likelyEncoding(bytes).encoding;
  }
}

/** A file as text, piece by piece. @param tell told how many bytes were read so far */
async function* textsOf(
  file: File,
  decoder: InstanceType<typeof TextDecoder>,
  tell: (bytes: number) => void = () => {},
): AsyncGenerator<string> {
  const reader = file.stream().getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      bytes += value?.length ?? 0;
      tell(bytes);
      yield decoder.decode(value, { stream: !done });
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}

/** All of a file's text. @param tell told how many bytes were read so far */
export async function* textOf(
  { file, encoding }: OpenedFile,
  tell: (bytes: number) => void,
): AsyncGenerator<string> {
  const inLines = linesOfArray();
  for await (const text of textsOf(file, new TextDecoder(encoding), tell)) yield inLines(text);
  yield inLines('', true);
}
