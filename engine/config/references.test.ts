import assert from 'node:assert/strict'
import test from 'node:test'
import { loadBad, loadGood } from './load-fixture.ts'

test('the process environment takes precedence over .env, and both over the default', async (context) => {
  const files = {
    'reveille.yaml': 'agents: { defaults: { systemPrompt: "${A:-x} ${B:-x} ${C:-x} ${D:-x}" } }\n',
    '.env': 'A=file\nB="from file"\nD=\n',
  }
  const { settings } = await loadGood(context, files, { A: 'process' })
  assert.equal(settings.agents.defaults.systemPrompt, 'process from file x x')
})

test('numbers and booleans may come from references', async (context) => {
  const text = 'gateway: { port: "${PORT}" }\nhooks: { allowQueryToken: "${QUERY}", token: "${NUMBER}" }\n'
  const { settings } = await loadGood(
    context,
    { 'reveille.yaml': text },
    { PORT: '0', QUERY: 'false', NUMBER: '12345' },
  )
  assert.equal(settings.gateway.port, 0)
  assert.equal(settings.hooks.allowQueryToken, false)
  assert.deepEqual(settings.hooks.tokens, ['12345'])
})

test('an invalid value is reported with its key and never shown', async (context) => {
  const diagnostics = await loadBad(
    context,
    { 'reveille.yaml': 'gateway: { port: "${PORT}" }\n' },
    { PORT: 'eighty' },
  )
  const [diagnostic] = diagnostics
  assert.match(diagnostic?.message ?? '', /`gateway\.port` must be a whole number/)
  assert.match(diagnostic?.hint ?? '', /reference/)
  assert.ok(!JSON.stringify(diagnostics).includes('eighty'))
})

test('every unset name is reported with its key, and its absence causes no further diagnostics', async (context) => {
  const text = 'gateway: { auth: { token: "${ADMIN}" } }\nhooks: { enabled: true, token: ["${ONE}${TWO}"] }\n'
  const diagnostics = await loadBad(context, { 'reveille.yaml': text })
  assert.deepEqual(
    diagnostics.map(({ code, message }) => `${code} ${message}`),
    [
      'UNRESOLVED_REFERENCE `gateway.auth.token` refers to the variable ADMIN, which is not set',
      'UNRESOLVED_REFERENCE `hooks.token[0]` refers to the variable ONE, which is not set',
      'UNRESOLVED_REFERENCE `hooks.token[0]` refers to the variable TWO, which is not set',
    ],
  )
})

test('a file reference is relative to the configuration and loses one line break', async (context) => {
  const files = {
    'reveille.yaml': 'hooks: { token: "${file:./run/token}" }\n',
    'run/token': 'hook-secret\r\n',
  }
  assert.deepEqual((await loadGood(context, files)).settings.hooks.tokens, ['hook-secret'])
})

test('$${ is a plain ${', async (context) => {
  const { settings } = await loadGood(context, {
    'reveille.yaml': 'agents: { defaults: { systemPrompt: "$${HOME}" } }\n',
  })
  assert.equal(settings.agents.defaults.systemPrompt, '${HOME}')
})

test('a value with ${ in it is not resolved again', async (context) => {
  const text = 'agents: { defaults: { systemPrompt: "${A}" } }\n'
  const { settings } = await loadGood(context, { 'reveille.yaml': text }, { A: '${B}', B: 'never' })
  assert.equal(settings.agents.defaults.systemPrompt, '${B}')
})

test('channels and endpoint policies are resolved, and mappings are left as they are', async (context) => {
  const mapping = '{ message: "cost ${NOPE}", match: { when: "a = \'${NOPE}\'" } }'
  const files = {
    'reveille.yaml': `hooks: { mappings: [${mapping}] }\nchannels: { slack: { deep: [{ botToken: "\${A}" }] } }\n`,
    'mappings/a.yaml': `endpoints: { gh: { maxBodyBytes: "\${SIZE}" } }\nmappings: [${mapping}]\n`,
  }
  const { settings, endpoints, mappings } = await loadGood(context, files, { A: 'a', SIZE: '9' })
  assert.equal(JSON.stringify(settings.channels), '{"slack":{"deep":[{"botToken":"a"}]}}')
  assert.equal(endpoints['gh']?.maxBodyBytes, 9)
  assert.deepEqual(
    mappings.map(({ value }) => value.message),
    ['cost ${NOPE}', 'cost ${NOPE}'],
  )
})
