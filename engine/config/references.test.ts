import assert from 'node:assert/strict'
import test from 'node:test'
import { loadBad, testLoads } from './load-fixture.ts'

testLoads(`
# the process environment takes precedence over .env, and both over the default
agents: { defaults: { systemPrompt: "\${A:-x} \${B:-x} \${C:-x} \${D:-x}" } } || .env: A=file⏎B="from file"⏎D= @ { A: process } ⇒ { settings: { agents: { defaults: { systemPrompt: process from file x x } } } }

# numbers and booleans may come from references
gateway: { port: "\${PORT}" }⏎hooks: { allowQueryToken: "\${QUERY}", token: "\${NUMBER}" } @ { PORT: '0', QUERY: 'false', NUMBER: '12345' } ⇒ { settings: { gateway: { port: 0 }, hooks: { allowQueryToken: false, tokens: ['12345'] } } }

# a file reference is relative to the configuration and loses one line break
hooks: { token: "\${file:./run/token.txt}" } || run/token.txt: hook-secret␍ ⇒ { settings: { hooks: { tokens: [hook-secret] } } }

# $\${ is a plain \${, and a value with one in it is not resolved again
agents: { defaults: { systemPrompt: "$\${HOME} \${A}" } } @ { A: '\${B}', B: never } ⇒ { settings: { agents: { defaults: { systemPrompt: '\${HOME} \${B}' } } } }

# channels and endpoint policies are resolved, and mappings are left as they are
channels: { slack: { deep: [{ botToken: "\${A}" }] } } || mappings/a.yaml: endpoints: { gh: { maxBodyBytes: "\${SIZE}" } } @ { A: a, SIZE: '9' } ⇒ { settings: { channels: { slack: { deep: [{ botToken: a }] } } }, endpoints: { gh: { maxBodyBytes: 9 } } }
hooks: { mappings: [{ message: "cost \${NOPE}", match: { when: "a = '\${NOPE}'" } }] } ⇒ { mappings: [{ value: { message: 'cost \${NOPE}', match: { when: "a = '\${NOPE}'" } } }] }
{} || mappings/a.yaml: mappings: [{ message: "cost \${NOPE}" }] ⇒ { mappings: [{ value: { message: 'cost \${NOPE}' } }] }
`)

test('an invalid value is reported with its key and never shown', async (context) => {
  const diagnostics = await loadBad(context, 'gateway: { port: "${PORT}" }\n', { PORT: 'eighty' })
  assert.match(diagnostics[0]?.message ?? '', /`gateway\.port` must be a whole number/)
  assert.match(diagnostics[0]?.hint ?? '', /reference/)
  assert.ok(!JSON.stringify(diagnostics).includes('eighty'))
})

test('every unset name is reported with its key, and its absence causes no further diagnostics', async (context) => {
  const text = 'gateway: { auth: { token: "${ADMIN}" } }\nhooks: { enabled: true, token: ["${ONE}${TWO}"] }\n'
  const diagnostics = await loadBad(context, text)
  assert.deepEqual(
    diagnostics.map(({ code, message }) => `${code} ${message}`),
    [
      'UNRESOLVED_REFERENCE `gateway.auth.token` refers to the variable ADMIN, which is not set',
      'UNRESOLVED_REFERENCE `hooks.token[0]` refers to the variable ONE, which is not set',
      'UNRESOLVED_REFERENCE `hooks.token[0]` refers to the variable TWO, which is not set',
    ],
  )
})
