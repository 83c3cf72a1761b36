/** Tests that a diagnostic names the line that is wrong and does not show the secrets in it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigurationError } from '../../runtime/reload/start.ts'
import { install, rehearsalPlugin, until } from '../installation.ts'

/** Each secret is in one kind of place, so that its name says where it leaked. */
const secrets = {
  hookToken: 'canary-hook-token-3f9a1c',
  gatewayToken: 'canary-gateway-token-77b0e2',
  boardKey: 'canary-board-key-c81d55',
  runnerKey: 'canary-runner-key-0a4be9',
  unusedVariable: 'canary-unused-variable-e1',
  wrongToken: 'canary-wrong-token-99d1f0',
  query: 'canary-query-41fe08',
}

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
`

/** Returns the names of the secrets that a text shows, in any encoding. */
function found(text: string): string[] {
  return Object.entries(secrets)
    .filter(([, value]) => [value, btoa(value).slice(0, -3)].some((form) => text.includes(form)))
    .map(([name]) => name)
}

const replaced = (from: string | RegExp, to: string) => configuration.replace(from, to)

const endpoint = (policy: string) => replaced('hooks: { ', `hooks: { endpoints: { github: ${policy} }, `)
const verify = (keys: string) => endpoint(`{ verify: { ${keys} } }`)

const { wrongToken: wrong, runnerKey, query } = secrets
const hook = '"${HOOK_TOKEN}"'
const long = 'a-secret-that-is-long-enough'

/** Mistakes in lines that hold secrets. */
const mistakes: Record<string, string> = {
  'a key beside a token': replaced('hooks: { ', `hooks: { token2: ${query}, `),
  'a misspelt token': replaced('auth: { token:', `auth: { tokne: ${wrong}, token:`),
  'a token that is a list of maps': replaced(hook, `[{ value: ${wrong} }]`),
  'a token that a header cannot carry': replaced(hook, `"${wrong}é"`),
  'equal tokens': replaced(hook, '"${GATEWAY_TOKEN}"'),
  'equal literal tokens': replaced(hook, wrong).replace('"${GATEWAY_TOKEN}"', wrong),
  'broken YAML in the line of a token': replaced(`token: ${hook}`, `token: "${wrong}`),
  'a variable where a number belongs': replaced('port: 0', 'port: "${BOARD_KEY}"'),
  'a variable where a name belongs': replaced('channel: board', 'channel: "${BOARD_KEY}"'),
  'a variable as a level': replaced('level: trace', 'level: "${BOARD_KEY}"'),
  'a secret of a plugin with the wrong type': replaced(`apiKey: ${runnerKey}`, `apiKey: [${runnerKey}]`),
  'a misspelt secret of a plugin': replaced(`apiKey: ${runnerKey}`, `apiKye: ${runnerKey}`),
  'an unset variable with a fallback beside it': replaced(hook, `"\${NOT_SET}\${HOOK_TOKEN:-${wrong}}"`),
  'a secret in place of the map that verifies': endpoint(`{ verify: ${wrong} }`),
  'secrets in place of the map that verifies': endpoint(`{ verify: [${wrong}] }`),
  'a secret in place of a policy': endpoint(wrong),
  'a secret in place of the map of a sender of its own': verify(`provider: hmac, hmac: ${wrong}`),
  'a misspelt secret of a provider': verify(`provider: github, secrt: ${wrong}`),
  'a secret that is a map': verify(`provider: github, secret: { value: ${wrong} }`),
  'a secret of a provider that nobody knows': verify(`provider: gihtub, secret: ${wrong}`),
  'a secret that is no base64': verify(`provider: standard-webhooks, secret: "whsec_${wrong}?"`),
  'a secret that is no hexadecimal': verify(
    `provider: hmac, secret: ${wrong}, hmac: { header: x-a, key: hex }`,
  ),
  'a secret where a public key belongs': verify(`provider: discord, publicKey: ${wrong}`),
  'a list where a token belongs': verify(`provider: meta, secret: ${long}, verifyToken: [${wrong}]`),
  'a wrong address': verify(`provider: twilio, secret: ${long}, publicUrl: "ftp://me:${wrong}@x"`),
  'a token of an endpoint that is a list of maps': endpoint(`{ token: [{ value: ${wrong} }] }`),
  "an endpoint's token that opens the admin surface": endpoint('{ token: "${GATEWAY_TOKEN}" }'),
  'a store of another kind with a password': replaced(
    'port: 0',
    `port: 0, store: "mysql://me:${wrong}@db/x"`,
  ),
}

test('no diagnostic shows a secret, however the line that holds it is mistyped', async (t) => {
  const good = { 'reveille.yaml': configuration, '.env': environment, 'mappings/all.yaml': mappings }
  const installed = await install(t, good, { watch: true })
  for (const [mistake, content] of Object.entries(mistakes)) {
    const before = installed.lines('diagnostic').length
    await installed.write('reveille.yaml', content)
    await until(() => installed.lines('diagnostic').length > before || undefined, `diagnostics of ${mistake}`)

    const error = await install(t, { ...good, 'reveille.yaml': content }).catch((error) => error)
    assert.ok(error instanceof ConfigurationError, mistake)
    const { message, diagnostics, stack, cause } = error
    const everything = [message, JSON.stringify(diagnostics), stack, String(cause)].join('\n')
    assert.deepEqual(found(everything), [], `${mistake}: ${everything}`)
  }
  assert.equal(installed.gateway.current().generation, 1)
  assert.deepEqual(found(installed.log()), [], installed.log())
})

test('no diagnostic shows the content of .env, not even of its broken lines', async (t) => {
  const broken = `${environment}BROKEN ${secrets.wrongToken}\n"${secrets.query}\n`
  const { log, line } = await install(t, { 'reveille.yaml': configuration, '.env': broken }, { watch: true })
  await line('content-unchanged')
  assert.deepEqual(found(log()), [], log())
})
