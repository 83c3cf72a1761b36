import { testStorm } from './storm.ts'

// Leases that end ten times as fast, so that a pause and the recovery from it fit into the time.
testStorm({
  seconds: 15,
  pauseMs: 3000,
  settleMs: 30_000,
  leases: { renewMs: 500, expireMs: 1500, holdMs: 1000 },
})
