import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Program } from '../resolve/program.ts'
import { createEndpointIndex } from './endpoint-index.ts'

const program = (id: string): Program => ({
  id,
  action: 'wake',
  matches: () => true,
  fields: [],
  trusted: false,
})

test('an endpoint’s candidates are its own mappings and the catch-alls, in order', () => {
  const index = createEndpointIndex([
    { path: 'a', program: program('a1') },
    { path: undefined, program: program('any1') },
    { path: 'b', program: program('b1') },
    { path: 'a', program: program('a2') },
    { path: undefined, program: program('any2') },
  ])
  const ids = (endpoint: string) => index.candidates(endpoint).map(({ id }) => id)
  assert.deepEqual(ids('a'), ['a1', 'any1', 'a2', 'any2'])
  assert.deepEqual(ids('b'), ['any1', 'b1', 'any2'])
  assert.deepEqual(ids('other'), ['any1', 'any2'])
})

test('the mappings of other endpoints cost a request nothing', () => {
  const others = Array.from({ length: 10_000 }, (_, position) => ({
    path: `e${position}`,
    program: { ...program(`p${position}`), matches: () => assert.fail('it was asked') },
  }))
  const index = createEndpointIndex([...others, { path: 'mine', program: program('mine') }])
  assert.equal(index.candidates('mine').length, 1)
})
