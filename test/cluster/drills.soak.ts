import { poolModes } from '../../plugins/postgres/testing/pgbouncer.ts'
import { testClocks, testFailover, testKilledTurn, testPause, testPooler, testSilence } from './drills.ts'

const options = { roles: ['ingress', 'ingress', 'all', 'all'] as const, seconds: 15, paceMs: 100 }

testFailover('synchronous', options)
testFailover('lagging', options)
testClocks(options)
testKilledTurn(6, options)
testPause(30_000, options)
testSilence(60_000, options)
for (const mode of poolModes) testPooler(mode, options)
