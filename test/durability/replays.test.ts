import { testReplays } from './replays.ts'

testReplays(30, 1)
