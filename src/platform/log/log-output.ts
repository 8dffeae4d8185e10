import { constants, fstatSync, openSync, writeSync } from 'node:fs';

const STANDARD_OUTPUT = 1;
const NOTHING = new Uint8Array(0);

/**
 * Where lines of the log go: standard output, in order, and written when `write` returns. A log that cannot be written
 * must not stop the service that it is about: what a full disk does not take, and what nobody reads from a full pipe,
 * is dropped, and counted in a line of its own once there is room again.
 */
export class LogOutput {
  private readonly file: number;
  private readonly render: (json: string) => string;
  /** Rest of a line that has begun. */
  private rest: Uint8Array = NOTHING;
  private lost = 0;
  private reason = '';

  /**
   * @param file an open file that does not wait for anybody
   * @param render what is written in place of a line; the line itself when absent
   */
  constructor(file = openOutput(), render = (json: string) => json) {
    this.file = file;
    this.render = render;
  }

  /** @param line with its end. Never throws. */
  write(line: string): void {
    this.rest = this.put(this.rest);
    if (this.lost > 0 && this.begin(this.describeLost())) this.lost = 0;
    if (this.lost > 0 || !this.begin(line)) this.lost++;
  }

  private describeLost(): string {
    const time = new Date().toISOString();
    const msg = `lines of the log could not be written (${this.reason})`;
    return `${JSON.stringify({ level: 'warn', time, lines: this.lost, msg })}\n`;
  }

  /** @returns false where nothing of the line is written or kept */
  private begin(line: string): boolean {
    if (this.rest.length > 0) return false;
    const bytes = Buffer.from(this.render(line));
    const rest = this.put(bytes);
    if (rest.length === bytes.length) return false;
    this.rest = rest;
    return true;
  }

  /** Writes what the file takes. @returns the rest */
  private put(bytes: Uint8Array): Uint8Array {
    let done = 0;
    try {
      while (done < bytes.length) done += writeSync(this.file, bytes, done);
    } catch (error) {
      this.reason = (error as NodeJS.ErrnoException).code ?? String(error);
    }
    return bytes.subarray(done);
  }
}

/** Standard output; a pipe is opened once more, for this process alone, so as not to wait for who reads it. */
function openOutput(): number {
  try {
    if (process.platform !== 'linux' || !fstatSync(STANDARD_OUTPUT).isFIFO()) return STANDARD_OUTPUT;
    return openSync(`/proc/self/fd/${STANDARD_OUTPUT}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return STANDARD_OUTPUT;
  }
}
