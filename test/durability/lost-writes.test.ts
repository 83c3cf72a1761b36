import { testLostWrites } from './lost-writes.ts'

testLostWrites([1, 2, 4])
