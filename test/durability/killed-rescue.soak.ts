import { createDroppingDisk } from './dropping-disk.ts'
import { testKilledRescue } from './killed-rescue.ts'

testKilledRescue(() => true, createDroppingDisk)
