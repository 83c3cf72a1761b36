import { testHeldRuns } from './held-runs.ts'

testHeldRuns(20, 1)
