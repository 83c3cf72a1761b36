/** Tests the meaning of `hooks.gmail` outside of its plugin. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countingRandomness } from '../compile/fixture.ts'
import { createCompiler } from '../index.ts'
import { loadGood as load, testLoads } from './load-fixture.ts'

const mailbox = 'account: ada@example.com, label: Work'
const preset =
  'mappings:\n  - { id: mail, match: { path: gmail }, message: "{{messages[0].subject}}", thinking: high }\n'

const filesOf = (hooks: string) => ({
  'reveille.yaml': `hooks:\n  token: a-hook-token-0123456789abcdef\n${hooks}\n`,
  'shipped/gmail.yaml': preset,
  'shipped/other.yaml': preset.replaceAll('gmail', 'other').replace('id: mail', 'id: other'),
})
const loadGood = (context: TestContext, hooks: string) => load(context, filesOf(hooks))

testLoads(
  `
# a mailbox is a source without the keys for its preset, and an empty one is none
  gmail: { ${mailbox}, model: a/b, thinking: low, topic: t, serve: { port: 8788 } } ⇒ { settings: { sources: { gmail: { ${mailbox}, model: null, thinking: null, topic: null, serve: null } } } }
  enabled: false ⇒ { settings: { sources: { gmail: null } } }
  gmail: {} ⇒ { settings: { sources: { gmail: null } } }
  gmail: { model: a/b } ⇒ { settings: { sources: { gmail: null } } }

# the runs of the preset gmail have model and thinking of the mailbox, unless the preset sets others
  gmail: { model: a/b, thinking: low }⏎  presets: [gmail] ⇒ { mappings: [{ value: { model: a/b, thinking: low } }] }
  gmail: { model: a/b, thinking: low }⏎  presets: [{ name: gmail, model: c/d }] ⇒ { mappings: [{ value: { model: c/d, thinking: low } }] }
  gmail: { model: a/b, thinking: low }⏎  presets: [other] ⇒ { mappings: [{ value: { model: null, thinking: high } }] }
`,
  (text) => filesOf(`  ${text.trimStart()}`),
)

test('allowUnsafeExternalContent of the mailbox removes the boundary from its preset, and from no other', async (context) => {
  const hooks = '  gmail: { allowUnsafeExternalContent: true }\n  presets: [gmail, other]\n'
  const { mappings } = await loadGood(context, hooks)
  const found = mappings.map(({ value }) => value.allowUnsafeExternalContent ?? false)
  assert.deepEqual(found, [true, false])
  const place = mappings[0]?.locate(['allowUnsafeExternalContent'])
  assert.match(`${place?.file}:${place?.line}`, /reveille\.yaml:3$/, 'blamed where it is written')
})

test('a mailbox whose mails no mapping reads is a warning, whatever the mapping is called', async (context) => {
  const codes = async (hooks: string) => {
    const configuration = await loadGood(context, `  enabled: true\n  gmail: { ${mailbox} }\n${hooks}`)
    const catalog = { channels: [], runners: ['echo'], relays: [] }
    const compiled = await createCompiler({ randomness: countingRandomness() }).compile(
      configuration,
      catalog,
    )
    assert.ok(compiled.ok)
    return compiled.warnings.map(({ code }) => code)
  }
  assert.deepEqual(await codes(''), ['MAIL_UNMAPPED'])
  assert.deepEqual(await codes('  endpoints: { gmail: { maxBodyBytes: 500000 } }\n'), ['MAIL_UNMAPPED'])
  const mappings = ['{ message: x }', '{ match: { path: gmail }, action: wake, text: x }'].map(
    (each) => `mappings: [${each}]`,
  )
  for (const heard of ['presets: [gmail]', ...mappings])
    assert.deepEqual(await codes(`  ${heard}\n`), [], heard)
})
