/** Tests which models and thinking levels are allowed, in requests and in mappings. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentAction, Decision } from '../../resolve/model/decision.ts'
import {
  actionOf,
  agentOf,
  compileFixture,
  type Fixture,
  refusalOf,
  requestOf,
  snapshotOf,
} from '../fixture.ts'

const fixture: Fixture = {
  defaults: {
    models: { allowed: ['openai/gpt-5', 'anthropic/claude-x'], aliases: { fast: 'openai/gpt-5' } },
  },
}

const post = async (body: object): Promise<Decision> =>
  snapshotOf([], fixture).resolve(requestOf({ message: 'x', ...body }, { endpoint: 'agent' }))

test('a request may name a listed model or an alias, and gets the model', async () => {
  const asked = {
    'openai/gpt-5': 'openai/gpt-5',
    fast: 'openai/gpt-5',
    'anthropic/claude-x': 'anthropic/claude-x',
  }
  for (const [model, given] of Object.entries(asked))
    assert.equal((actionOf(await post({ model })) as AgentAction).model, given)
  assert.equal((actionOf(await post({ thinking: 'xhigh' })) as AgentAction).thinking, 'xhigh')
})

for (const [field, value, code, expected] of [
  [
    'model',
    'openai/gpt-4',
    'MODEL_NOT_ALLOWED',
    'must be one of openai/gpt-5, anthropic/claude-x, or the alias fast',
  ],
  [
    'model',
    'openai/GPT-5',
    'MODEL_NOT_ALLOWED',
    'must be one of openai/gpt-5, anthropic/claude-x, or the alias fast',
  ],
  ['model', 'slow', 'MODEL_NOT_ALLOWED', 'must be <provider>/<model>, or the alias fast'],
  ['thinking', 'extreme', 'UNKNOWN_THINKING', 'must be one of off, minimal, low, medium, high, xhigh'],
  ['thinking', 'High', 'UNKNOWN_THINKING', 'must be one of off, minimal, low, medium, high, xhigh'],
] as const) {
  test(`${field}: ${value} is refused in a request, and at load in a mapping`, async () => {
    const decision = await post({ [field]: value })
    assert.ok('code' in decision)
    assert.deepEqual([decision.outcome, decision.code], ['refused', code])
    assert.deepEqual(decision.details, [{ pointer: `/${field}`, message: expected }])
    const compiled = compileFixture([{ message: 'x', [field]: value }], fixture)
    assert.ok(!compiled.ok)
    const [first] = compiled.diagnostics
    assert.deepEqual([compiled.diagnostics.length, first?.code], [1, code])
    assert.equal(first?.message, `\`${field}\` of mapping "first": ${expected}`)
    assert.equal(first?.place?.text, `    ${field}: ${value}`)
  })
}

test('a mapping may use name or alias, and a rendered model is checked against the list as well', async () => {
  assert.equal((await agentOf({ message: 'x', model: 'fast' }, {}, fixture)).model, 'openai/gpt-5')
  const rendered = { message: 'x', model: '{{m}}', thinking: '{{t}}', allowPayloadRouting: true }
  assert.equal((await agentOf(rendered, { m: 'fast', t: 'low' }, fixture)).model, 'openai/gpt-5')
  assert.equal((await refusalOf(rendered, { m: 'openai/gpt-4' }, fixture)).code, 'MODEL_NOT_ALLOWED')
  assert.equal((await refusalOf(rendered, { t: 'extreme' }, fixture)).code, 'UNKNOWN_THINKING')
})

test('a transform that returns another model has failed, and the request is not at fault', async () => {
  const answer = { kind: 'one', action: { model: { value: 'openai/gpt-4' } } } as const
  const snapshot = snapshotOf([{ message: 'x', transform: { module: 'a.ts' } }], {
    ...fixture,
    transforms: { 'a.ts': async () => answer },
  })
  const decision = await snapshot.resolve(requestOf({}))
  assert.ok('code' in decision)
  assert.deepEqual([decision.outcome, decision.code], ['failed', 'TRANSFORM_FAILED'])
  assert.match(decision.reason ?? '', /model must be one of openai\/gpt-5/)
})

test('without a list any model of a provider is allowed', async () => {
  const decision = snapshotOf([]).resolve(requestOf({ message: 'x', model: 'a/b/c' }, { endpoint: 'agent' }))
  assert.equal((actionOf(await decision) as AgentAction).model, 'a/b/c')
})

test('an expression may choose between literal models, each of which must be allowed', async () => {
  const model = '{% $contains(title, /urgent/) ? "openai/gpt-5" : "anthropic/claude-x" %}'
  const mapping = { message: 'x', model }
  assert.equal((await agentOf(mapping, { title: 'urgent' }, fixture)).model, 'openai/gpt-5')
  assert.equal((await agentOf(mapping, { title: 'later' }, fixture)).model, 'anthropic/claude-x')
  const refused = compileFixture([{ ...mapping, model: '{% urgent ? "fast" : "openai/gpt-4" %}' }], fixture)
  assert.deepEqual(refused.ok || refused.diagnostics.map(({ code, message }) => [code, message]), [
    [
      'MODEL_NOT_ALLOWED',
      '`model` of mapping "first": must be one of openai/gpt-5, anthropic/claude-x, or the alias fast',
    ],
  ])
})

test('a model that a mapping names needs a price where a budget in US dollars pays for its runs', () => {
  const mappings = [
    { message: 'x', model: 'ollama/llama' },
    { message: 'x', model: 'openai/gpt-5' },
  ]
  const agents = { budget: { usd: 1 } }
  const compiled = compileFixture(mappings, { agents })
  assert.deepEqual(compiled.ok || compiled.diagnostics.map(({ code, place }) => [code, place?.text]), [
    ['MODEL_WITHOUT_PRICE', '    model: ollama/llama'],
  ])
  assert.ok(
    compileFixture(mappings, { agents: { ...agents, prices: { 'ollama/llama': { input: 0, output: 0 } } } })
      .ok,
  )
  assert.ok(compileFixture(mappings, {}).ok)
  assert.ok(compileFixture([{ message: 'x', model: '{{model}}', allowPayloadRouting: true }], { agents }).ok)
})
