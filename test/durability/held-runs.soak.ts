import { testHeldRuns } from './held-runs.ts'

testHeldRuns(200, 4)
