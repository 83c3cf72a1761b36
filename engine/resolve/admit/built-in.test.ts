import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCompiler } from '../../compile/compile-snapshot.ts'
import { testDecisions } from '../../compile/decision-fixture.ts'
import { catalog, configurationOf, requestOf, snapshotOf } from '../../compile/fixture.ts'
import { channelName } from '../../config/values/channel-name.ts'
import { refusalCodes } from '../model/refusal.ts'

const long = 'k'.repeat(1025)

testDecisions(String.raw`
# a wake has the mode now by default, its text without blanks around it, and a fence in its prompt @ { request: { endpoint: wake } }
{ text: "  The build is red.\n" } ⇒ { kind: wake, text: The build is red., mode: now, trusted: false, prompt: "/^<outside-data id=\"id1\">\nA text sent to \\/wake, from outside\\..*\n\nThe build is red\\.\n<\\/outside-data id=\"id1\">$/" }
{ text: x, mode: next-heartbeat } ⇒ { mode: next-heartbeat }

# mode and wakeMode may stand for each other, and the action’s own name takes precedence @ { request: { endpoint: agent } }
{ text: x, wakeMode: next-heartbeat } @ { endpoint: wake } ⇒ { mode: next-heartbeat }
{ message: x, mode: next-heartbeat } ⇒ { wakeMode: next-heartbeat }
{ message: x, mode: next-heartbeat, wakeMode: now } ⇒ { wakeMode: now }

# an agent message alone gets every default @ { request: { endpoint: agent } }
{ message: "\n Say hi. " } ⇒ { kind: agent, message: Say hi., prompt: "/A message sent to \\/agent, from outside/", trusted: false, mapping: null, name: null, sessionKey: hook:uuid-1, sessionKeyGiven: false, wakeMode: now, deliver: true, channel: last, to: null, runner: echo, model: null, thinking: null, timeoutSeconds: 600 }

# every given field is kept, null counts as absent and unknown fields are ignored @ { request: { endpoint: agent } }
{ message: x, name: CI, sessionKey: " ci:7 ", wakeMode: next-heartbeat, deliver: false, channel: slack, to: C1, model: openai/gpt-5, thinking: high, timeoutSeconds: 30 } ⇒ { name: CI, sessionKey: "ci:7", sessionKeyGiven: true, wakeMode: next-heartbeat, deliver: false, channel: slack, to: C1, model: openai/gpt-5, thinking: high, timeoutSeconds: 30 }
{ message: x, name: null, deliver: null, timeoutSeconds: null, colour: red } ⇒ { name: null, deliver: true, timeoutSeconds: 600 }

# defaults come from the settings, and an alias becomes its model @ { request: { endpoint: agent }, defaults: { runner: claude, model: fast, models: { allowed: [openai/gpt-5], aliases: { fast: openai/gpt-5 } }, thinking: low, timeoutSeconds: 5 } }
{ message: x } ⇒ { runner: claude, model: openai/gpt-5, thinking: low, timeoutSeconds: 5 }

# an invalid field is refused at its place @ { request: { endpoint: agent } }
{} @ { endpoint: wake } ¦ { text: " \n" } @ { endpoint: wake } ⇒ BLANK_TEXT /text
{ text: 5 } @ { endpoint: wake } ⇒ INVALID_FIELD /text
{ text: x, mode: later } @ { endpoint: wake } ⇒ INVALID_FIELD /mode
{ text: x, wakeMode: true } @ { endpoint: wake } ⇒ INVALID_FIELD /wakeMode
[] @ { endpoint: wake } ¦ null ⇒ INVALID_BODY ""
{} ¦ { message: null } ⇒ BLANK_TEXT /message
{ message: x, name: "" } ¦ { message: x, name: {} } ⇒ INVALID_FIELD /name
{ message: x, channel: "" } ⇒ INVALID_FIELD /channel
{ message: x, channel: fax } ¦ { message: x, channel: fax, deliver: false } ⇒ UNKNOWN_CHANNEL /channel
{ message: x, channel: telegram } ⇒ { code: CHANNEL_NOT_CONFIGURED /channel, says: "/configured: slack, terminal/" }
{ message: x, sessionKey: ${long} } ¦ {"message":"x","sessionKey":"a\ud800"} ¦ { message: x, sessionKey: " " } ⇒ INVALID_FIELD /sessionKey
{ message: x, sessionKey: " Main " } ⇒ RESERVED_SESSION_KEY /sessionKey
{ message: x, deliver: "false" } ⇒ INVALID_FIELD /deliver
{ message: x, timeoutSeconds: 0 } ¦ { message: x, timeoutSeconds: 86401 } ¦ { message: x, timeoutSeconds: 1.5 } ¦ { message: x, timeoutSeconds: "30" } ⇒ INVALID_FIELD /timeoutSeconds
{ message: x, thinking: hard } ⇒ UNKNOWN_THINKING /thinking
{ message: x, model: gpt-5 } ⇒ MODEL_NOT_ALLOWED /model
{ message: "", deliver: 1, channel: fax, sessionKey: main } ⇒ BLANK_TEXT /message /deliver /sessionKey /channel
{ mesage: x } ⇒ { code: BLANK_TEXT /message /mesage, says: '/message is required/' }

# an unconfigured channel is accepted if nothing is delivered, and a channel may be called by its other names @ { request: { endpoint: agent } }
{ message: x, channel: telegram, deliver: false } ¦ { message: x, channel: TELEGRAM, deliver: false } ⇒ { channel: telegram }
{ message: x, channel: Slack } ¦ { message: x, channel: " slack " } ⇒ { channel: slack }
{ message: x, channel: Last } ⇒ { channel: last }

# with prefixes set, a given session key needs one, and the default key does not @ { request: { endpoint: agent }, hooks: { allowedSessionKeyPrefixes: ["ci:", "pr:"] } }
{ message: x, sessionKey: "pr:1" } ⇒ { sessionKey: "pr:1" }
{ message: x } ⇒ { sessionKey: hook:uuid-1 }
{ message: x, sessionKey: "x:1" } ⇒ SESSION_KEY_NOT_ALLOWED /sessionKey

# defaultSessionKey is the session of runs whose request gives none @ { request: { endpoint: agent }, hooks: { defaultSessionKey: "hook:all" } }
{ message: x } ⇒ { sessionKey: "hook:all", sessionKeyGiven: true }
{ message: x, sessionKey: "hook:own" } ⇒ { sessionKey: "hook:own" }
{ message: x, sessionMode: persistent } ⇒ { warns: [] }
{ message: x, sessionMode: isolated } ⇒ { warns: [/sessionMode/] }

# a request may be forbidden to choose its session, while a mapping still may @ { request: { endpoint: agent }, hooks: { allowRequestSessionKey: false } }
{ message: x, sessionKey: "hook:a" } ⇒ SESSION_KEY_NOT_ALLOWED /sessionKey
{ message: x } ⇒ { sessionKey: hook:uuid-1 }
{ message: x, sessionKey: "hook:{{id}}" } ⇒ { id: 7 } @ { endpoint: test } ⇒ { sessionKey: "hook:7" }

# an unknown field is reported with the nearest known name, and a blank or known one is not @ { request: { endpoint: agent } }
{ message: x, sesionKey: x } ⇒ { warns: ['/^.sesionKey is not a field of .agent; did you mean .sessionKey.\?$/'] }
{ message: x, session_key: x } ⇒ { warns: ['/^.session_key is not a field of .agent; did you mean .sessionKey.\?$/'] }
{ message: x, colour: 1 } ⇒ { warns: [/colour is not a field of /agent] }
{ message: x, prompt: x } ⇒ { warns: ['/^.prompt has no effect: the field is called .message. here$/'] }
{ text: x, message: x } @ { endpoint: wake } ⇒ { warns: ['/^.message has no effect: the field is called .text. here$/'] }
{ text: x, mod: now } @ { endpoint: wake } ⇒ { warns: ['/^.mod is not a field of .wake; did you mean .mode.\?$/'] }
{ text: x, "a/b~c": 1 } @ { endpoint: wake } ⇒ { warns: [/a~1b~0c is not a field of /wake] }
{ message: x, foo: null, agentId: " ", idempotencyKey: k, mode: now } ¦ { text: x, wakeMode: now, sessionKey: main, idempotencyKey: k } @ { endpoint: wake } ⇒ { warns: [] }
{"text":"x","\u202egnp":1,"\ud800":1,"x${'y'.repeat(5000)}":1,"__proto__":1,"a\nb":1,"sixth":1,"seventh":1} @ { endpoint: wake } ⇒ { warns: ['/^\/\\u\{202e\}gnp is/', "/^\\/\ufffd is/", '/^\/xy{59}… .{0,120}$/', /^\/__proto__ is/, '/^\/a\\u\{a\}b is/'] }

# OpenClaw's fields are reported to the sender, except where they ask for the default behaviour @ { request: { endpoint: agent } }
{ message: x, agentId: hooks } ⇒ { warns: ["/^\\/agentId has no effect: there is one agent here, .main./"] }
{ message: x, accountId: work } ⇒ { warns: ["/accountId has no effect: a channel has one account here"] }
{ message: x, waitForCompletion: true } ⇒ { warns: ["/^\\/waitForCompletion has no effect: with the header .Prefer: wait=60./"] }
{ message: x, waitForResult: true } ⇒ { warns: ["/^\\/waitForResult has no effect: with the header .Prefer: wait=60./"] }
{ message: x, sessionMode: persistent } ⇒ { warns: ["/^\\/sessionMode has no effect: without .sessionKey. each request/"] }
{ message: x, sessionMode: isolated, sessionKey: "hook:a" } ⇒ { warns: ["/^\\/sessionMode has no effect: requests of one .sessionKey./"] }
{ message: x, allowUnsafeExternalContent: true } ⇒ { warns: [/always has the boundary around it$/] }
{ message: x, agentId: " Main ", sessionMode: isolated, waitForCompletion: false, allowUnsafeExternalContent: false } ¦ { message: x, agentId: main, sessionMode: persistent, sessionKey: "hook:a" } ⇒ { warns: [] }

# a request may name any agent by default @ { request: { endpoint: agent } }
{ message: x, agentId: any } ⇒ { message: x }

# a request may name any agent where all are allowed @ { request: { endpoint: agent }, hooks: { allowedAgentIds: ["*"] } }
{ message: x, agentId: any } ⇒ { message: x }

# a request may name an allowed agent, and no other @ { request: { endpoint: agent }, hooks: { allowedAgentIds: [hooks, main] } }
{ message: x, agentId: "Hooks " } ¦ { message: x } ⇒ { message: x }
{ message: x, agentId: other } ¦ { text: x, agentId: other } @ { endpoint: wake } ⇒ INVALID_FIELD /agentId

# where no agent is allowed, none may be named @ { request: { endpoint: agent }, hooks: { allowedAgentIds: [] } }
{ message: x, agentId: other } ⇒ INVALID_FIELD /agentId
`)

