import type { Environment } from '../domain/config/config.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { loadConfig } from './load-config.ts';

/** What `--url` says in the help of the commands that have it. */
export const URL_HELP = 'ask a running service instead; its key is [server] api_key or FURZE_SERVER_API_KEY';

/** Calls the admin routes of a running service with the key of the configuration. */
export class RunningService {
  private readonly url: string;
  private readonly key: string;

  /** @param url without a path @throws ConfigError when the configuration is not valid */
  constructor(url: string, config: string | undefined, env: Environment) {
    const { server } = loadConfig({ path: config, env });
    this.url = url.replace(/\/+$/, '');
    this.key = server.api_key || (server.api_keys[0] ?? '');
  }

  /** @throws OperatorError when there is no answer or it is a refusal, saying what to do */
  async call(method: 'GET' | 'POST', path: string): Promise<Response> {
    let response: Response;
    try {
      const headers: Record<string, string> = this.key === '' ? {} : { 'X-API-Key': this.key };
      response = await fetch(this.url + path, { method, headers });
    } catch (error) {
      const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
      const why = cause?.code ?? cause?.message ?? message;
      throw new OperatorError(`${this.url} does not answer (${why}); is the service running there?`);
    }
    if (response.ok) return response;
    if (response.status === 401)
      throw new OperatorError(`${this.url} asks for its key; set FURZE_SERVER_API_KEY.`);
    throw new OperatorError(`${this.url} answered ${response.status}: ${await detailOf(response)}`);
  }
}

async function detailOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return (JSON.parse(text) as { detail?: string }).detail ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}
