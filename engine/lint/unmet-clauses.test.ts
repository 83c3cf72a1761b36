import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Mapping } from '../compile/fixture.ts'
import { lintOf, mappingOf, testOf } from './fixture.ts'

const event = { action: 'opened', number: 42, draft: false, size: '17', labels: [{ name: 'bug' }] }
const body = { ...event, 'app.kubernetes.io/name': 'gate' }

/** Lints one mapping's match, and returns `code hint` for each finding. */
async function found(
  match: NonNullable<Mapping['match']>,
  { asFile = false, samples = [body] as readonly unknown[] } = {},
): Promise<readonly string[]> {
  const headers = { 'x-event': 'push' }
  const given = asFile
    ? { samples: samples.map((payload) => ({ endpoint: 'test', headers, payload })) }
    : { tests: samples.map((each) => testOf('one', { body: each, headers })) }
  const diagnostics = await lintOf([mappingOf('one', { match: { path: 'test', ...match } })], given)
  return diagnostics.map(({ code, hint }) => `${code} ${hint}`)
}

const cases: readonly (readonly [NonNullable<Mapping['match']>, string])[] = [
  [{ body: { draft: 'no' } }, 'Write `false`, without quotes.'],
  [{ body: { draft: 'false' } }, 'Write `false`, without quotes.'],
  [{ body: { number: '42' } }, 'Write `42`, without quotes.'],
  [{ body: { size: 17 } }, 'Put it in quotes: "17".'],
  [
    { body: { size: { numeric: ['>', 5] } } },
    '`numeric` takes numbers alone; write `when: "$number(size) > …"`.',
  ],
  [
    { body: { number: { prefix: '4' } } },
    '`prefix` takes texts alone; compare another value in `match.when`.',
  ],
  [{ body: { action: 'Opened' } }, 'Did you mean "opened"?'],
  [{ body: { labels: { name: ['bugs', 'fault'] } } }, 'Did you mean "bug"?'],
  [{ headers: { 'X-Event': 'pushed' } }, 'Did you mean "push"?'],
]

for (const [match, hint] of cases)
  test(`${JSON.stringify(match)} is satisfied by no sample: ${hint}`, async () =>
    assert.deepEqual(await found(match), [`UNMET_CLAUSE ${hint}`]))

test('another value is reported where recorded samples lack it, and left to MISSING_TESTS where tests do', async () => {
  const match = { body: { action: 'synchronize' } }
  assert.deepEqual(await found(match), [])
  const hint = 'UNMET_CLAUSE Fix the clause, or add a test whose body satisfies it.'
  assert.deepEqual(await found(match, { asFile: true }), [hint])
})

test('clauses that a sample satisfies, and clauses of other events, are left alone', async () => {
  assert.deepEqual(await found({ body: { action: 'opened', labels: { name: 'bug' }, draft: false } }), [])
  assert.deepEqual(await found({ headers: { 'x-event': 'issues' }, body: { action: 'Opened' } }), [])
})

test('without a sample, a text for a truth value and a key with a dot are reported', async () => {
  const samples: readonly unknown[] = []
  assert.deepEqual(await found({ body: { draft: 'yes' } }, { samples }), [
    'LITERAL_TEXT Write `true`, without quotes; yes, no, on and off are texts. If a text is meant, add a test that has it.',
  ])
  assert.deepEqual(await found({ body: { 'pull_request.draft': false } }, { samples }), [
    'LITERAL_KEY Nest it: `pull_request: { draft: … }`. If the payload has that key, add a test that shows it.',
  ])
  assert.deepEqual(await found({ body: { 'app.kubernetes.io/name': 'gate' } }), [])
})
