import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSnapshot } from '../../compile/compile-snapshot.ts'
import {
  actionOf,
  catalog,
  configurationOf,
  countingRandomness,
  type Fixture,
  requestOf,
  snapshotOf,
} from '../../compile/fixture.ts'
import { channelName } from '../../config/values/channel-name.ts'
import type { AgentAction, Decision, WakeAction } from '../model/decision.ts'
import { refusalCodes } from '../model/refusal.ts'

async function post(endpoint: 'wake' | 'agent', body: unknown, fixture?: Fixture): Promise<Decision> {
  return snapshotOf([], fixture).resolve(requestOf(body, { endpoint }))
}

const wake = async (body: unknown) => actionOf(await post('wake', body)) as WakeAction
const agent = async (body: unknown, fixture?: Fixture) =>
  actionOf(await post('agent', body, fixture)) as AgentAction

async function refusal(endpoint: 'wake' | 'agent', body: unknown, fixture?: Fixture) {
  const decision = await post(endpoint, body, fixture)
  assert.ok('code' in decision, JSON.stringify(decision))
  return { code: decision.code, pointers: decision.details.map(({ pointer }) => pointer) }
}

test('a wake has the mode now by default, and its text is fenced in the prompt', async () => {
  const action = await wake({ text: 'The build is red.' })
  assert.equal(action.kind, 'wake')
  assert.equal(action.text, 'The build is red.')
  assert.equal(action.mode, 'now')
  assert.equal(action.trusted, false)
  assert.match(
    action.prompt,
    /^<outside-data id="id1">\nA text sent to \/wake, from outside\..*\n\nThe build is red\.\n<\/outside-data id="id1">$/,
  )
  assert.equal((await wake({ text: 'x', mode: 'next-heartbeat' })).mode, 'next-heartbeat')
})

test('mode and wakeMode may stand for each other, and the action’s own name takes precedence', async () => {
  assert.equal((await wake({ text: 'x', wakeMode: 'next-heartbeat' })).mode, 'next-heartbeat')
  assert.equal((await agent({ message: 'x', mode: 'next-heartbeat' })).wakeMode, 'next-heartbeat')
  assert.equal((await agent({ message: 'x', mode: 'next-heartbeat', wakeMode: 'now' })).wakeMode, 'now')
})

test('an agent message alone gets every default', async () => {
  const { prompt, ...rest } = await agent({ message: 'Say hi.' })
  assert.match(prompt, /A message sent to \/agent, from outside/)
  assert.deepEqual(rest, {
    kind: 'agent',
    message: 'Say hi.',
    trusted: false,
    mapping: undefined,
    name: undefined,
    sessionKey: 'hook:uuid-1',
    sessionKeyGiven: false,
    wakeMode: 'now',
    deliver: true,
    channel: 'last',
    to: undefined,
    runner: 'echo',
    model: undefined,
    thinking: undefined,
    timeoutSeconds: 600,
  })
})

test('blanks around a text or message are removed', async () => {
  assert.equal((await wake({ text: '  The build is red.\n' })).text, 'The build is red.')
  assert.equal((await agent({ message: '\n hi ' })).message, 'hi')
})

test('every given field is kept', async () => {
  const given = {
    message: 'Say hi.',
    name: 'CI',
    sessionKey: ' ci:7 ',
    wakeMode: 'next-heartbeat',
    deliver: false,
    channel: 'slack',
    to: 'C1',
    model: 'openai/gpt-5',
    thinking: 'high',
    timeoutSeconds: 30,
  }
  const action = await agent(given)
  assert.deepEqual(
    { ...given, sessionKey: 'ci:7' },
    Object.fromEntries(Object.keys(given).map((key) => [key, action[key as keyof AgentAction]])),
  )
  assert.equal(action.sessionKeyGiven, true)
})

test('defaults come from the settings, and an alias becomes its model', async () => {
  const models = { allowed: ['openai/gpt-5'], aliases: { fast: 'openai/gpt-5' } }
  const action = await agent(
    { message: 'x' },
    { defaults: { runner: 'claude', model: 'fast', models, thinking: 'low', timeoutSeconds: 5 } },
  )
  assert.deepEqual(
    [action.runner, action.model, action.thinking, action.timeoutSeconds],
    ['claude', 'openai/gpt-5', 'low', 5],
  )
})

test('null counts as absent and unknown fields are ignored', async () => {
  const action = await agent({ message: 'x', name: null, deliver: null, timeoutSeconds: null, colour: 'red' })
  assert.deepEqual([action.name, action.deliver, action.timeoutSeconds], [undefined, true, 600])
})

const manyKeys = 'k'.repeat(1025)

