import { Connection } from './connection.ts';

/** Asks one request after the other. */
export class Asker {
  private readonly connection: Connection;
  private answered: (body: string) => void = () => {};

  private constructor(connection: Connection) {
    this.connection = connection;
  }

  static async open(port: number): Promise<Asker> {
    const asker: Asker = new Asker(
      await Connection.open(port, (_count, body) => asker.answered(body.toString())),
    );
    return asker;
  }

  ask(request: Buffer): Promise<string> {
    return new Promise((resolve) => {
      this.answered = resolve;
      this.connection.send(request);
    });
  }

  close(): void {
    this.connection.close();
  }
}
