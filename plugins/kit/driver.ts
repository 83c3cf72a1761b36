/** The contract of a database driver: transactions, statements, locks, notifications and a clock. Records and queue are the gateway's. */

/** A value bound to a parameter. A list is bound to one parameter; see `Dialect.among`. */
export type SqlValue = string | number | null | Uint8Array | readonly string[] | readonly number[]

/** `id` is a UUID, `sequence` a number that the database assigns in the order of insertion, `number` may have a fraction. */
export type ColumnType = 'id' | 'text' | 'integer' | 'number' | 'bytes' | 'sequence'

export interface Table {
  readonly name: string
  /** In the order of the values that `insert` takes. A column of type `sequence` is left out of them. */
  readonly columns: Readonly<Record<string, { readonly type: ColumnType; readonly isNullable: boolean }>>
  readonly primaryKey: readonly string[]
}

/** The differences between databases. SQL is written with the parameters `?1`, `?2`, …, which may be repeated. */
export interface Dialect {
  readonly types: Readonly<Record<ColumnType, string>>
  /** The set of rows of a list: `id IN ${among('?1', 'id')}`. */
  among(parameter: string, type: ColumnType): string
  /** A list as the table `list` with the column `value`, to be named after FROM. */
  list(parameter: string, type: ColumnType): string
  /** Appended to a SELECT whose rows the transaction changes. */
  readonly forUpdate: string
  /** As `forUpdate`, past the rows that other transactions have locked. */
  readonly skipLocked: string
  /** SQL after the columns of a table's definition. */
  readonly tableOptions: string
}

export interface Statements {
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
  /** Returns how many rows changed. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>
}

export interface Transaction extends Statements {
  /**
   * Inserts rows, each with the values of the table's columns. `onConflict` is the rest of the statement, such as `ON CONFLICT DO NOTHING`.
   * Returns how many were inserted or changed.
   */
  insert(table: Table, rows: readonly (readonly SqlValue[])[], onConflict?: string): Promise<number>
  /** Changes columns of rows, each given as its primary key and the new values. Returns how many changed. */
  update(table: Table, columns: readonly string[], rows: readonly (readonly SqlValue[])[]): Promise<number>
  /** Waits until no other transaction holds one of these keys, and keeps them until this one ends. A database with one writer has nothing to do. */
  lock(keys: readonly string[]): Promise<void>
  /** Undoes what `work` did if it rejects. */
  nested<Result>(work: () => Promise<Result>): Promise<Result>
}

export interface Driver {
  readonly dialect: Dialect
  /** True if other processes work on the same data. */
  readonly isShared: boolean
  /**
   * Runs `work` in one transaction. Resolves once it is on the disk. Rejects only if nothing of it has happened or ever will; while that
   * is not known it goes on asking. `work` may be run again where transactions collided.
   */
  transaction<Result>(
    work: (tx: Transaction) => Promise<Result>,
    /** `isErasing`: what the transaction deletes must not be left anywhere in the database's files, where that is possible. */
    options?: { readonly isErasing?: boolean },
  ): Promise<Result>
  /** Makes what the tables are in, where the database needs something: before the first one, in the transaction that makes it. */
  createNamespace?(tx: Transaction): Promise<void>
  /** Runs statements that only read, apart from the transactions. */
  read<Result>(work: (statements: Statements) => Promise<Result>): Promise<Result>
  /** The database's clock, in milliseconds since the Unix epoch. */
  clock(): Promise<number>
  /** Sends a text of up to 7,900 bytes to every other process that listens. It may be lost. */
  notify(text: string): Promise<void>
  /**
   * Receives what other processes send, until the driver is closed. `onGap` is called whenever some of it may have been lost,
   * `onHeard` as soon as it is known that notifications arrive, with the first text at the latest: until then the node is shown as polling.
   */
  listen(onText: (text: string) => void, onGap: () => void, onHeard: () => void): void
  /** Describes the server to an operator. Undefined for a database without one. */
  describe(): Promise<
    | {
        readonly version: string
        readonly oldestTransaction?: { readonly ageMs: number; readonly by: string }
      }
    | undefined
  >
  close(): Promise<void>
}

export interface DriverOptions {
  /** The address of the database, such as `postgres://user:password@host/database`. */
  readonly location: string
}

/** The exports of a package with a driver. */
export interface DriverModule {
  /** Connects to the database. @throws DriverError */
  openDriver(options: DriverOptions): Promise<Driver>
}

/**
 * `UNAVAILABLE`: the database cannot be reached, or cannot write. `FULL`: its disk is full. `REFUSED`: the database is well, and refuses
 * these values.
 */
export type DriverErrorCode = 'UNAVAILABLE' | 'FULL' | 'REFUSED'

const BRAND = Symbol.for('reveille.driver-error')

/** The error of a driver. Its message is a sentence for the operator and never holds a value of a statement or a password. */
export class DriverError extends Error {
  readonly [BRAND] = true
  readonly code: DriverErrorCode
  /** The message in a few words without addresses, which may be shown to anyone. */
  readonly brief: string | undefined
  /** Advice for the operator, in sentences. */
  readonly fix: string | undefined

  constructor(
    code: DriverErrorCode,
    message: string,
    options: ErrorOptions & { readonly brief?: string | undefined; readonly fix?: string | undefined } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'DriverError'
    this.code = code
    this.brief = options.brief
    this.fix = options.fix
  }
}

/** True if a value is a DriverError, by a brand and not by its class, because a package may bring a second copy of the kit. */
export function isDriverError(value: unknown): value is DriverError {
  return typeof value === 'object' && value !== null && BRAND in value
}
