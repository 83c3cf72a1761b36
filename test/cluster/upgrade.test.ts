/** Tests that a cluster is upgraded node by node while requests come. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { bundledCommand } from '../bundle.ts'
import { startMachines } from './machines.ts'
import { assertKept, createSenders, everythingEnded, formatReport, judge } from './storm.ts'

test('nodes are replaced by those of the next version under load, one may even go back, and the one after that is refused', {
  timeout: 120_000,
}, async (t) => {
  const current = await bundledCommand()
  const upgraded = new Set<number>()
  const machines = await startMachines(t, {
    roles: ['all', 'all'],
    program: (index, { file, role }) => [
      upgraded.has(index) ? fileURLToPath(new URL('./next-node.ts', import.meta.url)) : current,
      ...['start', '--config', file, '--role', role],
    ],
  })
  const senders = createSenders(machines.url)
  t.after(() => senders.stop())
  for (const [index, node] of machines.nodes.entries()) {
    await senders.answered(40)
    upgraded.add(index)
    await node.kill('SIGTERM')
    await node.start()
  }
  // One node goes back, as after an upgrade by mistake.
  const [, second] = machines.nodes
  upgraded.delete(1)
  await second?.kill('SIGTERM')
  await second?.start()
  await senders.answered(40)
  await senders.stop()
  await everythingEnded(machines, 30_000)
  const report = await judge(machines, senders.accepted, [])
  t.diagnostic(formatReport(report, senders))
  assertKept(report, senders)

  const operator = new pg.Client({ connectionString: machines.database.url })
  await operator.connect()
  await operator.query('UPDATE reveille.meta SET version = version + 1')
  await operator.end()
  await second?.kill('SIGTERM')
  await assert.rejects(second?.start() ?? Promise.resolve(), /start the newer version/)
})
