/** Tests that a mapping is saved in a mapping file only as a candidate that would go live, and what else is refused. */

import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { install } from '../../test/installation.ts'

const before = `# What the shop sends.
mappings:
  - id: orders # the first
    match: { path: orders }
    message: "Order {{id}}"
    transform: { module: stamp.ts, with: { key: "\${KEY}" } }

  - { id: returns, match: { path: returns }, message: "Return {{id}}" } # the second
tests:
  - name: an order
    request: { endpoint: orders, body: { id: 7 } }
    expect: { mapping: orders }
`
const mapping = `id: orders
match: { path: orders }
message: |
  Order {{id}}
  of {{customer}}
transform: { module: stamp.ts, with: { key: "\${KEY}" } }
`
const other = 'id: refunds\nmatch: { path: refunds }\nmessage: "Refund {{id}}"\n'
const testOf = (name: string, expect: string) =>
  `tests:\n  - name: ${name}\n    request: { endpoint: orders, body: { id: 8, customer: Ada } }\n    expect: { ${expect} }\n`

interface Saved {
  readonly saved: boolean
  readonly digest?: string
  readonly after?: string
  readonly diagnostics?: readonly Fault[]
  readonly reload?: {
    readonly outcome: string
    readonly generation: number
    readonly diagnostics: readonly Fault[]
  }
}
interface Fault {
  readonly code: string
  readonly message: string
  readonly place?: { readonly file: string; readonly line: number }
}

async function open(t: Parameters<typeof install>[0], files: Readonly<Record<string, string>> = {}) {
  const stamp =
    "import { defineTransform } from '@reveille/engine/transform'\nexport default defineTransform(() => ({}))\n"
  const all = { 'mappings/shop.yaml': before, 'transforms/stamp.ts': stamp, ...files }
  const installed = await install(t, all, { env: { KEY: 'key-canary-4fK29sLq0ZpVx81m' } })
  const save = async (body: object, query = '') => {
    const payload = JSON.stringify({ file: 'shop.yaml', mapping, ...body })
    const answer = await installed.ask(`/api/mappings${query}`, { method: 'POST', payload })
    return { ...answer, saved: answer.body as unknown as Saved, text: answer.text }
  }
  const shown = async (body: object = {}) => (await save(body, '?dryRun=true')).saved
  const file = () => readFile(join(installed.folder, 'mappings', 'shop.yaml'), 'utf8')
  return { ...installed, save, shown, file }
}

test('a mapping is shown, saved with its test and live, and everything else in the file keeps every byte', async (t) => {
  const { save, shown, file, post, gateway, read, ask, folder } = await open(t)
  const test = testOf('two lines', 'mapping: orders')
  const dry = await shown({ test })
  assert.deepEqual([dry.saved, dry.reload?.outcome, await file()], [false, 'live', before])
  const { status, saved } = await save({ test, digest: dry.digest })
  assert.deepEqual([status, saved.saved, saved.reload?.outcome], [200, true, 'live'])
  const after = before
    .replace('  - id: orders # the first', '  - id: orders')
    .replace('message: "Order {{id}}"', 'message: |\n      Order {{id}}\n      of {{customer}}')
    .replace(/$/, testOf('two lines', 'mapping: orders').replace('tests:\n', ''))
  assert.equal(await file(), after)
  assert.equal(saved.after, after)
  assert.deepEqual(await readdir(join(folder, 'mappings')), ['shop.yaml'], 'no draft is left')
  assert.equal((await post('/hooks/orders', { id: 1, customer: 'Ada' })).status, 202)
  assert.partialDeepStrictEqual(await read('/api/generations/2'), { state: 'live', by: 'owner' })

  const undone = await ask('/api/generations/1/rollback', { method: 'POST' })
  assert.equal(undone.status, 200)
  assert.equal(gateway.current().generation, 1)
})

test('the test that a dry run writes passes where it is saved, and proves no sender', async (t) => {
  const { ask, shown, save, file } = await open(t)
  const keyed = other.replace('message:', 'sessionKey: "refund:{{id}}"\nmessage:')
  const tried = await ask('/api/try', {
    method: 'POST',
    payload: JSON.stringify({
      endpoint: 'refunds',
      payload: '{"id":820982911946154508,"text":"a: #b"}',
      headers: { 'content-type': 'application/json', authorization: 'Bearer canary', 'x-kind': 'refund' },
      mapping: keyed,
      withTest: true,
    }),
  })
  const test = String(tried.body['test'])
  for (const part of ['820982911946154508', 'x-kind: refund', 'mapping: refunds', 'sessionKey: refund:'])
    assert.ok(test.includes(part), test)
  assert.doesNotMatch(test, /canary/)
  const { digest } = await shown({ mapping: keyed, test })
  assert.equal((await save({ mapping: keyed, test, digest })).status, 200)
  assert.match(await file(), /name: a request to refunds is accepted by refunds/)
})