test('a channel of the very name that is given comes before one of which it is another name', () => {
  const names = new Set(['imessage', 'msteams', 'board'])
  const named = (name: string) => channelName(name, (one) => names.has(one))
  const found = ['imsg', 'IMSG', 'teams', 'board', 'fax'].map(named).join()
  assert.equal(found, 'imessage,imessage,msteams,board,fax')
  names.add('teams')
  assert.equal(named('teams'), 'teams')
})

test('an unconfigured channel is accepted if the default runner delivers elsewhere', async () => {
  for (const [relays, channel, isAccepted] of [
    [['echo'], 'telegram', true],
    [['echo'], 'fax', false],
    [['claude'], 'telegram', false],
  ] as const) {
    const randomness = { mint: () => 'a', randomId: () => 'b' }
    const compiled = await createCompiler({ randomness }).compile(configurationOf([]), { ...catalog, relays })
    assert.ok(compiled.ok)
    const request = requestOf({ message: 'x', channel }, { endpoint: 'agent' })
    assert.equal((await compiled.snapshot.resolve(request)).outcome === 'accepted', isAccepted, channel)
  }
})

test('no refusal quotes the body', async () => {
  const fields = 'message name deliver channel model thinking timeoutSeconds wakeMode to sessionKey'
  for (const field of fields.split(' '))
    for (const value of ['sekret', { sekret: 'sekret' }, ['sekret'], 5]) {
      const request = requestOf({ message: 'x', [field]: value }, { endpoint: 'agent' })
      const decision = await (await snapshotOf([])).resolve(request)
      if ('code' in decision) assert.doesNotMatch(JSON.stringify({ ...decision, cause: undefined }), /sekret/)
    }
})

test('an unexpected error is a failed decision with its cause, not a throw', async () => {
  const broken = new Error('no entropy')
  const mint = () => {
    throw broken
  }
  const compiled = await createCompiler({ randomness: { mint, randomId: () => 'x' } }).compile(
    configurationOf([]),
    catalog,
  )
  assert.ok(compiled.ok)
  const decision = await compiled.snapshot.resolve(requestOf({ message: 'x' }, { endpoint: 'agent' }))
  assert.ok('code' in decision)
  assert.deepEqual([decision.outcome, decision.code, decision.cause], ['failed', 'ENGINE_FAILED', broken])
})

test('every refusal code has a sentence', () => {
  for (const [code, sentence] of Object.entries(refusalCodes))
    assert.match(`${code} ${sentence}`, /^[A-Z_]+ [A-Z].*\.$/)
})
