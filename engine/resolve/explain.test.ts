import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { fieldsOf, testDecisions } from '../compile/decision-fixture.ts'
import { type Fixture, type Mapping, requestOf, snapshotOf } from '../compile/fixture.ts'
import { testBlocks } from '../config/blocks-fixture.ts'
import type { HookRequest } from './model/decision.ts'
import type { Explanation } from './model/trace.ts'

async function explain(
  mappings: readonly Mapping[],
  payload: unknown,
  options: { readonly fixture?: Fixture; readonly request?: Partial<HookRequest> } = {},
): Promise<Explanation> {
  return await (await snapshotOf(mappings, options.fixture)).explain(requestOf(payload, options.request))
}

const off = (id: string, line: number, path?: string) => {
  return { id, line, message: 'x', ...(path && { match: { path } }) }
}

/** Mappings, payload and endpoint as YAML, and behind the arrow the verdict about each mapping. */
const listed = `
# each mapping of the endpoint is listed with its verdict, in matching order, and a disabled one in its place
[{ id: a, match: { path: test, source: x } }, { id: other, match: { path: elsewhere } }, { id: b, match: { when: n > 3 } }, { id: c }, { id: d }] { source: y, n: 3 } test → a failed, off disabled, b failed, c matched, d not-reached, off everywhere disabled
[] {} elsewhere → off elsewhere disabled, off everywhere disabled
# a mapping with continue is followed by the next one, unless it refuses the request
[{ id: a, continue: true, message: '{{text}}' }, { id: other, match: { path: elsewhere } }, { id: b }, { id: c }] { text: x } test → a matched, off disabled, b matched, c not-reached, off everywhere disabled
[{ id: a, continue: true, message: '{{text}}' }, { id: other, match: { path: elsewhere } }, { id: b }, { id: c }] {} test → a matched, off disabled, b not-reached, c not-reached, off everywhere disabled
# built-in and unknown endpoints have a decision and nothing else
[{ id: any }] { text: x } wake →
[{ id: a, match: { path: a } }] {} b → off everywhere disabled
`

const disabled = [off('off', 2, 'test'), off('off elsewhere', 2, 'elsewhere'), off('off everywhere', 9)]
testBlocks(listed, async (row) => {
  const [, mappings = '', payload = '', endpoint = '', expected = ''] =
    /^(\[.*?\]) (\{.*?\}) (\w+) →(?: (.*))?$/.exec(row) ?? []
  const written = (parse(mappings) as Mapping[]).map((each) => ({ message: 'x', ...each }))
  const options = { fixture: { disabled }, request: { endpoint } }
  const { candidates } = await explain(written, parse(payload), options)
  assert.equal(candidates.map(({ mapping, verdict }) => `${mapping} ${verdict}`).join(', '), expected, row)
})

test('a mapping that does not match is listed with its place and the clause that fails', async () => {
  const mappings: Mapping[] = [
    { id: 'a', match: { path: 'test', source: 'x' }, message: 'x' },
    { id: 'b', match: { when: 'n > 3' }, message: 'x' },
  ]
  const { candidates, actions } = await explain(mappings, { source: 'y', n: 3 })
  const [first, second] = candidates
  const { path, actual, expected } = first?.clause ?? assert.fail()
  const found = [first?.place, path, actual, expected]
  assert.deepEqual(found, ['mappings/test.yaml:1:1', 'match.source', '"y"', '"x"'])
  assert.deepEqual([second?.clause?.path, actions], ['match.when', []])
})

testDecisions(`
# a refused request lists what was rendered
{ message: '{{a}}', name: n, model: 'x/{{b}}', allowPayloadRouting: true } ⇒ { a: ' ', b: y } ⇒ { code: BLANK_TEXT /message, explain: { message: '/^template:  $/', name: 'literal: n', model: 'template: x/y' } }
# the actions of elements are listed with their targets
{ forEach: list, message: '{{item}}', mode: next-heartbeat, runner: claude, deliverTo: [{ channel: slack, to: '{{item}}' }, { channel: terminal }], allowPayloadRouting: true } ⇒ { list: [b] } ⇒ { message: b, explain: { 'deliverTo[0].to': 'template: b', 'deliverTo[1].channel': 'literal: terminal', runner: 'literal: claude', wakeMode: 'literal: next-heartbeat', channel: null } }
# two secrets with the same beginning are both hidden to their ends, and a word that only begins or ends like a short one is shown
{ message: '{% one & " " & other.text %}' } ⇒ { one: 'https://hooks.example/a/first-9', other: { text: 'https://hooks.example/a/other-9' }, secrets: ['https://hooks.example/a/first-9', 'https://hooks.example/a/other-9'] } ⇒ { explain: { message: 'expression: … …' } }
{ message: '{{text}}' } ⇒ { password: bird, text: 'birds, a bird' } ⇒ { explain: { message: 'template: birds, a …' } }
# the key of an issue is not a secret
{ sessionKey: 'hook:jira:{{issue.key}}', message: x, name: '{{issue.apiKey}}' } ⇒ { issue: { key: PROJ-1, apiKey: sekret } } ⇒ { explain: { sessionKey: 'template: hook:jira:PROJ-1', name: 'template: …' } }
`)

