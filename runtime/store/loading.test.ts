import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Statements } from '@reveille/kit'
import { loadWorks } from './loading.ts'

test('a count that other nodes have not completed yet is at least that of the events that were read', async () => {
  const event = {
    id: 'e1',
    record: '{"session":"main","text":"a"}',
    created_at: 1,
    pending: 1,
    forgotten_at: null,
  }
  const rows = [
    { ...event, urgency: 0 },
    { ...event, id: 'e2', urgency: 1 },
  ]
  const statements = {
    all: async (sql: string) => (sql.includes('FROM events') ? rows : []),
  } as unknown as Statements
  const dialect = { among: () => '(?1)' }
  const load = (pending: { all: number; now: number }) =>
    loadWorks(statements, [{ kind: 'heartbeat' }], { dialect, now: 1, pending, historyMessages: 10 })
  const [short] = await load({ all: 0, now: 0 })
  assert.deepEqual([short?.events.length, short?.pending], [2, { all: 2, now: 1 }])
  const [whole] = await load({ all: 60, now: 55 })
  assert.deepEqual(whole?.pending, { all: 60, now: 55 })
})
