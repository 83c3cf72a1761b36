import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeGoogle } from './operations.ts'
import { pubsubPaths } from './pubsub-paths.ts'
import { parseSelection, select } from './selection.ts'
import { parseTypings } from './typings.ts'

const { operations, schemas, revisions } = describeGoogle()

function operation(id: string) {
  const found = operations.find((each) => each.id === id)
  assert.ok(found, `${id} is described`)
  return found
}

test('every operation in the typings has its method, path and scopes', () => {
  const gmail = operations.filter(({ service }) => service === 'gmail')
  const pubsub = operations.filter(({ service }) => service === 'pubsub')
  assert.equal(gmail.length, 79)
  assert.equal(pubsub.length, Object.keys(pubsubPaths).length, 'our table of paths names nothing else')
  for (const { id, method, path, scopes, inPath, inQuery, body } of operations) {
    assert.match(path, /^\/(gmail\/v1\/users\/\{userId\}|v1\/\{)/, id)
    assert.ok(scopes.length > 0, id)
    assert.ok(inPath.length > 0 && inPath.every((name) => !inQuery.has(name)), id)
    if (method === 'GET' || method === 'DELETE') assert.equal(body, undefined, id)
  }
  assert.match(revisions.gmail, /^\d{8}$/)
})

test('no request matches two operations', () => {
  const paths = operations.map(({ method, path }) => `${method} ${path.replace(/\{\w+(=[^}]*)?\}/g, '{$1}')}`)
  assert.equal(new Set(paths).size, paths.length)
})

test('an operation is the same as in the discovery document', () => {
  const history = operation('gmail.users.history.list')
  assert.deepEqual([history.method, history.path], ['GET', '/gmail/v1/users/{userId}/history'])
  assert.deepEqual(history.inQuery.get('maxResults')?.type, { kind: 'number' })
  const types = ['messageAdded', 'messageDeleted', 'labelAdded', 'labelRemoved']
  assert.deepEqual(history.inQuery.get('historyTypes')?.type, {
    kind: 'list',
    of: { kind: 'string', values: types },
  })
  assert.ok(history.scopes.includes('https://www.googleapis.com/auth/gmail.readonly'))
  assert.ok(!history.scopes.includes('https://www.googleapis.com/auth/gmail.labels'))
  const watch = operation('gmail.users.watch')
  assert.deepEqual(watch.body, { kind: 'schema', name: 'WatchRequest' })
  const push = schemas.pubsub.get('PushConfig')
  assert.deepEqual(push?.get('attributes')?.type, { kind: 'map', of: { kind: 'string' } })
  assert.deepEqual(push?.get('pubsubWrapper')?.type, { kind: 'any' })
  const policy = operation('pubsub.projects.topics.setIamPolicy')
  assert.deepEqual(
    [policy.inPath, policy.body],
    [['resource'], { kind: 'schema', name: 'SetIamPolicyRequest' }],
  )
})

test('resources of one name are distinguished by their place', () => {
  const ofTopic = operation('pubsub.projects.topics.subscriptions.list')
  const ofProject = operation('pubsub.projects.subscriptions.list')
  assert.deepEqual([ofTopic.inPath, ofProject.inPath], [['topic'], ['project']])
})

test('a path matches its own operation only, and its parameters are read whole', () => {
  const pull = operation('pubsub.projects.subscriptions.pull')
  assert.equal(pull.pattern.exec('/v1/projects/p/subscriptions/s:pull')?.[1], 'projects/p/subscriptions/s')
  for (const path of [
    '/v1/projects/p/subscriptions/s',
    '/v1/projects/p/topics/s:pull',
    '/v1/projects/p/subscriptions/s:pull/',
  ]) {
    assert.doesNotMatch(path, pull.pattern)
  }
})

const typings = (text: string) =>
  `// Revision: 20260101\n  namespace one {\n${text}\n    const things: ThingsResource;\n  }\n`

test('typings in an unknown form are refused', () => {
  const good = 'interface ThingsResource { get(request: { id: string; }): Request<void>; }'
  assert.deepEqual([...parseTypings(typings(good), 'one').methods.keys()], ['things.get'])
  const bad = [
    'interface A { a?: string & number; } interface ThingsResource {}',
    'interface A { a?: string | number; } interface ThingsResource {}',
    'interface A extends B { } interface ThingsResource {}',
    'interface ThingsResource { get(request: string): Request<void>; }',
    'interface ThingsResource {} interface OtherResource {}',
    'type A = string; interface ThingsResource {}',
    '#',
  ]
  for (const text of bad) assert.throws(() => parseTypings(typings(text), 'one'), Error, text)
  assert.throws(() => parseTypings(typings(good), 'two'), /know no two/)
})

test('a selection keeps the named operations, and refuses names that do not exist', () => {
  const list = operation('gmail.users.messages.list')
  const answer = { messages: [{ id: '1', threadId: '2' }], nextPageToken: 'x', resultSizeEstimate: 1 }
  const selected = (text: string) => {
    const selection = parseSelection(text, list.answer, schemas.gmail)
    return selection && select(answer, selection)
  }
  assert.deepEqual(selected('*'), answer)
  assert.deepEqual(selected('messages(id),nextPageToken'), { messages: [{ id: '1' }], nextPageToken: 'x' })
  assert.deepEqual(selected('messages/threadId'), { messages: [{ threadId: '2' }] })
  assert.deepEqual(selected('messages/*'), { messages: answer.messages })
  for (const text of ['', 'mails', 'messages(id', 'messages/id/more', 'messages(id))', 'messages,', '(id)']) {
    assert.equal(selected(text), undefined, text)
  }
})
