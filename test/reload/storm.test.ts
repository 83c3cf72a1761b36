import { testMemory, testStorm } from './storm.ts'

testStorm(16, 8)
testMemory(5, 8, 5e6)
