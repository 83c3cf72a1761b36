/** Tests that pasted mappings reach no file, no variable and no other module, and hold up nobody. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchEventLoop } from '../../engine/resolve/event-loop-fixture.ts'
import { configuration, install } from '../installation.ts'

const files = {
  'reveille.yaml': configuration,
  '.env': 'SECRET_OF_ENV=secret-of-env-0123456789\n',
  'secret.json': '{"type": "object", "description": "secret-of-file"}',
  'mappings/live.yaml':
    'mappings: [{ id: live, match: { path: live }, message: "{{title}}", deliver: false, transform: { module: live.ts, with: { key: "${SECRET_OF_ENV}" } } }]\n',
  'transforms/live.ts':
    'export default ({ with: { key } }: any) => ({ name: "key " + key.length, message: "it is " + key })\n',
  'transforms/other.ts': 'export default () => ({ message: "other" })\n',
}

const letters = 'a'.repeat(20_000)
/** Just below what one mapping may have. */
const repeat = (text: string, bytes = 16_000) => text.repeat(Math.floor(bytes / text.length))

/** Each as YAML of one mapping of `/hooks/b`. */
const hostile: Readonly<Record<string, string>> = {
  'a regular expression that backtracks': `match: { path: b, body: { long: { pattern: "(a+)+$" } } }\nmessage: x`,
  'a regular expression that counts': `match: { path: b, body: { long: { pattern: "((a{1,60}){1,60}){1,60}b" } } }\nmessage: x`,
  'a very long regular expression': `match: { path: b, body: { long: { pattern: "${repeat('(a|b)*')}" } } }\nmessage: x`,
  'an expression without an end': `match: { path: b, when: "($f := function($x) { $f($x + 1) }; $f(1))" }\nmessage: x`,
  'an expression that multiplies': `match: { path: b }\nvars: { a: "[1..9999].([1..9999].($))" }\nmessage: "{{vars.a}}"`,
  'a very long expression': `match: { path: b, when: "${repeat('1+')}1 = 2" }\nmessage: x`,
  'a very deep expression': `match: { path: b, when: "${'('.repeat(7_000)}1${')'.repeat(7_000)}" }\nmessage: x`,
  'a very long template': `match: { path: b }\nmessage: "${repeat('{{long}}')}"`,
  'nested loops': `match: { path: b }\nmessage: "${'{{#each list}}'.repeat(8)}x${'{{/each}}'.repeat(8)}"`,
  'very deep loops': `match: { path: b }\nmessage: "${'{{#each list}}'.repeat(690)}x${'{{/each}}'.repeat(690)}"`,
  'a very large pattern': `match: { path: b, body: { ${Array.from({ length: 1_500 }, (_, index) => `k${index}: 1`).join(', ')} } }\nmessage: x`,
  'a very large schema': `match: { path: b }\nmessage: x\nschema: { anyOf: [${repeat('{ pattern: "(a*)*c" }, ', 60_000)}{}] }`,
  'a schema that refers to itself': `match: { path: b }\nmessage: x\nschema: { $ref: "#" }`,
  'a schema elsewhere': `match: { path: b }\nmessage: x\nschema: { $ref: "file:///etc/passwd" }`,
  'very many mappings': `mappings:\n${repeat('- { match: { path: b, body: { a: 1 } }, message: "{{long}}" }\n', 60_000)}`,
  'a text that is just short enough': `match: { path: b }\nmessage: "${'x'.repeat(65_000)}"`,
  aliases: `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefghij'.replaceAll(/./g, (name) => `${name}: &${name} [${Array(9).fill(`*${String.fromCharCode(name.charCodeAt(0) - 1)}`)}]\n`)}`,
  'a deep text': `match: { path: b, body: ${'{a: '.repeat(10_000)}1${'}'.repeat(10_000)} }\nmessage: x`,
}

test('hostile pasted mappings are answered in time, and requests meanwhile too', {
  timeout: 240_000,
}, async (t) => {
  const { ask, post } = await install(t, files)
  const payload = JSON.stringify({ long: letters, list: Array(30).fill(0) })
  for (const [what, mapping] of Object.entries(hostile)) {
    const { result, longest } = await watchEventLoop(async () => {
      const trying = ask('/api/try', {
        method: 'POST',
        payload: JSON.stringify({ endpoint: 'b', payload, mapping }),
      })
      assert.equal((await post('/hooks/live', { title: 'x' })).status, 202, what)
      return trying
    })
    assert.equal(result.status, 200, `${what}: ${result.text.slice(0, 500)}`)
    assert.ok(longest < 500, `${what} held the event loop for ${longest} ms`)
  }
})

/** Each names what only the operator's own files may name. */
const greedy: readonly string[] = [
  'match: { path: b }\nmessage: "${SECRET_OF_ENV}"\n',
  'match: { path: b }\nmessage: x\nschema: secret.json\n',
  'match: { path: b }\nmessage: x\nschema: /etc/passwd\n',
  'match: { path: b }\ntransform: { module: other.ts }\n',
  'match: { path: b }\ntransform: { module: ../transforms/other.ts }\n',
  'match: { path: b }\ntransform: { module: live.ts, with: { key: "${SECRET_OF_ENV}" } }\n',
  'match: { path: b }\ntransform: { module: live.ts, with: { key: "${file:secret.json}" } }\n',
  'mappings: [{ match: { path: b }, message: x }]\nendpoints: { b: { token: "${SECRET_OF_ENV}" } }\n',
  'mappings: !include secret.json\n',
]

test('pasted mappings read no file, no variable and no secret, and change nothing', async (t) => {
  const { ask, read } = await install(t, files)
  const before = await read<{ items: unknown[] }>('/api/generations')
  const tried: unknown[] = []
  for (const mapping of greedy) {
    const payload = JSON.stringify({ endpoint: 'b', payload: '{}', mapping })
    const { status, text, body } = await ask('/api/try', { method: 'POST', payload })
    assert.equal(status, 200, text)
    assert.doesNotMatch(text, /secret-of-|root:/, mapping)
    const codes = ((body['diagnostics'] ?? []) as { code: string }[]).map(({ code }) => code)
    tried.push([(body['decision'] as { outcome?: string } | undefined)?.outcome, codes[0]])
  }
  assert.deepEqual(tried, [
    ['accepted', undefined],
    [undefined, 'FILE_UNREADABLE'],
    [undefined, 'FILE_UNREADABLE'],
    [undefined, 'TRANSFORM_NOT_LIVE'],
    [undefined, 'INVALID_PATH'],
    ['accepted', 'REFERENCE_NOT_RESOLVED'],
    ['accepted', 'REFERENCE_NOT_RESOLVED'],
    ['accepted', 'NOT_TRIED'],
    [undefined, 'YAML_SYNTAX'],
  ])
  assert.deepEqual(await read('/api/generations'), before)
  assert.deepEqual((await read<{ items: unknown[] }>('/api/requests')).items, [])
})
