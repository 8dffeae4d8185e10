import type { Connection } from './connection.ts';

type Names = readonly (readonly [type: number, name: string])[];

/** Types as they were under a version. */
export interface KnownTypes {
  readonly version: number;
  readonly names: Names;
}

/** The feedback types with their numbers, remembered from one reading to the next. */
export class TypeNames {
  private readonly s: string;
  /** Another server may have other types under the same version, after a failover. */
  private known: (KnownTypes & { readonly connection: Connection }) | undefined;

  /** @param s the schema as it stands in SQL */
  constructor(s: string) {
    this.s = s;
  }

  /** Those that were read last by a connection. */
  latest(connection: Connection): KnownTypes | undefined {
    return this.known?.connection === connection ? this.known : undefined;
  }

  /** @param version that was told with what is read: types that are newer are of another one */
  async of(connection: Connection, version: number): Promise<Names> {
    let { known } = this;
    if (known?.version !== version || known.connection !== connection) {
      const names = await connection.rows<[number, string]>(`SELECT type, name FROM ${this.s}.types`);
      this.known = known = { version, connection, names };
    }
    return known.names;
  }
}