/** Endpoint, a field that is given beside a good text, and the code. */
const refused: readonly (readonly ['wake' | 'agent', Readonly<Record<string, unknown>>, string])[] = [
  ['wake', { text: undefined }, 'BLANK_TEXT'],
  ['wake', { text: ' \n' }, 'BLANK_TEXT'],
  ['wake', { text: 5 }, 'INVALID_FIELD'],
  ['wake', { mode: 'later' }, 'INVALID_FIELD'],
  ['wake', { wakeMode: true }, 'INVALID_FIELD'],
  ['agent', { message: undefined }, 'BLANK_TEXT'],
  ['agent', { message: null }, 'BLANK_TEXT'],
  ...['', {}].map((name) => ['agent', { name }, 'INVALID_FIELD'] as const),
  ['agent', { channel: '' }, 'INVALID_FIELD'],
  ['agent', { channel: 'fax' }, 'UNKNOWN_CHANNEL'],
  ['agent', { channel: 'telegram' }, 'CHANNEL_NOT_CONFIGURED'],
  ...[manyKeys, 'a\ud800', ' '].map((sessionKey) => ['agent', { sessionKey }, 'INVALID_FIELD'] as const),
  ['agent', { sessionKey: ' Main ' }, 'RESERVED_SESSION_KEY'],
  ['agent', { deliver: 'false' }, 'INVALID_FIELD'],
  ...[0, 86_401, 1.5, '30'].map((timeoutSeconds) => ['agent', { timeoutSeconds }, 'INVALID_FIELD'] as const),
  ['agent', { thinking: 'hard' }, 'UNKNOWN_THINKING'],
  ['agent', { model: 'gpt-5' }, 'MODEL_NOT_ALLOWED'],
]

for (const [endpoint, field, code] of refused) {
  const [name] = Object.keys(field)
  test(`refuses ${JSON.stringify(field).slice(0, 60)} at /${endpoint} with ${code}`, async () => {
    const body = { [endpoint === 'wake' ? 'text' : 'message']: 'x', ...field }
    assert.deepEqual(await refusal(endpoint, body), { code, pointers: [`/${name}`] })
  })
}

test('a body that is no object is refused, and an unknown channel also where nothing is delivered', async () => {
  assert.deepEqual(await refusal('wake', []), { code: 'INVALID_BODY', pointers: [''] })
  assert.deepEqual(await refusal('agent', null), { code: 'INVALID_BODY', pointers: [''] })
  const { code } = await refusal('agent', { message: 'x', channel: 'fax', deliver: false })
  assert.equal(code, 'UNKNOWN_CHANNEL')
})

test('all invalid fields are reported together', async () => {
  const body = { message: '', deliver: 1, channel: 'fax', sessionKey: 'main' }
  assert.deepEqual(await refusal('agent', body), {
    code: 'BLANK_TEXT',
    pointers: ['/message', '/deliver', '/sessionKey', '/channel'],
  })
})

test('an unconfigured channel is accepted if nothing is delivered', async () => {
  assert.equal((await agent({ message: 'x', channel: 'telegram', deliver: false })).channel, 'telegram')
})

test('a channel may be called by its other names, and in capitals', async () => {
  const channelOf = async (channel: string) =>
    (await agent({ message: 'x', channel, deliver: false })).channel
  assert.deepEqual(await Promise.all(['Slack', ' slack ', 'TELEGRAM', 'Last'].map(channelOf)), [
    'slack',
    'slack',
    'telegram',
    'last',
  ])
  const several = await agent({ message: 'x', channel: 'Terminal' })
  assert.equal(several.channel, 'terminal')
  const names = new Set(['imessage', 'msteams', 'board'])
  const named = ['imsg', 'IMSG', 'teams', 'Teams', 'board', 'fax'].map((name) =>
    channelName(name, (known) => names.has(known)),
  )
  assert.deepEqual(named, ['imessage', 'imessage', 'msteams', 'msteams', 'board', 'fax'])
  assert.equal(
    channelName('teams', () => true),
    'teams',
    'a channel of that very name comes first',
  )
})

test('an unconfigured channel is accepted if the default runner delivers elsewhere', async () => {
  const asked = async (relays: readonly string[], channel: string) => {
    const offered = { ...catalog, relays }
    const snapshot = compileSnapshot(configurationOf([]), offered, countingRandomness())
    assert.ok(snapshot.ok)
    return snapshot.snapshot.resolve(requestOf({ message: 'x', channel }, { endpoint: 'agent' }))
  }
  assert.equal((actionOf(await asked(['echo'], 'telegram')) as AgentAction).channel, 'telegram')
  for (const [relays, channel] of [
    [['echo'], 'fax'],
    [['claude'], 'telegram'],
  ] as const) {
    assert.ok('code' in (await asked(relays, channel)), `${relays} ${channel}`)
  }
})

