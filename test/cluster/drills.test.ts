import { testFailover, testKilledTurn } from './drills.ts'

// Leases that end five times as fast, so that a takeover fits into the time.
const options = {
  roles: ['all', 'all'] as const,
  leases: { renewMs: 500, expireMs: 3000, freshMs: 2000 },
  seconds: 1,
  paceMs: 20,
}

testFailover('synchronous', options)
testKilledTurn(2, options)
