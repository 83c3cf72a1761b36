import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultOf } from './fixture.ts'

const mappings = [
  { id: 'header', match: { headers: { 'x-event': 'push' } }, message: 'x' },
  { id: 'action', match: { source: 'forge', body: { action: 'opened' } }, message: 'x' },
  { id: 'elsewhere', match: { path: 'other' }, message: 'x' },
]
const body = { source: 'forge', action: 'closed' }

test('where nothing matched, each mapping says which clause failed, the nearest to matching first', async () => {
  const { unmatched } = await resultOf({ message: 'x' }, { mappings, body })
  const found = unmatched.map(
    ({ mapping, clause }) => `${mapping}: ${clause?.path} ${clause?.expected} ${clause?.actual}`,
  )
  const nearest = 'action: match.body.action "opened" "closed"'
  assert.deepEqual(found, [nearest, 'header: match.headers.x-event "push" undefined'])
})

test('only the mapping that is expected by its id is explained, and nothing where matching is as expected', async () => {
  const { unmatched } = await resultOf({ mapping: 'header' }, { mappings, body })
  const found = unmatched.map(({ mapping, reason }) => [mapping, reason])
  assert.deepEqual(found, [['header', 'did not match']])
  const other = await resultOf({ message: 'y' }, { mappings: [{ message: 'x' }] })
  assert.deepEqual([other.passed, other.unmatched], [false, []])
})

test('a mapping behind one that matched, one of another endpoint and one that does not exist are named as such', async () => {
  const reasonFor = async (mapping: string) => {
    const all = [{ id: 'first', message: 'x' }, ...mappings]
    return (await resultOf({ mapping }, { mappings: all, body })).unmatched[0]?.reason
  }
  assert.equal(await reasonFor('action'), 'comes after "first", which matched')
  assert.equal(await reasonFor('elsewhere'), 'is for the endpoint "other", and the request went to "test"')
  assert.equal(await reasonFor('acton'), 'does not exist; did you mean "action"?')
})
