import { useState } from 'preact/hooks';
import type { Storage, Task, Tasks } from '../../domain/admin-schemas.ts';
import { api, ask } from '../api.ts';
import { bytes, percent, time } from '../format.ts';
import { saveFile } from '../save-file.ts';
import { useAttempt } from '../use-attempt.ts';
import { useResource } from '../use-resource.ts';
import { Card, State } from './common.tsx';
import { outcome, RunningTask } from './task.tsx';

const REFRESH_MS = 3000;

/** A copy of the data to keep, and the data store without its free space, each at a click. */
export function UpkeepCard({ data }: { data: Storage }) {
  const { data: tasks, reload } = useResource<Tasks>('/api/admin/tasks', REFRESH_MS);
  const [told, setTold] = useState<string>();
  const { refusal, attempt } = useAttempt(reload);
  const [isSaving, setSaving] = useState(false);
  const backUp = async () => {
    setSaving(true);
    await attempt(async () => {
      setTold('The copy is being made.');
      const name = await downloadBackup((size) => setTold(`${bytes(size)} of the copy are here.`));
      setTold(`Saved as ${name}. furze restore ${name} --data FOLDER puts it in place.`);
    });
    setSaving(false);
  };
  const compact = () => {
    setTold(undefined);
    return attempt(() => api('/api/admin/compact', 'POST'));
  };
  const running = (kind: string) => tasks?.Running.find(({ Kind }) => Kind === kind);
  const compaction = running('compaction');
  return (
    <Card
      wide
      title="Backup and free space"
      aside={
        <span class="buttons">
          <button type="button" class="small" disabled={isSaving} onClick={backUp}>
            Back up
          </button>
          <button type="button" class="small outline" disabled={compaction !== undefined} onClick={compact}>
            Compact
          </button>
        </span>
      }
    >
      <p class="muted">
        A backup is one consistent copy of all users, items and feedback, which this browser saves. Compaction
        rewrites the data store without its free space, {freeSpace(data)} now, and leaves no trace of what was
        deleted. The service goes on meanwhile.
      </p>
      <State error={refusal} loading={false} />
      {told !== undefined && <p role="status">{told}</p>}
      {compaction !== undefined && <RunningTask task={compaction} />}
      <p class="muted">
        {lastOf(tasks, 'backup', 'backup')} {lastOf(tasks, 'compaction', 'compaction')}
      </p>
    </Card>
  );
}

function freeSpace({ DataBytes, Tables }: Storage): string {
  const used = Tables.filter(({ Store }) => Store === 'data').reduce((sum, { Bytes }) => sum + Bytes, 0);
  const free = Math.max(0, DataBytes - used);
  return `${bytes(free)} or ${percent(DataBytes === 0 ? 0 : free / DataBytes)}`;
}

function lastOf(tasks: Tasks | undefined, kind: Task['Kind'], name: string): string {
  const last = tasks?.Past.find(({ Kind }) => Kind === kind);
  if (last === undefined) return `No ${name} yet.`;
  return `Last ${name}: ${time(last.EndedAt)}, ${last.State}${outcome(last) === '' ? '' : ` (${outcome(last)})`}.`;
}

/** Bytes of a copy that have come; undefined while it is being made. */
type OnBytes = (bytes: number) => void;

/** Has the service make a copy of the data store, and gives it to the browser to keep. @throws ApiError */
async function downloadBackup(onBytes: OnBytes): Promise<string> {
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
