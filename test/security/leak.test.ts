/** No secret and no raw body comes out where it does not belong: logs, errors, the admin surface, diagnostics. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ConfigurationError } from '../../runtime/gateway.ts'
import { createPrettyStream } from '../../runtime/observe/pretty.ts'
import type { Page } from '../../runtime/store/port.ts'
import { type Answer, type Installation, install, rehearsalPlugin, until } from '../installation.ts'

/** Each stands in one kind of place, so that a find says where it came from. */
const secrets = {
  hookToken: 'canary-hook-token-3f9a1c',
  gatewayToken: 'canary-gateway-token-77b0e2',
  boardKey: 'canary-board-key-c81d55',
  runnerKey: 'canary-runner-key-0a4be9',
  unusedVariable: 'canary-unused-variable-e1',
  wrongToken: 'canary-wrong-token-99d1f0',
  header: 'canary-header-6b2c7d',
  query: 'canary-query-41fe08',
}
const body = 'canary-body-d3a5f7'

const configuration = `gateway: { port: 0, auth: { token: "\${GATEWAY_TOKEN}" }, log: { level: trace, format: json } }
hooks: { enabled: true, token: "\${HOOK_TOKEN}", maxBodyBytes: 4096 }
history: { bodies: all }
plugins: ["${rehearsalPlugin}"]
channels: { board: { folder: "{folder}", apiKey: "\${BOARD_KEY}" } }
agents:
  route: { channel: board, to: team }
  runners: { blabbing: { kind: blabbing, folder: "{folder}", apiKey: ${secrets.runnerKey} } }
`
const environment = `HOOK_TOKEN=${secrets.hookToken}
GATEWAY_TOKEN=${secrets.gatewayToken}
BOARD_KEY=${secrets.boardKey}
UNUSED=${secrets.unusedVariable}
`
const mappings = `mappings:
  - { id: plain, match: { path: plain }, message: "Read {{text}}", wakeMode: now }
  - { id: wake, match: { path: wake-up }, action: wake, text: "{{text}}", mode: now }
  - { id: blabbing, match: { path: blabbing }, message: "Read {{text}}", runner: blabbing, wakeMode: now }
  - { id: nobody, match: { path: nobody }, message: "Read {{text}}", to: nobody, wakeMode: now }
  - { id: failing, match: { path: failing }, message: "{% $number(text) %}", wakeMode: now }
  - { id: condition, match: { path: condition, when: "$number(text) > 1" }, message: "x", wakeMode: now }
  - { id: typed, match: { path: typed }, message: "x", timeoutSeconds: "{{text}}", wakeMode: now }
  - { id: modelled, match: { path: modelled }, message: "x", allowPayloadRouting: true, model: "{{text}}" }
  - { id: channelled, match: { path: channelled }, message: "x", allowPayloadRouting: true, channel: "{{text}}" }
`

