import { testReplays } from './replays.ts'

testReplays(1000, 10)
