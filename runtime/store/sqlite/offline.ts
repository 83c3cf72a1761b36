/** Opens the driver of an embedded store that no gateway uses. */

import { existsSync } from 'node:fs'
import type { Driver } from '@reveille/kit'
import { StoreError } from '../port.ts'
import { createEmbeddedDriver } from './driver.ts'
import { storeErrorOf } from './failure.ts'
import { databaseFile, lockFolder, prepareFolder } from './folder.ts'
import { rescueAtStart } from './rescue.ts'

export interface OfflineOptions {
  /** The data folder. */
  readonly location: string
  /** True if the store is created where there is none. */
  readonly creates: boolean
  readonly now: () => number
}

/** The folder is locked until the driver is closed. @throws StoreError `LOCKED`, `STORE_MISSING` or `STORE_UNAVAILABLE` */
export function openOffline({ location, creates, now }: OfflineOptions): Driver {
  if (!creates && !existsSync(databaseFile(location)))
    throw new StoreError('STORE_UNAVAILABLE', `there is no store in ${location}`)
  let lock: ReturnType<typeof lockFolder> | undefined
  try {
    prepareFolder(location, creates ? 'generations' : undefined)
    lock = lockFolder(location)
    rescueAtStart(location, now())
    const driver = createEmbeddedDriver(location, { now, onFailure: () => driver.giveUp() })
    const held = lock
    return {
      ...driver,
      async close() {
        await driver.close()
        held.close()
      },
    }
  } catch (error) {
    lock?.close()
    throw storeErrorOf(error)
  }
}
