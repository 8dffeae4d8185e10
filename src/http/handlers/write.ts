import { WriteResultSchema } from '../../domain/api-schemas.ts';
import type { DataStore, WriteCommand } from '../../store/data-store.ts';
import { jsonText, type Reply } from '../route/reply.ts';

export const written = {
  description: 'Rows written',
  schema: WriteResultSchema,
  example: { RowAffected: 1 },
};

/** Writes, and answers with the number of rows that were touched. @throws FurzeError as `DataStore.write` */
export async function write(data: DataStore, command: WriteCommand): Promise<Reply> {
  const { rowAffected } = await data.write(command);
  return jsonText(`{"RowAffected":${rowAffected}}`);
}
