import { FurzeError } from '../domain/furze-error.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { encodeBatch } from './refused-rows.ts';

/** A batch has more records, or more bytes, than a service takes at once, or what stands before it. */
export class BatchTooLarge extends OperatorError {}

/** Sends arrays of records whole; where that is too much at once, in halves of them, and from then on no more than was taken. */
export class SmallerBatches {
  private readonly send: (json: Uint8Array<ArrayBuffer>) => Promise<number>;
  private most = Number.POSITIVE_INFINITY;

  /** @param send stores an array of records, all or nothing. @throws BatchTooLarge */
  constructor(send: (json: Uint8Array<ArrayBuffer>) => Promise<number>) {
    this.send = send;
  }

  /**
   * @returns the sum of what `send` returned
   * @throws BatchTooLarge for a single record; what `send` throws, with places in the whole array: what stands before the part of it
   * that was refused is stored
   */
  async write(json: Uint8Array<ArrayBuffer>): Promise<number> {
    if (this.most === Number.POSITIVE_INFINITY)
      try {
        return await this.send(json);
      } catch (error) {
        if (!(error instanceof BatchTooLarge)) throw error;
      }
    const records = parsed(json);
    if (records === undefined) return this.send(json);
    let sum = 0;
    for (let from = 0; from < records.length; ) {
      const some = records.slice(from, from + this.most);
      try {
        sum += await this.send(encodeBatch(some));
        from += some.length;
      } catch (error) {
        if (!(error instanceof BatchTooLarge)) throw placedFrom(from, error);
        if (some.length === 1)
          throw new BatchTooLarge(`${error.message} A record alone is too large: ${cut(some[0])}`);
        this.most = Math.ceil(some.length / 2);
      }
    }
    return sum;
  }
}

/** Undefined for what no array can be taken out of, about which the service has the word. */
function parsed(json: Uint8Array): object[] | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(json).toString());
    return Array.isArray(value) && value.length > 0 ? (value as object[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The beginning of a record, which has its ids. */
function cut(record: unknown): string {
  const text = JSON.stringify(record);
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** A refusal of a part with places in the whole. */
function placedFrom(from: number, error: unknown): unknown {
  if (!(error instanceof FurzeError)) return error;
  const whole = (path: string) => path.replace(/^\/(\d+)/, (_, at: string) => `/${Number(at) + from}`);
  const places = error.places.map(({ path, message }) => ({ path: whole(path), message }));
  return new FurzeError(error.code, error.message, places);
}
