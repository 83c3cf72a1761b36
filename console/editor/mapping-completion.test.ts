import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { completeMapping } from './mapping-completion.ts'
import { pathsOf } from './payload-paths.ts'

const payload = {
  action: 'opened',
  number: 42,
  pull_request: { draft: false, title: 'Fix it', user: { login: 'ada' } },
  commits: [{ message: 'one' }],
}
const complete = completeMapping(() => ({
  paths: pathsOf(payload),
  headers: { 'x-github-event': 'pull_request' },
  endpoints: ['github', 'stripe'],
}))

/** Completions at the cursor `¦`, as they would be written. */
function offered(text: string): string[] {
  const at = text.indexOf('¦')
  const state = EditorState.create({ doc: text.replace('¦', '') })
  const found = complete(new CompletionContext(state, at, true))
  return (found?.options ?? []).map(({ label, apply }) => (typeof apply === 'string' ? apply : label))
}

test('keys of a mapping come from the schema, in a file, in a list and in one entry', () => {
  for (const text of ['mappings:\n  - id: a\n    ¦', '- id: a\n  ¦', 'id: a\n¦']) {
    const keys = offered(text)
    assert.ok(keys.includes('match: ') && keys.includes('message: '), `${text} gives ${keys}`)
  }
  assert.deepEqual(offered('match:\n  ¦').sort(), ['body: ', 'headers: ', 'path: ', 'source: ', 'when: '])
})

test('a pattern is completed with the fields and the values of the payload', () => {
  assert.deepEqual(offered('match:\n  body:\n    ¦').slice(0, 4), [
    'action: ',
    'number: ',
    'pull_request: ',
    'commits: ',
  ])
  const inner = offered('match:\n  body:\n    pull_request:\n      ¦')
  assert.deepEqual(inner.slice(0, 3), ['draft: ', 'title: ', 'user: '])
  assert.ok(inner.includes('exists: ') && inner.includes('prefix: '))
  assert.deepEqual(offered('match:\n  body:\n    action: ¦'), ['opened'])
  assert.deepEqual(offered('match:\n  body:\n    pull_request: { draft: ¦'), ['false'])
})

test('headers and endpoints are completed with those that are known', () => {
  assert.deepEqual(offered('match:\n  headers:\n    ¦'), ['x-github-event: '])
  assert.deepEqual(offered('match:\n  headers:\n    x-github-event: ¦'), ['pull_request'])
  assert.deepEqual(offered('match:\n  path: ¦'), ['github', 'stripe'])
})

test('placeholders and expressions are completed with paths', () => {
  const paths = ['action', 'pull_request.user.login', 'commits[0].message']
  for (const text of ['message: "{{¦', 'match:\n  when: ¦', 'vars:\n  who: ¦', 'coalesce:\n  key: ¦'])
    for (const path of paths) assert.ok(offered(text).includes(path), `${text} lacks ${path}`)
})

test('values of a closed list come from the schema', () => {
  assert.deepEqual(offered('action: ¦'), ['wake', 'agent'])
  assert.deepEqual(offered('strict: ¦'), ['true', 'false'])
})

test('a line of a text is not completed', () => {
  assert.deepEqual(offered('message: |\n  Look at ¦'), [])
})
