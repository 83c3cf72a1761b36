import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

async function load(context: TestContext, files: Readonly<Record<string, string>>, env = {}) {
  const folder = await createSampleFolder(context, files)
  return loadConfiguration({ file: folder.at('reveille.yaml'), env })
}

async function settingsOf(context: TestContext, files: Readonly<Record<string, string>>, env = {}) {
  const loaded = await load(context, files, env)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return loaded.configuration.settings
}

test('the process environment takes precedence over .env, and both over the default', async (context) => {
  const files = {
    'reveille.yaml': 'agents: { defaults: { systemPrompt: "${A:-x} ${B:-x} ${C:-x} ${D:-x}" } }\n',
    '.env': 'A=file\nB="from file"\nD=\n',
  }
  const { agents } = await settingsOf(context, files, { A: 'process' })
  assert.equal(agents.defaults.systemPrompt, 'process from file x x')
})

test('numbers and booleans may come from references', async (context) => {
  const text = 'gateway: { port: "${PORT}" }\nhooks: { allowQueryToken: "${QUERY}", token: "${NUMBER}" }\n'
  const settings = await settingsOf(
    context,
    { 'reveille.yaml': text },
    { PORT: '0', QUERY: 'false', NUMBER: '12345' },
  )
  assert.equal(settings.gateway.port, 0)
  assert.equal(settings.hooks.allowQueryToken, false)
  assert.deepEqual(settings.hooks.tokens, ['12345'])
})

test('an invalid value is reported with its key and never shown', async (context) => {
  const loaded = await load(
    context,
    { 'reveille.yaml': 'gateway: { port: "${PORT}" }\n' },
    { PORT: 'eighty' },
  )
  assert.ok(!loaded.ok)
  const [diagnostic] = loaded.diagnostics
  assert.match(diagnostic?.message ?? '', /`gateway\.port` must be a whole number/)
  assert.match(diagnostic?.hint ?? '', /reference/)
  assert.ok(!JSON.stringify(loaded.diagnostics).includes('eighty'))
})

test('a misspelt key is reported for its name, also if its value is a reference', async (context) => {
  const files = { 'reveille.yaml': 'hooks: { tokn: "${HOOK}" }\n' }
  const loaded = await load(context, files, { HOOK: 'hunter2' })
  assert.ok(!loaded.ok)
  assert.match(loaded.diagnostics[0]?.hint ?? '', /`token`/)
})

test('every unset name is reported with its key, and its absence causes no further diagnostics', async (context) => {
  const text = 'gateway: { auth: { token: "${ADMIN}" } }\nhooks: { enabled: true, token: ["${ONE}${TWO}"] }\n'
  const loaded = await load(context, { 'reveille.yaml': text })
  assert.ok(!loaded.ok)
  assert.deepEqual(
    loaded.diagnostics.map(({ code, message }) => `${code} ${message}`),
    [
      'UNRESOLVED_REFERENCE `gateway.auth.token` refers to the variable ADMIN, which is not set',
      'UNRESOLVED_REFERENCE `hooks.token[0]` refers to the variable ONE, which is not set',
      'UNRESOLVED_REFERENCE `hooks.token[0]` refers to the variable TWO, which is not set',
    ],
  )
})

test('an unset name in a list does not move the places of its neighbours', async (context) => {
  const text = 'hooks:\n  token:\n    - "${NOPE}"\n    - ""\n'
  const loaded = await load(context, { 'reveille.yaml': text })
  assert.ok(!loaded.ok)
  assert.deepEqual(
    loaded.diagnostics.map(({ place }) => place?.line),
    [3],
  )
})

test('a file reference is relative to the configuration and loses one line break', async (context) => {
  const files = {
    'reveille.yaml': 'hooks: { token: "${file:./run/token}" }\n',
    'run/token': 'hook-secret\r\n',
  }
  assert.deepEqual((await settingsOf(context, files)).hooks.tokens, ['hook-secret'])
})

test('a file reference that cannot be read is reported with key and file', async (context) => {
  const loaded = await load(context, { 'reveille.yaml': 'hooks: { token: "${file:/no/such/file}" }\n' })
  assert.ok(!loaded.ok)
  assert.equal(
    loaded.diagnostics[0]?.message,
    '`hooks.token` refers to the file /no/such/file, which does not exist',
  )
})

test('$${ is a plain ${', async (context) => {
  const { agents } = await settingsOf(context, {
    'reveille.yaml': 'agents: { defaults: { systemPrompt: "$${HOME}" } }\n',
  })
  assert.equal(agents.defaults.systemPrompt, '${HOME}')
})

test('a value with ${ in it is not resolved again', async (context) => {
  const text = 'agents: { defaults: { systemPrompt: "${A}" } }\n'
  const { agents } = await settingsOf(context, { 'reveille.yaml': text }, { A: '${B}', B: 'never' })
  assert.equal(agents.defaults.systemPrompt, '${B}')
})

test('a malformed reference is explained at its place', async (context) => {
  const loaded = await load(context, { 'reveille.yaml': 'gateway:\n  host: "${a b}"\n' })
  assert.ok(!loaded.ok)
  assert.equal(loaded.diagnostics[0]?.code, 'REFERENCE_SYNTAX')
  assert.equal(loaded.diagnostics[0]?.place?.line, 2)
})

test('channels and endpoint policies are resolved, and mappings are left as they are', async (context) => {
  const mapping = '{ message: "cost ${NOPE}", match: { when: "a = \'${NOPE}\'" } }'
  const folder = await createSampleFolder(context, {
    'reveille.yaml': `hooks: { mappings: [${mapping}] }\nchannels: { slack: { deep: [{ botToken: "\${A}" }] } }\n`,
    'mappings/a.yaml': `endpoints: { gh: { maxBodyBytes: "\${SIZE}" } }\nmappings: [${mapping}]\n`,
  })
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: { A: 'a', SIZE: '9' } })
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics))
  const { settings, endpoints, mappings } = loaded.configuration
  assert.equal(JSON.stringify(settings.channels), '{"slack":{"deep":[{"botToken":"a"}]}}')
  assert.equal(endpoints['gh']?.maxBodyBytes, 9)
  assert.deepEqual(
    mappings.map(({ value }) => value.message),
    ['cost ${NOPE}', 'cost ${NOPE}'],
  )
})
