import { apiKeys } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../platform/log/log.ts';
import type { DataStore } from '../store/data-store.ts';
import type { StorePaths } from '../store/open/open-store.ts';
import type { Admin } from './admin.ts';

export async function logStart(
  log: Logger,
  data: DataStore,
  config: Config,
  { dataPath }: StorePaths,
  file: string,
): Promise<void> {
  const { users, items, feedback } = await data.getStats();
  const { positive_feedback_types: positiveTypes } = config.recommend.data_source;
  const key = apiKeys(config).length > 0 ? 'on' : 'off';
  log.info({ data: dataPath, users, items, feedback, positiveTypes, key, config: file }, 'opened the data');
}

export async function logTroubles(log: Logger, admin: Admin): Promise<void> {
  for (const { Code, Severity, Message, Advice } of (await admin.summary()).Troubles) {
    log[Severity === 'hint' ? 'info' : 'warn']({ code: Code }, `${Message} ${Advice}`);
  }
}
