import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPoliciesOf } from './last-good.ts'

const mappings = 'mappings: [{ id: a, match: { path: a }, message: x }]\n'
const broken = 'mappings: [{ id: a\n  message: "no end\n'
const policy = (token: string) => `endpoints:\n  a: { token: ${token} }\n`
const policyOf = (text: string | undefined) => /token: "?(\w+)/.exec(text ?? '')?.[1]

test('an old text with the same policies as the current one is taken unchanged', () => {
  const cases: [today: string, old: string][] = [
    [broken, mappings],
    [`# endpoints: none yet\n${broken}`, mappings],
    [policy('one') + broken, policy('one') + mappings],
    [`mappings: nothing\n${policy('one')}`, policy('one') + mappings],
    [`message: "endpoints: of the city"\n${broken}`, mappings],
  ]
  for (const [today, old] of cases) assert.equal(withPoliciesOf(today, old), old)
})

test('the policies are those of the current text, whether they are new, changed or gone', () => {
  for (const [today, old, expected] of [
    [policy('two') + broken, mappings, 'two'],
    [policy('two') + broken, policy('one') + mappings, 'two'],
    [broken + policy('two'), policy('one') + mappings, 'two'],
    [`# a comment\n${policy('two')}\n# another\n${broken}`, policy('one') + mappings, 'two'],
    [broken, policy('one') + mappings, undefined],
    ['{ "endpoints": { "a": { "token": "two" } }, "mappings": 5 }', policy('one') + mappings, 'two'],
    [
      '{ // "a: b"\n "endpoints": { "a": { "token": "two" } }, "mappings": 5 }',
      policy('one') + mappings,
      'two',
    ],
    [policy('two') + broken, '{ // "a: b"\n "mappings": [{ message: x }] }', 'two'],
  ] as const) {
    const text = withPoliciesOf(today, old)
    assert.equal(policyOf(text), expected, today)
    assert.match(text ?? '', /message: x/)
  }
})

test('nothing is replaced if the current policies cannot be read with certainty', () => {
  for (const today of [
    `endpoints:\n  a: { token: "no end\n${mappings}`,
    `endpoints: *unknown\n${broken}`,
    `{ "endpoints": { "a": { "token": "two" } }, "mappings": [ }`,
    ` endpoints:\n   a: { token: two }\n ${broken}`,
    policy('one') + policy('two') + broken,
  ])
    assert.equal(withPoliciesOf(today, mappings), undefined, today)
})