test('the refusal of an unconfigured channel lists the configured ones', async () => {
  const decision = await post('agent', { message: 'x', channel: 'telegram' })
  assert.match(JSON.stringify(decision), /configured: slack, terminal/)
})

test('with prefixes set, a given session key needs one, and the default key does not', async () => {
  const fixture: Fixture = { hooks: { allowedSessionKeyPrefixes: ['ci:', 'pr:'] } }
  assert.equal((await agent({ message: 'x', sessionKey: 'pr:1' }, fixture)).sessionKey, 'pr:1')
  assert.equal((await agent({ message: 'x' }, fixture)).sessionKey, 'hook:uuid-1')
  assert.equal(
    (await refusal('agent', { message: 'x', sessionKey: 'x:1' }, fixture)).code,
    'SESSION_KEY_NOT_ALLOWED',
  )
})

test('no refusal quotes the body', async () => {
  const secret = 'sekret'
  const fields = 'message name deliver channel model thinking timeoutSeconds wakeMode to sessionKey'
  for (const field of fields.split(' ')) {
    for (const value of [secret, { [secret]: secret }, [secret], 5]) {
      const decision = await post('agent', { message: 'x', [field]: value })
      if ('code' in decision) assert.doesNotMatch(JSON.stringify({ ...decision, cause: undefined }), /sekret/)
    }
  }
})

test('an admitted action and its list are frozen', async () => {
  const decision = await post('wake', { text: 'x' })
  assert.ok(decision.outcome === 'accepted')
  assert.ok(Object.isFrozen(decision.actions) && Object.isFrozen(decision.actions[0]))
})

test('an unexpected error is a failed decision with its cause, not a throw', async () => {
  const broken = new Error('no entropy')
  const snapshot = compileSnapshot(configurationOf([]), catalog, {
    mint: () => {
      throw broken
    },
    randomId: () => 'x',
  })
  assert.ok(snapshot.ok)
  const decision = await snapshot.snapshot.resolve(requestOf({ message: 'x' }, { endpoint: 'agent' }))
  assert.ok('code' in decision)
  assert.deepEqual([decision.outcome, decision.code, decision.cause], ['failed', 'ENGINE_FAILED', broken])
})

test('every refusal code has a sentence', async () => {
  for (const [code, sentence] of Object.entries(refusalCodes)) {
    assert.match(code, /^[A-Z][A-Z_]+$/)
    assert.match(sentence, /^[A-Z].*\.$/)
  }
})

async function warningsOf(endpoint: 'wake' | 'agent', body: unknown, fixture?: Fixture) {
  const decision = await post(endpoint, body, fixture)
  assert.ok(decision.outcome === 'accepted', JSON.stringify(decision))
  return decision.warnings?.map(({ pointer, message }) => `${pointer} ${message}`) ?? []
}

test('an unknown field is reported with the nearest known name', async () => {
  for (const [endpoint, field, message] of [
    ['agent', { sesionKey: 'x' }, '/sesionKey is not a field of /agent; did you mean `sessionKey`?'],
    ['agent', { session_key: 'x' }, '/session_key is not a field of /agent; did you mean `sessionKey`?'],
    ['agent', { colour: 1 }, '/colour is not a field of /agent'],
    ['agent', { prompt: 'x' }, '/prompt has no effect: the field is called `message` here'],
    ['wake', { message: 'x' }, '/message has no effect: the field is called `text` here'],
    ['wake', { mod: 'now' }, '/mod is not a field of /wake; did you mean `mode`?'],
    ['wake', { 'a/b~c': 1 }, '/a~1b~0c is not a field of /wake'],
  ] as const)
    assert.deepEqual(
      (
        await warningsOf(endpoint, { text: 'x', ...(endpoint === 'agent' && { message: 'x' }), ...field })
      ).filter((one) => !one.startsWith('/text')),
      [message],
    )
})

test('blank fields count as absent, and known fields are not reported', async () => {
  assert.deepEqual(
    await warningsOf('agent', { message: 'x', foo: null, agentId: ' ', idempotencyKey: 'k', mode: 'now' }),
    [],
  )
  assert.deepEqual(
    await warningsOf('wake', { text: 'x', wakeMode: 'now', sessionKey: 'main', idempotencyKey: 'k' }),
    [],
  )
})

