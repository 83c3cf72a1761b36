/** Opens what the sources of a cluster keep, without a gateway. */

import { type DatabasePlace, openDriver } from './driver-package.ts'
import type { SourceValues } from './port.ts'
import { createSourceValues } from './records/source-values.ts'
import { migrate } from './schema.ts'

/** @throws StoreError */
export async function openSourceValues(place: DatabasePlace): Promise<SourceValues & AsyncDisposable> {
  const driver = await openDriver(place)
  try {
    await migrate(driver)
  } catch (error) {
    await driver.close()
    throw error
  }
  return {
    ...createSourceValues(driver.read, driver.transaction),
    [Symbol.asyncDispose]: () => driver.close(),
  }
}
