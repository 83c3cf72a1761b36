import { createDroppingDisk } from './dropping-disk.ts'
import { testLostWrites } from './lost-writes.ts'

testLostWrites([1])
testLostWrites([13], createDroppingDisk)