test('mappings that the file does not have are added, and a file that is not there is made', async (t) => {
  const { save, shown, file, folder, gateway } = await open(t)
  const { digest } = await shown({ mapping: other })
  assert.equal((await save({ mapping: other, digest })).status, 200)
  const line = '  - { id: returns, match: { path: returns }, message: "Return {{id}}" } # the second\n'
  const added = '  - id: refunds\n    match: { path: refunds }\n    message: "Refund {{id}}"\n'
  assert.equal(await file(), before.replace(line, line + added))
  const bell = {
    file: 'bell.yaml',
    mapping: `mappings: [{ id: bell, match: { path: bell }, message: ding }]\n`,
  }
  assert.equal((await save(bell)).status, 200)
  const text = await readFile(join(folder, 'mappings', 'bell.yaml'), 'utf8')
  assert.equal(text, 'mappings:\n  - { id: bell, match: { path: bell }, message: ding }\n')
  assert.equal(gateway.current().generation, 3)
})

test('secrets of the file are hidden where it is shown, and stay in it', async (t) => {
  const secret = 'shop-canary-4fK29sLq0ZpVx81mWnB7'
  const withPolicy = `endpoints: { orders: { token: ${secret} } }\n${before}`
  const { shown, save, file } = await open(t, { 'mappings/shop.yaml': withPolicy })
  const dry = await shown({ mapping: other })
  const { text } = await save({ mapping: other, digest: dry.digest })
  assert.ok(!(JSON.stringify(dry) + text).includes(secret), text)
  assert.match(text, /"saved":true/)
  assert.ok((await file()).startsWith(`endpoints: { orders: { token: ${secret} } }`))
})

test('a refused candidate has located errors, is not written, and leaves the live generation', async (t) => {
  const { save, shown, file, gateway } = await open(t)
  const { digest } = await shown()
  const cases: [body: object, code: string, line: number | undefined][] = [
    [{ mapping: 'id: orders\nmesage: hello\n' }, 'UNKNOWN_KEY', 2],
    [{ mapping: 'id: [\n' }, 'YAML_SYNTAX', undefined],
    [{ test: testOf('wrong', 'mapping: returns') }, 'TEST_FAILED', undefined],
    [
      { file: 'twice.yaml', mapping: other.replace('id: refunds', 'id: orders'), digest: undefined },
      'DUPLICATE_ID',
      undefined,
    ],
  ]
  for (const [body, code, line] of cases) {
    const { status, saved, text } = await save({ digest, ...body })
    const [found] = saved.diagnostics ?? saved.reload?.diagnostics ?? []
    assert.deepEqual([status, saved.saved, found?.code], [409, false, code], text)
    assert.ok(found?.place !== undefined && (line === undefined || found.place.line === line), text)
  }
  assert.equal(await file(), before)
  assert.equal(gateway.current().generation, 1)
})

test('a file that has changed since it was shown is not replaced', async (t) => {
  const { save, shown, file, write } = await open(t)
  const { digest } = await shown()
  await write('mappings/shop.yaml', `${before}# by hand\n`)
  for (const body of [{ digest }, {}]) {
    const { status, body: refused } = await save(body)
    assert.deepEqual([status, refused['code']], [409, 'WRONG_STATE'])
    assert.match(String(refused['error']), /^shop\.yaml has changed since it was shown/)
  }
  assert.equal(await file(), `${before}# by hand\n`)
  const newest = (await shown()).digest
  const twice = await Promise.all([save({ digest: newest, mapping: other }), save({ digest: newest })])
  assert.deepEqual(twice.map(({ status }) => status).sort(), [200, 409])
})

test('nothing is written outside of the folder of mapping files, and no secret or file is reached', async (t) => {
  const { save, folder } = await open(t, { 'elsewhere/x.yaml': '', 'reveille.env': 'KEY=canary' })
  await symlink(join(folder, 'elsewhere'), join(folder, 'mappings', 'out'))
  await mkdir(join(folder, 'mappings', 'sub'))
  await symlink(join(folder, 'elsewhere', 'x.yaml'), join(folder, 'mappings', 'sub', 'link.yaml'))
  await writeFile(join(folder, 'mappings', 'braces.json'), '{ "mappings": [] }')
  const files = [
    '../x.yaml',
    '/etc/x.yaml',
    'a/../../x.yaml',
    '.env',
    'braces.json',
    'none/x.yaml',
    'out/x.yaml',
    'sub/link.yaml',
  ]
  for (const file of [...files, 'x.yaml\n', 'a\\x.yaml']) {
    const { status, text } = await save({ file, mapping: other })
    assert.deepEqual([status, /"\/file"/.test(text)], [400, true], `${file} ${text}`)
  }
  for (const [body, pointer] of [
    [{ mapping: mapping.replace('id: orders\n', '') }, '/mapping'],
    [
      { mapping: `${other}transform: { module: stamp.ts, with: { key: "\${file:/etc/passwd}" } }\n` },
      '/mapping',
    ],
    [{ mapping: mapping.replace('key:', 'other:') }, '/mapping'],
    [{ mapping: other.replace('Refund', '[redacted]') }, '/mapping'],
    [{ test: 'tests: [{ name: a, request: { endpoint: orders, bodyFile: ../.env }, expect: {} }]' }, '/test'],
  ] as const) {
    const { status, text } = await save({ ...body }, '?dryRun=true')
    assert.ok(status === 400 && text.includes(`"${pointer}"`), `${status} ${text}`)
  }
  assert.deepEqual(await readdir(join(folder, 'elsewhere')), ['x.yaml'])
})
