import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HookRequest } from '../../resolve/decision.ts'
import type { Candidates, Program } from '../../resolve/program.ts'
import { createDecisionIndex } from './decision-index.ts'

const program = (id: string): Program => ({
  id,
  action: 'wake',
  place: 'mappings/test.yaml:1:1',
  matcher: { equalities: [], matches: () => true, explain: async () => undefined },
  checkPayload: undefined,
  forEach: undefined,
  vars: [],
  fields: [],
  deliverTo: undefined,
  strict: false,
  continues: false,
  trusted: false,
})

const requestTo = (endpoint: string): HookRequest => ({
  endpoint,
  headers: {},
  query: {},
  payload: {},
  rawBody: Buffer.from('{}'),
  now: 0,
})

function idsOf(candidates: Candidates): string[] {
  const ids: string[] = []
  for (let each = candidates.next(); each !== undefined; each = candidates.next()) ids.push(each.program.id)
  return ids
}

test('an endpoint’s candidates are its own mappings and the catch-alls, in order', () => {
  const index = createDecisionIndex([
    { path: 'a', program: program('a1') },
    { path: undefined, program: program('any1') },
    { path: 'b', program: program('b1') },
    { path: 'a', program: program('a2') },
    { path: undefined, program: program('any2') },
  ])
  const ids = (endpoint: string) => idsOf(index.candidates(requestTo(endpoint)))
  assert.deepEqual(ids('a'), ['a1', 'any1', 'a2', 'any2'])
  assert.deepEqual(ids('b'), ['any1', 'b1', 'any2'])
  assert.deepEqual(ids('other'), ['any1', 'any2'])
})

test('the mappings of other endpoints cost a request nothing', () => {
  const others = Array.from({ length: 10_000 }, (_, position) => ({
    path: `e${position}`,
    program: {
      ...program(`p${position}`),
      matcher: { equalities: [], matches: () => assert.fail('it was asked'), explain: async () => undefined },
    },
  }))
  const index = createDecisionIndex([...others, { path: 'mine', program: program('mine') }])
  assert.deepEqual(idsOf(index.candidates(requestTo('mine'))), ['mine'])
})