test('every field is listed with its origin and the values of the request in it', async () => {
  const mapping: Mapping = {
    match: { path: ':team/:repo' },
    vars: { who: 'user.login', all: 'user' },
    message: 'Review #{{number}} of {{vars.who}}: {{title}}, {{title}} by {{params.team}}',
    ...{
      name: '{% $uppercase(title) %}',
      sessionKey: 'hook:{{number}}',
      channel: 'slack',
      model: '{{absent}}',
    },
    ...{ allowPayloadRouting: true, timeoutSeconds: 30 },
  }
  const payload = { number: 7, title: 'Fix', user: { login: 'ada' } }
  const options = { fixture: { defaults: { model: 'openai/gpt-5' } }, request: { endpoint: 'core/web' } }
  const { actions } = await explain([mapping], payload, options)
  const [action, ...others] = actions
  const shown = (values: readonly { path: string; value: string }[] = []) =>
    values.map(({ path, value }) => `${path}: ${value}`)
  assert.deepEqual([shown(action?.vars), others], [['who: "ada"', 'all: {"login":"ada"}'], []])
  assert.deepEqual(fieldsOf(action), {
    message: 'template: Review #7 of ada: Fix, Fix by core',
    name: 'expression: FIX',
    sessionKey: 'template: hook:7',
    ...{
      wakeMode: 'default: now',
      deliver: 'default: true',
      channel: 'literal: slack',
      runner: 'default: echo',
    },
    ...{ model: 'default: openai/gpt-5', timeoutSeconds: 'literal: 30' },
  })
  const ofMessage = ['number: "7"', 'vars.who: "ada"', 'title: "Fix"', 'params.team: "core"']
  assert.deepEqual(shown(action?.fields[0]?.sources), ofMessage)
  const model = action?.fields.find(({ field }) => field === 'model')
  assert.deepEqual(shown(model?.sources), ['agents.defaults.model: "openai/gpt-5"'])
})

test("the decision is the same as the request's own", async () => {
  const mappings: Mapping[] = [
    { id: 'a', match: { source: 'a' }, continue: true, forEach: 'list', message: '{{item}} {{id}}' },
    { id: 'b', match: { source: 'a' }, action: 'wake', text: '{% list[0] %}', strict: true },
    { id: 'c', match: { when: '$number(source) > 1' }, message: '{{x}}', schema: { required: ['x'] } },
  ]
  const ofList = [{ source: 'a', list: ['x', 'y'] }, { source: 'a' }]
  const others = [
    '{"source":"a","list":[1],"id":820982911946154508}',
    { source: '2' },
    { source: 'z' },
    { source: '5', x: 1 },
  ]
  const withoutIds = (value: unknown) => JSON.stringify(value).replaceAll(/uuid-\d+|id\d+/g, 'id')
  for (const body of [...ofList, ...others, []]) {
    const snapshot = await snapshotOf(mappings)
    const decision = await snapshot.resolve(requestOf(body))
    const explanation = await snapshot.explain(requestOf(body))
    assert.equal(withoutIds(explanation.decision), withoutIds(decision))
  }
})

test('no secret of the request is shown, wherever it was rendered', async () => {
  const secrets = [
    'bearer-sekret-1',
    'sekret-signature-2',
    'sekret-query-3',
    'sekret-field-4',
    'sekret-nested-5',
  ]
  const mapping: Mapping = {
    match: { path: 'test' },
    vars: { moved: '$substringAfter(headers.authorization, " ")', apiToken: '"sekret-made-6"', all: '$$' },
    message: `{{headers.authorization}} {{token}} {{json payload}} {{headers}} {{query.token}} {{vars.moved}}
      {{vars.apiToken}}`,
    name: '{% headers.`x-hub-signature-256` & "!" & deep.password %}',
  }
  const request: Partial<HookRequest> = {
    headers: { authorization: `Bearer ${secrets[0]}`, 'x-hub-signature-256': `sha256=${secrets[1]}` },
    query: { token: secrets[2] },
  }
  const payload = { token: secrets[3], deep: { password: secrets[4] } }
  const refusing: Mapping = { id: 'no', match: { headers: { authorization: 'x' } }, message: 'x' }
  const { candidates, actions } = await explain([refusing, mapping], payload, { request })
  const shown = JSON.stringify({ candidates, actions })
  for (const secret of [...secrets, 'sekret-made-6'])
    assert.ok(!shown.includes(secret), `${secret} in ${shown}`)
  assert.match(shown, /"headers\.authorization","value":"\\"…\\""/)
})

