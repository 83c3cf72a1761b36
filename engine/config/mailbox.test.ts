/** Tests the meaning of `hooks.gmail` outside of its plugin. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countingRandomness } from '../compile/fixture.ts'
import { compileSnapshot } from '../index.ts'
import { loadGood as load } from './load-fixture.ts'

const mailbox =
  'account: ada@example.com, topic: projects/p/topics/t, subscription: projects/p/subscriptions/s'
const preset =
  'mappings:\n  - { id: mail, match: { path: gmail }, message: "{{messages[0].subject}}", thinking: high }\n'

const loadGood = (context: TestContext, hooks: string) =>
  load(context, {
    'reveille.yaml': `hooks:\n  token: a-hook-token-0123456789abcdef\n${hooks}`,
    'shipped/gmail.yaml': preset,
    'shipped/other.yaml': preset.replaceAll('gmail', 'other').replace('id: mail', 'id: other'),
  })

test('a mailbox is a source without the keys for its preset, and an empty one is none', async (context) => {
  const { settings } = await loadGood(
    context,
    `  gmail: { ${mailbox}, model: a/b, thinking: low, serve: { port: 8788 } }\n`,
  )
  assert.deepEqual(settings.sources, {
    gmail: {
      account: 'ada@example.com',
      topic: 'projects/p/topics/t',
      subscription: 'projects/p/subscriptions/s',
    },
  })
  for (const none of ['', '  gmail: {}\n', '  gmail: { model: a/b }\n'])
    assert.deepEqual((await loadGood(context, none)).settings.sources, {}, none)
})

test('the runs of the preset gmail have model and thinking of the mailbox, unless the preset sets others', async (context) => {
  const of = async (hooks: string) => {
    const { mappings } = await loadGood(context, `  gmail: { model: a/b, thinking: low }\n${hooks}`)
    const [{ value } = assert.fail()] = mappings
    assert.ok(value.action === 'agent')
    return [value.model, value.thinking]
  }
  assert.deepEqual(await of('  presets: [gmail]\n'), ['a/b', 'low'])
  assert.deepEqual(await of('  presets: [{ name: gmail, model: c/d }]\n'), ['c/d', 'low'])
  assert.deepEqual(await of('  presets: [other]\n'), [undefined, 'high'], 'no other preset hears of it')
})

test('allowUnsafeExternalContent of the mailbox removes the boundary from its preset, and from no other', async (context) => {
  const { mappings } = await loadGood(
    context,
    '  gmail: { allowUnsafeExternalContent: true }\n  presets: [gmail, other]\n',
  )
  assert.deepEqual(
    mappings.map(({ value }) => 'allowUnsafeExternalContent' in value && value.allowUnsafeExternalContent),
    [true, false],
  )
  const place = mappings[0]?.locate(['allowUnsafeExternalContent'])
  assert.deepEqual(
    [place?.line, place?.file.endsWith('reveille.yaml')],
    [3, true],
    'blamed where it is written',
  )
})

test('a mailbox whose mails no mapping reads is a warning, whatever the mapping is called', async (context) => {
  const codes = async (hooks: string) => {
    const configuration = await loadGood(context, `  enabled: true\n  gmail: { ${mailbox} }\n${hooks}`)
    const catalog = { channels: [], runners: ['echo'], relays: [] }
    const compiled = compileSnapshot(configuration, catalog, countingRandomness())
    assert.ok(compiled.ok)
    return compiled.warnings.map(({ code }) => code)
  }
  assert.deepEqual(await codes(''), ['MAIL_UNMAPPED'])
  assert.deepEqual(await codes('  endpoints: { gmail: { maxBodyBytes: 500000 } }\n'), ['MAIL_UNMAPPED'])
  for (const heard of [
    '  presets: [gmail]\n',
    '  mappings: [{ message: x }]\n',
    '  mappings: [{ match: { path: gmail }, action: wake, text: x }]\n',
  ])
    assert.deepEqual(await codes(heard), [], heard)
})
