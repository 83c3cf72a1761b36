import { testReplays } from './replays.ts'

testReplays(60, 2)
