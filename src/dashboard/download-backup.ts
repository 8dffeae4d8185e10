import { ask } from './api.ts';
import { saveFile } from './save-file.ts';

/** Bytes of a copy that have come; undefined while it is being made. */
export type OnBytes = (bytes: number) => void;

/** Has the service make a copy of the data store, and gives it to the browser to keep. @throws ApiError */
export async function downloadBackup(onBytes: OnBytes): Promise<string> {
  const { body } = await ask('/api/admin/backup', 'POST');
  const parts: BlobPart[] = [];
  let bytes = 0;
  const reader = body!.getReader();
  for (;;) {
    // One that breaks off rejects: half a copy is never kept.
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    bytes += value.length;
    onBytes(bytes);
  }
  const name = `furze-${new Date().toISOString().slice(0, 16).replace(':', '')}.mdb`;
  saveFile(name, parts);
  return name;
}
