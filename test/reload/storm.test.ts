import { testMemory, testStorm } from './storm.ts'

testStorm(40)
testMemory(20, 5e6)
