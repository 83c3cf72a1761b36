import { testStorm } from './storm.ts'

testStorm({ seconds: 600, pauseMs: 30_000, settleMs: 300_000, paceMs: 250 })
