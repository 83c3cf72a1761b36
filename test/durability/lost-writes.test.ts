import { testLostWrites } from './lost-writes.ts'

testLostWrites((process.env['SEEDS'] ?? '1,2,4').split(',').map(Number))