test('a secret is hidden in every form in which it can be rendered', async () => {
  const payload = {
    password: 'hunter2',
    token: 'sekret_live_abcdef1234567890',
    pin_token: 48213377,
    private_key: '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END KEY-----',
    api_key: 'quo"ted\\sekret',
    map: { sekret_live_abcdef1234567890: 1 },
    ok: 'fine',
  }
  const large = '482133779119461545'
  const body = JSON.stringify(payload).replace('"ok"', `"big_secret":${large},"ok"`)
  const hidden = ['hunter2', 'sekret', '48213377', 'MIIEv', 'quo', large.slice(0, 12)]
  const messages = [
    '{{payload}}',
    '{{json payload 2}}',
    '{{truncate (json payload) 150}}',
    '{% $string(payload) %}',
    '{% "is " & password & "," & pin_token & "." %}',
    '{% {"a": private_key, "b": api_key, "c": password, "d": pin_token, "e": big_secret} %}',
    '{{or nothing password}}{{and ok pin_token}}{{default nothing big_secret}}',
    '{{#each map}}{{@key}}={{this}}{{/each}}{{map}}',
    '{{params}} {% params.token %}',
    '{% $string(params) %}',
    '{% $substring(token, 0, 20) %}',
  ]
  const vars = { a: 'password', b: 'pin_token', c: '$string($)', d: 'map', e: '[private_key]' }
  const match = { path: 'test/:token' }
  const request: Partial<HookRequest> = { endpoint: 'test/sekret-in-path' }
  for (const message of messages) {
    const mappings: Mapping[] = [
      { id: 'a', match: { ...match, when: 'password' }, message: 'x' },
      { id: 'b', match: { ...match, body: { map: 'x' } }, message: 'x' },
      { id: 'c', match, vars, message, name: '{% password %}' },
    ]
    const { candidates, actions } = await explain(mappings, body, { request })
    assert.equal(actions.length, 1)
    const shown = JSON.stringify({ candidates, actions })
    for (const secret of hidden) assert.ok(!shown.includes(secret), `${secret} of ${message} in ${shown}`)
  }
})

test('a text that contains a secret as forms, addresses and JSON do is shown without it', async () => {
  const payload = {
    url: 'https://bot:sekret@example.com/?a=1&api_key=sekret-2&b=2',
    message: '{"token": "sekret 3", "pin_secret":123456, "ok": "fine"}',
    commit: 'auth: fix the token',
  }
  const text = '{{url}} {{message}} {{commit}}'
  const { actions } = await explain([{ message: text, vars: { all: '$string(payload)' } }], payload)
  const shown = JSON.stringify(actions)
  assert.ok(!/sekret|123456/.test(shown), shown)
  const url = 'https://…@example.com/?a=1&api_key=…&b=2'
  const masked = `template: ${url} {"token": "…", "pin_secret":…, "ok": "fine"} auth: fix the token`
  assert.equal(fieldsOf(actions[0])['message'], masked)
})

test('long values are cut, and huge ones take no longer', async () => {
  const payload = {
    text: 'x'.repeat(100_000),
    list: Array.from({ length: 100_000 }, (_, index) => ({ index })),
    wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key${index}`, index])),
  }
  const mapping: Mapping = { vars: { list: 'list', wide: 'wide', text: 'text' }, message: '{{text}}' }
  const { actions } = await explain([mapping], payload)
  const values = [...(actions[0]?.vars ?? []), ...(actions[0]?.fields ?? [])].map(({ value }) => value)
  assert.ok(values.every((value) => value.length <= 201))
  const starts = actions[0]?.vars.map(({ value }) => `${value.slice(0, 12)}${value.at(-1)}`)
  assert.deepEqual(starts, ['[{"index":0}…', '{"key0":0,"k…', '"xxxxxxxxxxx…'])
})

test('the configuration is named as the origin of its session key, and the sender as that of its dedupe key', async () => {
  const request = { headers: { 'idempotency-key': 'k1' } }
  const fixture = { hooks: { defaultSessionKey: 'hook:all' } }
  const { actions } = await explain([{ message: 'x' }], {}, { fixture, request })
  const shown = actions[0]?.fields.map(
    ({ field, value, from, sources }) => `${field} ${value} ${from} ${sources[0]?.path}`,
  )
  assert.ok(shown)
  assert.ok(shown.includes('sessionKey hook:all default hooks.defaultSessionKey'))
  assert.ok(shown.includes('dedupe.key k1 default headers.idempotency-key'))
})
