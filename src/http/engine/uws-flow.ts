import type { Flow } from './engine.ts';
import type { UwsResponse } from './uws-api.ts';

/** An answer of known length: the engine takes what the socket takes, and never keeps more than a corkful. */
export class UwsFlow implements Flow {
  onReady = () => {};
  private readonly res: UwsResponse;
  private readonly totalBytes: number;
  private rest: Uint8Array | undefined;
  /** Where the part stands in the body. */
  private restAt = 0;

  constructor(res: UwsResponse, totalBytes: number) {
    this.res = res;
    this.totalBytes = totalBytes;
    res.onWritable((offset) => this.goOn(offset));
  }

  write(part: string | Uint8Array): boolean {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    this.restAt = this.res.getWriteOffset();
    let taken = false;
    this.res.cork(() => {
      taken = this.res.tryEnd(bytes, this.totalBytes)[0];
    });
    if (!taken) this.rest = bytes;
    return taken;
  }

  /** The last byte ends the answer. */
  end(): void {}

  /** @returns false while the socket is full */
  private goOn(offset: number): boolean {
    if (this.rest !== undefined) {
      const [taken] = this.res.tryEnd(this.rest.subarray(offset - this.restAt), this.totalBytes);
      if (!taken) return false;
      this.rest = undefined;
    }
    this.onReady();
    return true;
  }
}

/** An answer of unknown length, in chunks. The engine keeps what the socket does not take at once. */
export class UwsChunkedFlow implements Flow {
  onReady = () => {};
  private readonly res: UwsResponse;
  private readonly closeConnection: boolean;

  constructor(res: UwsResponse, closeConnection: boolean) {
    this.res = res;
    this.closeConnection = closeConnection;
    res.onWritable(() => {
      this.onReady();
      return true;
    });
  }

  write(part: string | Uint8Array): boolean {
    let taken = false;
    this.res.cork(() => {
      taken = this.res.write(part);
    });
    return taken;
  }

  end(): void {
    if (!this.closeConnection) {
      this.res.cork(() => this.res.end());
      return;
    }
    // Told to close, the engine writes one more header behind the last chunk; a trailer of ours takes its place.
    this.res.cork(() => this.res.writeHeader('\r\n0\r\nX-Furze-End', '1\r\n'));
    this.res.close();
  }
}