/** Every way in which a stranger, or a friend, can send it. */
async function sendAll({ post }: Installation): Promise<Answer[]> {
  const right = {
    authorization: `Bearer ${secrets.hookToken}`,
    'x-custom': secrets.header,
    cookie: secrets.header,
  }
  const text = JSON.stringify({ text: body, message: body })
  const answers: Answer[] = []
  const send = async (path: string, payload: string, headers: Record<string, string> = right) =>
    void answers.push(await post(path, payload, headers))

  for (const endpoint of ['wake', 'agent', 'plain', 'wake-up', 'blabbing', 'nobody']) {
    await send(`/hooks/${endpoint}?note=${secrets.query}`, text)
  }
  for (const endpoint of ['failing', 'condition', 'typed', 'modelled', 'channelled', 'unknown']) {
    await send(`/hooks/${endpoint}?note=${secrets.query}`, text)
  }
  const malformed = [
    `{"text": "${body}"`,
    `"${body}"`,
    `["${body}"]`,
    `${body}`,
    `{"${body}": ${'['.repeat(1100)}`,
    `{"text": "${body}", "pad": "${'x'.repeat(5000)}"}`,
    `{"message": {"a": "${body}"}, "text": ["${body}"]}`,
    `{"message": "x", "channel": "${body}"}`,
    `{"message": "x", "model": "${body}"}`,
    `{"message": "x", "thinking": "${body}"}`,
    `{"message": "x", "timeoutSeconds": "${body}"}`,
    `{"text": "x", "mode": "${body}"}`,
    `{"message": "x", "wakeMode": "${body}", "deliver": "${body}"}`,
  ]
  for (const payload of malformed)
    for (const to of ['wake', 'agent', 'plain']) await send(`/hooks/${to}`, payload)
  await send('/hooks/plain', `text=${body}`, {
    ...right,
    'content-type': 'application/x-www-form-urlencoded',
  })
  await send('/hooks/plain', text, { ...right, 'content-encoding': 'gzip' })
  await send('/hooks/plain', gzipSync(text).toString('latin1'), { ...right, 'content-encoding': 'gzip' })
  await send('/hooks/plain', text, { ...right, 'content-encoding': body })
  await send(`/hooks/plain?token=${secrets.hookToken}&note=${secrets.query}`, text, { authorization: '' })
  const wrong: Record<string, string>[] = [
    { authorization: `Bearer ${secrets.wrongToken}` },
    { authorization: `Basic ${secrets.wrongToken}` },
    { authorization: '', 'x-gateway-token': secrets.wrongToken },
    { authorization: '', 'x-openclaw-token': secrets.wrongToken },
  ]
  for (const headers of wrong) await send('/hooks/plain', text, { ...right, ...headers })
  await send(`/hooks/plain?token=${secrets.wrongToken}&note=${secrets.query}`, text, { authorization: '' })
  return answers
}

/** Everything that the admin surface has to say, by address. */
async function readAll({ ask }: Installation): Promise<Map<string, string>> {
  const headers = { authorization: `Bearer ${secrets.gatewayToken}` }
  const answers = new Map<string, string>()
  const read = async (path: string) => {
    const { text, body } = await ask(path, { headers })
    answers.set(path, text)
    return body
  }
  for (const list of ['requests', 'runs', 'events', 'deliveries']) {
    const { items } = (await read(`/api/${list}?limit=500`)) as unknown as Page<{
      id: string
      sessionKey?: string
    }>
    for (const { id, sessionKey } of items) {
      await read(`/api/${list}/${id}`)
      if (sessionKey) await read(`/api/sessions/${encodeURIComponent(sessionKey)}`)
    }
  }
  await read('/api/route')
  await read(`/api/runs?limit=${secrets.query}`)
  await read(`/api/runs?cursor=${secrets.query}`)
  await read(`/api/runs/${secrets.query}`)
  return answers
}

/** The names of the secrets that a text shows, in any of the forms that an encoding gives them. */
function found(text: string, canaries: Readonly<Record<string, string>> = secrets): string[] {
  return Object.entries(canaries)
    .filter(([, value]) => [value, btoa(value).slice(0, -3)].some((form) => text.includes(form)))
    .map(([name]) => name)
}

async function isQuiet({ ask }: Installation): Promise<true | undefined> {
  const headers = { authorization: `Bearer ${secrets.gatewayToken}` }
  const open = ['runs?state=queued', 'runs?state=running', 'events?state=pending', 'deliveries?state=pending']
  const pages = await Promise.all(open.map((path) => ask(`/api/${path}`, { headers })))
  return pages.every(({ body }) => (body['items'] as unknown[]).length === 0) || undefined
}

test('neither logs, nor errors, nor the admin surface show a secret, or a body where it does not belong', async (t) => {
  const installed = await install(t, {
    'reveille.yaml': configuration,
    '.env': environment,
    'mappings/all.yaml': mappings,
  })
  const answers = await sendAll(installed)
  await until(() => isQuiet(installed), 'every run, event and delivery to end')
  const surface = await readAll(installed)
  await installed.gateway.close()
  const log = installed.log()

  const statuses = new Set(answers.map(({ status }) => status))
  for (const status of [200, 202, 400, 401, 404, 413, 415]) assert.ok(statuses.has(status), `a ${status}`)
  for (const event of [
    'blabbed',
    'run-failed',
    'delivery-parked',
    'query-token-used',
    'heartbeat-succeeded',
  ]) {
    assert.ok(log.includes(`"event":"${event}"`), event)
  }

  const all = { ...secrets, body }
  for (const line of log.split('\n')) assert.deepEqual(found(line, all), [], line)
  let pretty = ''
  const stream = createPrettyStream({ write: (text: string) => (pretty += text) }, { colour: false })
  for (const line of log.split('\n').slice(0, -1)) stream.write(line)
  assert.deepEqual(found(pretty, all), [])

  for (const { status, text, headers } of answers) {
    assert.deepEqual(found(text + JSON.stringify(headers), all), [], `${status} ${text}`)
  }
  for (const [path, text] of surface) {
    assert.deepEqual(found(text), [], `${path}: ${text}`)
    if (path.startsWith('/api/requests')) assert.ok(!text.includes(body), `${path}: ${text}`)
  }
  const shown = [...surface].filter(([, text]) => text.includes(body))
  assert.ok(
    shown.some(([path]) => path.startsWith('/api/runs/')),
    'the canary did arrive',
  )
})

