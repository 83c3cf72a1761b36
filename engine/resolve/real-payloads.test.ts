/** Sends recorded bodies of senders through mappings, as the hook surface would pass them. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { actionOf, type Mapping, requestOf, snapshotOf } from '../compile/fixture.ts'
import type { AgentAction } from './model/decision.ts'

interface WebhookExample {
  readonly name: string
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly WebhookExample[]
const testData = process.env.REVEILLE_TEST_DATA ?? '../shared'

const github: readonly Mapping[] = [
  {
    id: 'pull-request',
    match: { path: 'github', headers: { 'X-GitHub-Event': 'pull_request' } },
    name: 'GitHub',
    sessionKey: 'hook:github:{{repository.full_name}}:{{number}}',
    message:
      'Pull request #{{number}} was {{action}} by {{sender.login}}: {{pull_request.title}}\n\n{{pull_request.body}}',
  },
  {
    id: 'push',
    match: { path: 'github', headers: { 'X-GitHub-Event': 'push' }, when: '$count(commits) > 0' },
    message:
      '{{plural commits "commit"}} on {{ref}}:{{#each commits}}\n- {{message}} ({{author.username}}){{/each}}',
  },
  {
    id: 'other',
    match: { path: 'github' },
    message: '{{headers.x-github-event}} by {{sender.login}}: {{payload}}',
  },
]

for (const { name, examples: bodies } of examples) {
  test(`every example of GitHub's ${name} is accepted`, async () => {
    const snapshot = snapshotOf(github)
    for (const body of bodies) {
      const request = requestOf(body, { endpoint: 'github', headers: { 'x-github-event': name } })
      const action = actionOf(await snapshot.resolve(request)) as AgentAction
      assert.equal(action.mapping, expectedMapping(name, body))
      if (action.mapping !== 'other') continue
      assert.ok(action.message.endsWith(JSON.stringify(body)))
      assert.match(action.prompt, / by [^\s]*: \[payload\]\n\n<outside-data id="id\d+">\n/)
    }
  })
}

function expectedMapping(name: string, body: Readonly<Record<string, unknown>>): string {
  if (name === 'pull_request') return 'pull-request'
  return name === 'push' && (body.commits as unknown[]).length > 0 ? 'push' : 'other'
}

function bodiesOf(
  provider: string,
): readonly { file: string; body: string; headers: Record<string, string> }[] {
  const folder = join(testData, 'payloads', provider)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && !file.endsWith('.headers.json'))
    .map((file) => ({
      file,
      body: readFileSync(join(folder, file), 'utf8'),
      headers: JSON.parse(readFileSync(join(folder, file.replace(/\.json$/, '.headers.json')), 'utf8')),
    }))
}

const absent = existsSync(join(testData, 'payloads')) ? false : `no test data at ${testData}/payloads`

test('recorded GitHub bodies are accepted with their recorded headers', { skip: absent }, async () => {
  const snapshot = snapshotOf(github)
  const bodies = bodiesOf('github')
  assert.ok(bodies.length > 0)
  for (const { file, body, headers } of bodies) {
    const action = actionOf(
      await snapshot.resolve(requestOf(body, { endpoint: 'github', headers })),
    ) as AgentAction
    if (file.startsWith('pull_request.opened'))
      assert.match(action.message, /^Pull request #\d+ was opened by /)
  }
})

test('a recorded pull request without a body renders none', { skip: absent }, async () => {
  const found = bodiesOf('github').find(({ file }) => file === 'pull_request.opened.null-body.json')
  assert.ok(found)
  const request = requestOf(found.body, { endpoint: 'github', headers: found.headers })
  const action = actionOf(await snapshotOf(github).resolve(request)) as AgentAction
  assert.doesNotMatch(action.prompt, /null|undefined/)
})

test('Stripe events are distinguished by their type', { skip: absent }, async () => {
  const snapshot = snapshotOf([
    {
      id: 'failed-payment',
      match: { path: 'stripe', when: 'type = "payment_intent.payment_failed"' },
      message: 'Payment {{data.object.id}} failed: {{data.object.last_payment_error.message}}',
    },
    { id: 'event', match: { path: 'stripe' }, message: '{{type}} at {{date created}}: {{data.object.id}}' },
  ])
  const bodies = bodiesOf('stripe')
  assert.ok(bodies.length > 0)
  for (const { body } of bodies) {
    const event = JSON.parse(body)
    const action = actionOf(await snapshot.resolve(requestOf(body, { endpoint: 'stripe' }))) as AgentAction
    const failed = event.type === 'payment_intent.payment_failed'
    assert.equal(action.mapping, failed ? 'failed-payment' : 'event')
    assert.ok(action.message.includes(event.data.object.id))
  }
})

test('every JSON body of every sender can be rendered as a whole', { skip: absent }, async () => {
  const snapshot = snapshotOf([{ message: 'Look: {{payload}}' }])
  for (const provider of readdirSync(join(testData, 'payloads'))) {
    for (const { file, body } of provider.endsWith('.json') || provider.endsWith('.md')
      ? []
      : bodiesOf(provider)) {
      const decision = await snapshot.resolve(requestOf(body))
      assert.equal(decision.outcome, 'accepted', `${provider}/${file}`)
    }
  }
})

test('Shopify’s long ids keep their digits', { skip: absent }, async () => {
  const long = /"id":\s*(\d{17,})/
  const found = bodiesOf('shopify').filter(({ body }) => long.test(body))
  for (const { body } of found) {
    const id = long.exec(body)?.[1] ?? ''
    const action = actionOf(
      await snapshotOf([{ message: '{{payload}}' }]).resolve(requestOf(body)),
    ) as AgentAction
    assert.ok(action.message.includes(`"id":${id}`))
  }
})
