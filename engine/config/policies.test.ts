import assert from 'node:assert/strict'
import test from 'node:test'
import { diagnose, summary, testTable } from './load-fixture.ts'

const hook = 'p0Yt7RcB1WmX8vZq4LsK2fNd'
const admin = '4fK29sLq0ZpVx81mWnB7cRtY'
const good = 'uG3jQ9dT5hE1oS6xAaVzP8yM'
const start = `gateway: { auth: { token: ${admin} } }\nhooks:\n  enabled: true\n  token: ${hook}\n`
const mapping = 'mappings: [{ id: f, match: { path: forge }, message: x }]\n'

testTable(
  'a policy of the configuration, and of a file',
  (text) => {
    const [own = '', other = ''] = text.split(' || ')
    return {
      'reveille.yaml': `gateway: { host: 0.0.0.0 }\nhooks: { endpoints: { forge: { ${own} } } }\n`,
      'mappings/a.yaml': `endpoints: { forge: { ${other} } }\n${mapping}`,
    }
  },
  `
ok                          auth: token || auth: none
AUTH_NONE_PUBLIC            concurrency: 1 || §auth: none
AUTH_NONE_PUBLIC            §auth: none || auth: none
MODEL_WITHOUT_PRICE         concurrency: 1 || budget: { usd: §1 }
ok                          concurrency: 1 || verify: { provider: github, secret: "" }
`,
)

testTable(
  'a policy of the configuration, and of a preset',
  (text) => {
    const [own = '', provider = ''] = text.split(' || ')
    return {
      'reveille.yaml': `${start}  presets: [forge]\n  endpoints:\n    forge: { ${own} }\n`,
      'shipped/forge.yaml': `endpoints: { forge: { verify: { provider: ${provider}, secret: "\${FORGE:-}" } } }\n${mapping}`,
    }
  },
  `
ok                          concurrency: 1 || twilio
ok                          concurrency: 1 || google-pubsub
ok                          concurrency: 1 || aws-sns
ok                          concurrency: 1 || discord
ok                          concurrency: 1 || github
ok                          concurrency: 1 || monday
MISSING_KEY                 §verify: { secret: ${good} } || twilio
ok                          verify: { secret: ${good}, publicUrl: "https://hooks.example.com/hooks/forge" } || twilio
MISSING_KEY                 §verify: { serviceAccount: push@p.example } || google-pubsub
~VERIFY_NOT_YET             verify: { §secret: "" } || github
`,
)

test('values of references are compared and measured as others are', async (context) => {
  const files = {
    'reveille.yaml': `hooks: { enabled: true, token: "\${HOOK}", presets: [forge] }\n`,
    'mappings/a.yaml':
      'endpoints:\n  a:\n    token: "${A}"\nmappings: [{ match: { path: a }, message: x }]\n',
    'shipped/forge.yaml': `endpoints: { forge: { verify: { provider: github, secret: "\${FORGE:-}" } } }\n${mapping}`,
  }
  for (const [env, wanted] of [
    [{ HOOK: hook, A: hook }, ['TOKEN_REPEATED 3:12']],
    [{ HOOK: hook, A: good }, []],
    [{ HOOK: hook, A: good, FORGE: 'k3v9-pq' }, ['SECRET_SHORT 1:59']],
    [{ HOOK: hook, A: good, FORGE: `${good}x\n` }, ['SECRET_PADDED 1:59']],
  ] as const) {
    const found = await diagnose(context, files, env)
    assert.deepEqual(summary(found), wanted)
    for (const secret of Object.values(env)) assert.ok(!JSON.stringify(found).includes(secret))
  }
})

test('the kind of authentication of an endpoint is no secret, so its line is shown', async (context) => {
  const line = async (text: string) =>
    (await diagnose(context, `${start}  endpoints:\n${text}\n`))[0]?.place?.text
  assert.equal(await line('    open: { auth: both }'), '    open: { auth: both }')
  assert.equal(await line('    open:\n      auth: both'), '      auth: both')
  assert.equal(await line(`    open:\n      auth: ${good}`), '      auth: …')
})
