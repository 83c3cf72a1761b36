import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Diagnostic } from './file/diagnostic.ts'
import { createThreadParser } from './file/parser.ts'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { loadPasted } from './pasted.ts'

const live = {
  'reveille.yaml': 'hooks: { enabled: true, token: "${HOOK_TOKEN}" }\n',
  'mappings/a.yaml': `mappings:
  - { id: a, match: { path: a }, message: "{{title}}", transform: { module: a.ts, with: { key: "\${API_KEY}" } } }
tests: [{ request: { endpoint: a, body: {} }, expect: { mapping: a } }]
`,
  'schema.json': '{"type": "object"}',
}
const env = { HOOK_TOKEN: 'token-0123456789', API_KEY: 'key-0123456789' }

/** Returns a function that pastes a text over a live configuration. */
async function setUp(t: TestContext) {
  const folder = await createSampleFolder(t, live)
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const parser = createThreadParser()
  t.after(() => parser.close())
  return (text: string) => loadPasted(loaded.configuration, text, parser)
}

async function sound(pasting: ReturnType<typeof loadPasted>) {
  const pasted = await pasting
  assert.ok(pasted.ok, JSON.stringify(pasted))
  return pasted.configuration
}

const placesOf = (warnings: readonly Diagnostic[]) =>
  warnings.map(({ code, place }) => `${place?.line} ${code}`)

/** Each as `line:column code message`. */
async function faults(pasting: ReturnType<typeof loadPasted>) {
  const pasted = await pasting
  assert.ok(!pasted.ok)
  return pasted.diagnostics.map(
    ({ place, code, message }) => `${place?.line}:${place?.column} ${code} ${message}`,
  )
}

test('a mapping file, a list of mappings and one mapping are accepted, and replace the live ones', async (t) => {
  const paste = await setUp(t)
  const one = 'match: { path: b }\nmessage: "{{title}}"\n'
  const list = '- { match: { path: b }, message: x }\n- { id: off, enabled: false, message: y }\n'
  for (const text of [one, list, `mappings:\n${list}`, `\ufeff${one}`]) {
    const { mappings, disabled, tests, settings } = await sound(paste(text))
    assert.deepEqual(
      mappings.map(({ value }) => value.match?.path),
      ['b'],
      text,
    )
    assert.ok(disabled.length <= 1 && tests.length === 0)
    assert.equal(settings.hooks.enabled, true)
  }
})

test('mistakes have their line and column in the pasted text', async (t) => {
  const paste = await setUp(t)
  for (const [text, fault] of [
    ['match: { path: b }\nmesage: x\n', /^2:1 UNKNOWN_KEY `mesage` is not a known key$/],
    ['- match: { path: b }\n  message: x\n- action: fly\n', /^3:\d+ INVALID_VALUE/],
    ['mappings: [', /^1:\d+ /],
    ['mapings: []\nmappings: []\n', /^1:1 UNKNOWN_KEY `mapings` is not a known key$/],
    ...['', 'just words', 'tests: []'].map((each) => [each, /^1:1 INVALID_VALUE The text /] as const),
  ] as const)
    assert.match((await faults(paste(text))).join('\n'), fault, text)
  const { warnings } = await sound(paste('match: { path: b }\nmessage: x\nagentId: reader\n'))
  assert.deepEqual(placesOf(warnings), ['3 FOREIGN_KEY'])
})

test('a reference stays a text, which is said, and no variable is read', async (t) => {
  const paste = await setUp(t)
  const text =
    'match: { path: b }\ntransform:\n  module: a.ts\n  with: { key: "${API_KEY}", file: "${file:schema.json}", or: "${X:-y}" }\n'
  const { mappings, warnings } = await sound(paste(text))
  const parameters = { key: '${API_KEY}', file: '${file:schema.json}', or: '${X:-y}' }
  assert.deepEqual({ ...mappings[0]?.parameters }, parameters)
  assert.deepEqual(placesOf(warnings), Array(3).fill('4 REFERENCE_NOT_RESOLVED'))
  const policies =
    'mappings: [{ match: { path: b }, message: x }]\nendpoints: { b: { token: "${API_KEY}" } }\ntests: []\n'
  const { endpoints, warnings: left } = await sound(paste(policies))
  assert.deepEqual([{ ...{ ...endpoints } }, left.map(({ code }) => code)], [{}, ['NOT_TRIED', 'NOT_TRIED']])
})

test('a module can be named that a live mapping calls, and no other', async (t) => {
  const paste = await setUp(t)
  assert.ok(await sound(paste('match: { path: b }\ntransform: { module: ./a.ts }\n')))
  for (const wanted of [
    'module: b.ts',
    'module: a.ts, export: other',
    'module: ../a.ts',
    'module: /etc/a.ts',
  ]) {
    const [fault = ''] = await faults(paste(`match: { path: b }\ntransform: { ${wanted} }\n`))
    assert.match(fault, /^2:\d+ (TRANSFORM_NOT_LIVE|INVALID_PATH)/, wanted)
  }
})
