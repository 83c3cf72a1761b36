/** Looks at a database from outside of a gateway, as the role that the gateway has. */

import type { Driver } from '@reveille/kit'
import { storeErrorOf } from './driver-error.ts'
import { type DatabasePlace, openDriver } from './driver-package.ts'
import type { DatabaseState } from './port.ts'
import { schemaIn } from './schema.ts'

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
    if (!hasStore) await checkMaking(driver)
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
