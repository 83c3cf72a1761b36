import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { driverConformance } from '@reveille/kit/conformance'
import { createEmbeddedDriver } from './driver.ts'
import { prepareFolder } from './folder.ts'

driverConformance({
  name: 'embedded',
  async open() {
    const parent = await mkdtemp(join(tmpdir(), 'reveille-driver-'))
    const folder = join(parent, 'data')
    prepareFolder(folder)
    const driver = createEmbeddedDriver(folder, { now: Date.now, onFailure: () => undefined })
    return {
      ...driver,
      async close() {
        await driver.close()
        await rm(parent, { recursive: true, force: true })
      },
    }
  },
})
