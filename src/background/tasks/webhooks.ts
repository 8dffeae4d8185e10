import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { Task } from '../../domain/admin-schemas.ts';
import { OperatorError } from '../../domain/operator-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import { LISTS_QUALITY } from './task-list.ts';

/** Events that wait at most; the oldest make room. */
const WAITING_MAX = 16;
/** Tries of an event, the pause before the second, which doubles with each, and the time of each. */
const TRIES = 6;
const RETRY_MS = 1000;
const TIMEOUT_MS = 10_000;

interface WebhookEvent {
  readonly Event: 'fit_published' | 'quality_fell';
  readonly Time: string;
  readonly Result: NonNullable<Task['Result']>;
  /** The measure of the fit before, where it fell. */
  readonly Before?: number;
}

/**
 * Sends what a fit ends with to an address of the operator's, one event after the other. Where that does not answer with a 2xx
 * status, it is tried again for half a minute. Events that wait are lost with a stop. Neither address nor key is ever logged.
 */
export class Webhooks {
  private readonly url: URL;
  private readonly options: {
    readonly key: string;
    /** The share by which the measure must be lower than that of the fit before, to have fallen. */
    readonly qualityFall: number;
    readonly log: Pick<Logger, 'warn'>;
    readonly retryMs?: number;
  };
  private readonly waiting: WebhookEvent[] = [];
  private readonly ending = new AbortController();
  private sending: Promise<void> | undefined;

  /** @throws OperatorError where `url` is not one of http or https */
  constructor(url: string, options: Webhooks['options']) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new OperatorError('[webhooks] url is no address that begins with http:// or https://');
    this.url = new URL(url);
    this.options = options;
  }

  /** Sends what a task says that has ended. @param before tasks that ended before it, newest first */
  note(task: Task, before: readonly Task[]): void {
    const { Kind, State, Result, EndedAt: Time = '' } = task;
    if (Kind !== 'fit' || State !== 'done' || Result?.generation === undefined || Result.unchanged) return;
    this.send({ Event: 'fit_published', Time, Result });
    const now = Result[LISTS_QUALITY];
    const last = before.find((one) => one.Kind === 'fit' && typeof one.Result?.[LISTS_QUALITY] === 'number');
    const Before = last?.Result?.[LISTS_QUALITY];
    if (typeof now !== 'number' || typeof Before !== 'number') return;
    if (now < Before * (1 - this.options.qualityFall))
      this.send({ Event: 'quality_fell', Time, Result, Before });
  }

  /** Resolves once nothing is under way any more; what waits is dropped. */
  async stop(): Promise<void> {
    this.ending.abort();
    this.waiting.length = 0;
    await this.sending;
  }

  private send(event: WebhookEvent): void {
    if (this.waiting.length === WAITING_MAX) {
      this.waiting.shift();
      this.options.log.warn('too many webhooks wait; the oldest is dropped');
    }
    this.waiting.push(event);
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
  }

  private async sendAll(): Promise<void> {
    for (let event = this.waiting.shift(); event !== undefined; event = this.waiting.shift())
      await this.deliver(event);
  }

  private async deliver(event: WebhookEvent): Promise<void> {
    const { signal } = this.ending;
    const { log, retryMs = RETRY_MS } = this.options;
    let why = '';
    for (let tries = 0; tries < TRIES && !signal.aborted; tries++) {
      if (tries > 0)
        await delay(retryMs * 2 ** (tries - 1), undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      try {
        const status = await this.post(JSON.stringify(event));
        if (status >= 200 && status < 300) return;
        why = `status ${status}`;
      } catch (error) {
        // A message could hold the address.
        why = (error as NodeJS.ErrnoException).code ?? 'no answer';
      }
    }
    if (!signal.aborted) log.warn({ event: event.Event, why }, 'a webhook could not be delivered');
  }

  /** @returns the status of the answer; redirects are not followed */
  private post(body: string): Promise<number> {
    const { key } = this.options;
    const signal = AbortSignal.any([this.ending.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    };
    return new Promise((resolve, reject) => {
      const request = this.url.protocol === 'https:' ? requestHttps : requestHttp;
      const sent = request(this.url, { method: 'POST', headers, signal, agent: false }, (answer) => {
        answer.on('error', reject);
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
