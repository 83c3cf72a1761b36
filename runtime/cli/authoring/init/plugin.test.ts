import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { KIT_VERSION } from '@reveille/kit'
import { runOwnTests } from '../../../../test/page-plugin.ts'
import { createCommandLine, testTranscript } from '../../io-fixture.ts'

const base = `gateway: { auth: { token: gateway-token-0123456789abcdef } }
hooks: { enabled: true, token: hook-token-0123456789abcdef }
`

const configured = {
  channel: 'channels:\n  town-crier: { token: "${TOWN_CRIER_TOKEN}", defaultTo: "room:team" }\n',
  runner:
    'agents:\n  runners:\n    town-crier: { kind: town-crier, url: "http://127.0.0.1:9000", token: "${TOWN_CRIER_TOKEN}" }\n',
  source: 'sources:\n  town-crier: { url: "http://127.0.0.1:9000", token: "${TOWN_CRIER_TOKEN}" }\n',
}

for (const [kind, configuration] of Object.entries(configured)) {
  test(`a scaffolded ${kind} passes its own tests, and works in a configuration`, {
    timeout: 60_000,
  }, async (t) => {
    const env = { TOWN_CRIER_TOKEN: 'a-token-0123456789' }
    const { cwd, run, write } = await createCommandLine(t, {}, { env })
    const written = await run('init', 'plugin', kind, 'town-crier')
    assert.equal(written.code, 0, written.err)
    assert.match(written.out, /wrote town-crier\/index\.js\n/)
    assert.match(
      written.out,
      /linked town-crier\/node_modules\/@reveille\/kit, for the tests and your editor\n/,
    )
    assert.match(written.out, /plugins: \[\.\/town-crier\]\n/)
    const next =
      kind === 'channel' ? 'reveille init channel town-crier\n' : '.env beside it:\n\nTOWN_CRIER_TOKEN=…\n'
    assert.ok(written.out.includes(next), written.out)
    assert.doesNotMatch(written.out, /NAME|VARIABLE/)
    const manifest = JSON.parse(await readFile(path.join(cwd, 'town-crier', 'package.json'), 'utf8'))
    const { reveille, peerDependencies } = manifest
    assert.equal(reveille.kit, KIT_VERSION)
    assert.equal(peerDependencies['@reveille/kit'], `>=0.1.0 <${KIT_VERSION + 1}`, 'any kit of this contract')
    await runOwnTests(t, path.join(cwd, 'town-crier'))
    await write('reveille.yaml', `${base}plugins: [./town-crier]\n${configuration}`)
    const checked = await run('check')
    assert.equal(checked.code, 0, checked.err + checked.out)
  })
}

testTranscript(
  {},
  `
# nothing is written over existing files, and an unknown kind or bad name is refused with the valid ones
+ ntfy/index.js: mine
1 $ init plugin channel ntfy
! ntfy already exists and is not empty; nothing was written. Choose another name or folder.
2 $ init plugin chanel ntfy
! …'chanel' is invalid for argument 'kind'. Allowed choices are channel, runner…
2 $ init plugin channel My_Channel
! …lower-case letters, digits and hyphens…
`,
)
