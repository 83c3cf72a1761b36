import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestRecord } from '../../store/records.ts'
import { recordViews } from './record-views.ts'

const [first, second] = ['01a1fd97-8f22-7000-8029-fcfcbff544ad', '01a1fd97-8f22-7001-bb92-c4f805b88539']

function detailOf(record: Partial<RequestRecord>): string | undefined {
  const item = { id: first, endpoint: 'github', status: 200, receivedAt: 0, actions: [], ...record }
  return recordViews.requests.row(item as never, 0).at(-1)
}

test('a list of requests shows duplicates: the reason for a whole request, or which of its actions', () => {
  const reason = `it came before, in request ${second}`
  assert.equal(
    detailOf({ outcome: 'duplicate', mapping: 'opened', reason }),
    'it came before, in request b88539',
  )
  const actions = [
    { kind: 'agent', id: first, duplicateOf: second },
    { kind: 'wake', id: second },
  ] as const
  assert.equal(detailOf({ mapping: 'opened', actions }), 'opened  agent f544ad (came before)  wake b88539')
})

test('a list of requests shows why a sender was not authenticated, and how often within a minute', () => {
  const refused = {
    outcome: 'refused',
    status: 401,
    failure: 'SIGNATURE_MISMATCH',
    reason: 'it does not fit',
  } as const
  assert.equal(detailOf(refused), 'SIGNATURE_MISMATCH: it does not fit')
  assert.equal(detailOf({ ...refused, count: 12 }), 'SIGNATURE_MISMATCH: it does not fit (12 requests)')
  const throttled = { ...refused, status: 429, code: 'TOO_MANY_TRIES' }
  assert.equal(detailOf(throttled), 'TOO_MANY_TRIES, SIGNATURE_MISMATCH: it does not fit')
  assert.equal(
    detailOf({ outcome: 'handshake', reason: 'Slack asked', count: 2 }),
    'Slack asked (2 requests)',
  )
})
