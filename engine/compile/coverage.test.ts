import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCoverage } from './coverage.ts'
import { configurationOf } from './fixture.ts'
import { createDecisionIndex } from './match/decision-index.ts'
import { programOf } from './match/fixture.ts'

test('disabled mappings are listed among the others in the order in which they are written', () => {
  const paths = ['a', undefined, 'b', ':any']
  const enabled = paths.map((path, index) => ({ id: `on${index}`, match: { path }, message: 'x' }))
  const disabled = [':name', 'a', undefined, 'b', 'a'].map((path, index) => ({
    id: `off${index}`,
    match: { path },
    message: 'x',
    line: [1, 1, 3, 3, 5][index] as number,
  }))
  const indexed = enabled.map(({ id, match }) => ({ path: match.path, program: programOf(id, match) }))
  const covering = createCoverage(configurationOf(enabled, { disabled }), createDecisionIndex(indexed))
  const listed = (endpoint: string) => covering(endpoint).map(({ mapping }) => mapping)
  assert.deepEqual(listed('a'), ['off0', 'off1', 'on0', 'on1', 'off2', 'on3', 'off4'])
  assert.deepEqual(listed('c'), ['off0', 'on1', 'off2', 'on3'])
  assert.deepEqual(covering('a')[0]?.params, { name: 'a' })
  assert.deepEqual(listed('wake'), [])
})
