import { testCrashes } from './crash.ts'

testCrashes(3)
