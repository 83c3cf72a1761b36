/** Owns how much work checking one payload may be, so that no body and no schema together hold the event loop. */

/** One unit is about 8 ns of Ajv's compiled code: the whole is some 40 ms. */
const mostUnits = 5_000_000

/** The payload needs more work than one check may be. */
export class SchemaLimitError extends Error {
  constructor() {
    super('takes more work to check than one request may')
    this.name = 'SchemaLimitError'
  }
}

/** One for each schema: checking is never interrupted, so it serves one payload at a time. */
export interface SchemaMeter {
  left: number
  /** The object whose keys were counted last, and how many there are. */
  counted: object | undefined
  keys: number
  /** @throws SchemaLimitError */
  readonly spend: (units: number) => void
  readonly reset: () => void
}

export function createSchemaMeter(): SchemaMeter {
  const meter: SchemaMeter = {
    left: 0,
    counted: undefined,
    keys: 0,
    spend: (units) => {
      meter.left -= units
      if (meter.left < 0) throw new SchemaLimitError()
    },
    reset: () => {
      meter.left = mostUnits
      meter.counted = undefined
    },
  }
  return meter
}
