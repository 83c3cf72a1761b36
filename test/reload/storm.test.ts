import { testMemory, testStorm } from './storm.ts'

testStorm(24)
testMemory(5, 8, 5e6)
