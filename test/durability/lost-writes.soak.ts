import { testLostWrites } from './lost-writes.ts'

testLostWrites(Array.from({ length: 20 }, (_, index) => index))