for (const [field, message] of [
  [{ agentId: 'hooks' }, /^\/agentId has no effect: there is one agent here, `main`/],
  [{ accountId: 'work' }, /^\/accountId has no effect: a channel has one account here$/],
  [{ waitForCompletion: true }, /^\/waitForCompletion has no effect: with the header `Prefer: wait=60`/],
  [{ waitForResult: true }, /^\/waitForResult has no effect: with the header `Prefer: wait=60`/],
  [{ sessionMode: 'persistent' }, /^\/sessionMode has no effect: without `sessionKey` each request/],
  [
    { sessionMode: 'isolated', sessionKey: 'hook:a' },
    /^\/sessionMode has no effect: requests of one `sessionKey`/,
  ],
  [{ allowUnsafeExternalContent: true }, /always has the boundary around it$/],
] as const) {
  test(`OpenClaw's ${Object.keys(field)[0]} of ${JSON.stringify(field)} is reported to the sender`, async () => {
    const [first, ...rest] = await warningsOf('agent', { message: 'x', ...field })
    assert.match(first ?? '', message)
    assert.deepEqual(rest, [])
  })
}

test("OpenClaw's fields that ask for the default behaviour are not reported", async () => {
  for (const field of [
    { agentId: 'main' },
    { agentId: ' Main ' },
    { sessionMode: 'isolated' },
    { sessionMode: 'persistent', sessionKey: 'hook:a' },
    { waitForCompletion: false },
    { allowUnsafeExternalContent: false },
  ])
    assert.deepEqual(await warningsOf('agent', { message: 'x', ...field }), [], JSON.stringify(field))
  const kept = { hooks: { defaultSessionKey: 'hook:all' } }
  assert.deepEqual(await warningsOf('agent', { message: 'x', sessionMode: 'persistent' }, kept), [])
  assert.equal((await warningsOf('agent', { message: 'x', sessionMode: 'isolated' }, kept)).length, 1)
})

test('invented names in a warning are shortened, printable and five at most', async () => {
  const names = ['\u202egnp', '\ud800', `x${'y'.repeat(5000)}`, '__proto__', 'a\nb', 'sixth', 'seventh']
  const body = JSON.parse(`{"text":"x",${names.map((name) => `${JSON.stringify(name)}:1`).join()}}`)
  const message = await warningsOf('wake', body)
  assert.deepEqual(
    message.map((one) => one.split(' ')[0]),
    ['/\\u{202e}gnp', '/\ufffd', `/x${'y'.repeat(59)}…`, '/__proto__', '/a\\u{a}b'],
  )
  for (const one of message) assert.ok(one.length < 200 && one.isWellFormed(), one)
})

test('a refusal also reports misspelt fields', async () => {
  const decision = await post('agent', { mesage: 'x' })
  assert.ok('code' in decision)
  assert.deepEqual(
    [decision.code, decision.details],
    [
      'BLANK_TEXT',
      [
        { pointer: '/message', message: 'is required' },
        { pointer: '/mesage', message: 'is not a field of /agent; did you mean `message`?' },
      ],
    ],
  )
})

test('defaultSessionKey is the session of runs whose request gives none', async () => {
  const fixture = { hooks: { defaultSessionKey: 'hook:all' } }
  const { sessionKey, sessionKeyGiven } = await agent({ message: 'x' }, fixture)
  assert.deepEqual([sessionKey, sessionKeyGiven], ['hook:all', true])
  assert.equal((await agent({ message: 'x', sessionKey: 'hook:own' }, fixture)).sessionKey, 'hook:own')
})

test('a request may be forbidden to choose its session, while a mapping still may', async () => {
  const fixture = { hooks: { allowRequestSessionKey: false } }
  assert.deepEqual(await refusal('agent', { message: 'x', sessionKey: 'hook:a' }, fixture), {
    code: 'SESSION_KEY_NOT_ALLOWED',
    pointers: ['/sessionKey'],
  })
  assert.equal((await agent({ message: 'x' }, fixture)).sessionKey, 'hook:uuid-1')
  const mapped = snapshotOf([{ message: 'x', sessionKey: 'hook:{{id}}' }], fixture)
  assert.equal((actionOf(await mapped.resolve(requestOf({ id: 7 }))) as AgentAction).sessionKey, 'hook:7')
})

test('a request may name an allowed agent, and no other', async () => {
  const of = (...allowedAgentIds: string[]) => ({ hooks: { allowedAgentIds } })
  for (const [fixture, agentId] of [
    [of('*'), 'any'],
    [of('hooks', 'main'), 'Hooks '],
    [{}, 'any'],
  ] as const)
    assert.equal((await agent({ message: 'x', agentId }, fixture)).message, 'x')
  for (const endpoint of ['agent', 'wake'] as const) {
    const body = { message: 'x', text: 'x', agentId: 'other' }
    for (const fixture of [of('main'), of()])
      assert.deepEqual(await refusal(endpoint, body, fixture), {
        code: 'INVALID_FIELD',
        pointers: ['/agentId'],
      })
  }
  assert.equal(
    (await agent({ message: 'x' }, of('reader'))).message,
    'x',
    'one that names none is not kept away',
  )
})
