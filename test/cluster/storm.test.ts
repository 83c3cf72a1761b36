import { testStorm } from './storm.ts'

// Leases that end five times as fast, so that a pause and the recovery from it fit into the time. A turn that was begun in time has as long
// to be written as it takes on a busy machine.
testStorm({
  seconds: 8,
  pauseMs: 4000,
  settleMs: 30_000,
  leases: { renewMs: 500, expireMs: 3000, freshMs: 1000 },
})
