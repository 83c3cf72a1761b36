import { testStorms } from './test-bed/storm.ts'

testStorms(1000)