const replaced = (from: string | RegExp, to: string) => configuration.replace(from, to)

/** What an operator gets wrong in the very lines that hold secrets. */
const mistakes: Record<string, string> = {
  'a key beside a token': replaced('hooks: { ', `hooks: { token2: ${secrets.query}, `),
  'a misspelt token': replaced('auth: { token:', `auth: { tokne: ${secrets.wrongToken}, token:`),
  'a token that is a list of maps': replaced('"${HOOK_TOKEN}"', `[{ value: ${secrets.wrongToken} }]`),
  'a token that a header cannot carry': replaced('"${HOOK_TOKEN}"', `"${secrets.wrongToken}é"`),
  'equal tokens': replaced('"${HOOK_TOKEN}"', '"${GATEWAY_TOKEN}"'),
  'equal literal tokens': replaced('"${HOOK_TOKEN}"', secrets.wrongToken).replace(
    '"${GATEWAY_TOKEN}"',
    secrets.wrongToken,
  ),
  'broken YAML in the line of a token': replaced('token: "${HOOK_TOKEN}"', `token: "${secrets.wrongToken}`),
  'a variable where a number belongs': replaced('port: 0', 'port: "${BOARD_KEY}"'),
  'a variable where a name belongs': replaced('channel: board', 'channel: "${BOARD_KEY}"'),
  'a variable as a level': replaced('level: trace', 'level: "${BOARD_KEY}"'),
  'a secret of a plugin with the wrong type': replaced(
    `apiKey: ${secrets.runnerKey}`,
    `apiKey: [${secrets.runnerKey}]`,
  ),
  'a misspelt secret of a plugin': replaced(`apiKey: ${secrets.runnerKey}`, `apiKye: ${secrets.runnerKey}`),
  'an unset variable with a fallback beside it': replaced(
    '"${HOOK_TOKEN}"',
    `"\${NOT_SET}\${HOOK_TOKEN:-${secrets.wrongToken}}"`,
  ),
  'a store with a password': replaced(
    'port: 0',
    `port: 0, store: "postgres://me:${secrets.wrongToken}@db/x"`,
  ),
}

test('no diagnostic shows a secret, however an operator mistakes the line that holds it', async (t) => {
  const good = { 'reveille.yaml': configuration, '.env': environment, 'mappings/all.yaml': mappings }
  const installed = await install(t, good, { watch: true })
  for (const [mistake, content] of Object.entries(mistakes)) {
    const before = installed.lines('diagnostic').length
    await installed.write('reveille.yaml', content)
    await until(() => installed.lines('diagnostic').length > before || undefined, `diagnostics of ${mistake}`)

    const error = await install(t, { ...good, 'reveille.yaml': content }).catch((error) => error)
    assert.ok(error instanceof ConfigurationError, mistake)
    const told = [error.message, JSON.stringify(error.diagnostics), error.stack, String(error.cause)].join(
      '\n',
    )
    assert.deepEqual(found(told), [], `${mistake}: ${told}`)
  }
  assert.equal(installed.gateway.current().generation, 1)
  assert.deepEqual(found(installed.log()), [], installed.log())
})

test('what stands in .env stays there, broken lines included', async (t) => {
  const broken = `${environment}BROKEN ${secrets.wrongToken}\n"${secrets.query}\n`
  const { log, line } = await install(t, { 'reveille.yaml': configuration, '.env': broken }, { watch: true })
  await line('content-unchanged')
  assert.deepEqual(found(log()), [], log())
})
