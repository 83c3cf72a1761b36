import { testMemory, testStorm } from './storm.ts'

testStorm(200, 32)
testMemory(25, 200, 10e6)
