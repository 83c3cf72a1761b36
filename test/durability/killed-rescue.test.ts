import { createDroppingDisk } from './dropping-disk.ts'
import { testKilledRescue } from './killed-rescue.ts'

// While the copy is made, before the log is removed, and before the copy gets the name of the database. The soak takes every step.
testKilledRescue((step) => [6, 9, 12].includes(step), createDroppingDisk)
