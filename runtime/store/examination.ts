/** Looks at a database from outside of a gateway, as the role that the gateway has. */

import type { Driver, Table } from '@reveille/kit'
import { storeErrorOf } from './driver-error.ts'
import { type DatabasePlace, openDriver } from './driver-package.ts'
import { type DatabaseState, StoreError } from './port.ts'
import { schemaIn, tables } from './schema.ts'

export interface Examination {
  readonly state: DatabaseState
  /** Milliseconds by which this machine's clock is ahead of the database's. */
  readonly skewMs: number
  /** False before the first start of a gateway. */
  readonly hasStore: boolean
}

/** @throws StoreError that explains why a gateway could not use it either */
export async function examineDatabase(place: DatabasePlace, now: () => number): Promise<Examination> {
  const driver = await openDriver(place)
  try {
    const hasStore = (await schemaIn(driver)) > 0
    await (hasStore ? checkPrivileges(driver) : checkMaking(driver))
    const startedAt = now()
    const clock = await driver.clock()
    const skewMs = Math.round((startedAt + now()) / 2 - clock)
    return { state: (await driver.describe()) ?? { version: '' }, skewMs, hasStore }
  } catch (error) {
    throw storeErrorOf(error)
  } finally {
    await driver.close()
  }
}

/** Creates what a first start creates, and rolls it back. */
async function checkMaking(driver: Driver): Promise<void> {
  const takenBack = new Error()
  await driver
    .transaction(async (tx) => {
      await driver.createNamespace?.(tx)
      throw takenBack
    })
    .catch((error) => {
      if (error !== takenBack) throw error
    })
}

/** Statements that change nothing, by the privilege that each needs. */
const needed: Readonly<Record<string, (table: Table) => string>> = {
  SELECT: ({ name }) => `SELECT 1 FROM ${name} WHERE 1 = 0`,
  INSERT: ({ name }) => `INSERT INTO ${name} SELECT * FROM ${name} WHERE 1 = 0`,
  UPDATE: ({ name, primaryKey: [key] }) => `UPDATE ${name} SET ${key} = ${key} WHERE 1 = 0`,
  DELETE: ({ name }) => `DELETE FROM ${name} WHERE 1 = 0`,
}

/** @throws StoreError */
async function checkPrivileges(driver: Driver): Promise<void> {
  await driver.transaction(async ({ run }) => {
    for (const table of Object.values(tables))
      for (const [privilege, statement] of Object.entries(needed))
        await run(statement(table)).catch((cause) => {
          const error = storeErrorOf(cause)
          if (!(error instanceof StoreError)) throw error
          const { code, message, fix } = error
          throw new StoreError(code, `${message}: ${privilege} on ${table.name}`, { cause, fix })
        })
  })
}
