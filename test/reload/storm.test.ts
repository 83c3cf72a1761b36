import { testMemory, testStorm } from './storm.ts'

testStorm(40)
testMemory(5, 8, 5e6)
