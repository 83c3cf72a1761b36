import { testClocks, testFailover, testKilledTurn, testPause, testSilence } from './drills.ts'

// Leases that end five times as fast, so that a takeover fits into the time.
const options = {
  roles: ['all', 'all'] as const,
  leases: { renewMs: 500, expireMs: 3000, holdMs: 2000 },
  seconds: 2,
  paceMs: 20,
}

testFailover('synchronous', options)
testFailover('lagging', options)
testClocks(options)
testKilledTurn(2, options)
testPause(5000, options)
testSilence(8000, options)
