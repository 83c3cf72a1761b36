import { createDroppingDisk } from './dropping-disk.ts'
import { testKilledRescue } from './killed-rescue.ts'

// Before the log is removed, and before the copy gets the name of the database. The soak takes every step.
testKilledRescue((step) => [9, 12].includes(step), createDroppingDisk)
