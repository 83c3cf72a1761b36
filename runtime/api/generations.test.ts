import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { GenerationRecord, ReloadResult } from '@reveille/engine'
import {
  configuration,
  gatewayToken,
  hookToken,
  type Installation,
  install,
} from '../../test/installation.ts'
import type { Page } from '../store/port.ts'

type Item = GenerationRecord & { readonly rolledBack?: true; readonly isCurrent?: true }

const mapping = (text: string) =>
  `mappings:\n  - { id: bell, match: { path: bell }, action: wake, text: "${text}" }\n`

async function post({ ask }: Installation, path: string) {
  const { status, body } = await ask(path, { method: 'POST' })
  return { status, result: body as unknown as ReloadResult }
}

/** Generation 1 is `one`, 2 `two`; the files say `two`. */
async function openTwo(t: TestContext) {
  const installed = await install(t, { 'mappings/bell.yaml': mapping('one') })
  await installed.write('mappings/bell.yaml', mapping('two'))
  const reloaded = await post(installed, '/api/reload')
  const ring = async () => {
    const { body } = await installed.post('/hooks/bell', {})
    const event = await installed.read<{ text: string; generation: number }>(`/api/events/${body['eventId']}`)
    return [event.text, event.generation]
  }
  const items = async () => (await installed.read<Page<Item>>('/api/generations')).items
  return { ...installed, installed, reloaded, ring, items }
}

test('a reload by request answers what went live, and nothing goes live before', async (t) => {
  const { reloaded, ring, installed } = await openTwo(t)
  const { status, result } = reloaded
  assert.deepEqual(
    [status, result.ok, result.outcome, result.generation, result.changes.mappings.changed],
    [200, true, 'live', 2, ['bell']],
  )
  assert.match(String(result.digest), /^[0-9a-f]{64}$/)
  assert.ok(result.tookMs >= 0)
  assert.deepEqual(await ring(), ['two', 2])
  const again = await post(installed, '/api/reload')
  assert.deepEqual([again.status, again.result.outcome, again.result.generation], [200, 'unchanged', 2])
})

test('a refused reload is a conflict with file, line, column and hint, and is listed until the files are good', async (t) => {
  const { installed, write, items, ring } = await openTwo(t)
  await write('mappings/bell.yaml', 'mappings:\n  - acton: wake\n')
  const { status, result } = await post(installed, '/api/reload')
  assert.deepEqual([status, result.ok, result.outcome, result.generation], [409, false, 'rejected', 2])
  assert.partialDeepStrictEqual(result.diagnostics[0], {
    severity: 'error',
    code: 'UNKNOWN_KEY',
    place: {
      file: join(installed.folder, 'mappings/bell.yaml'),
      line: 2,
      column: 5,
      text: '  - acton: wake',
    },
    hint: 'Did you mean `action`?',
  })
  const [refused, live] = await items()
  assert.partialDeepStrictEqual(refused, { state: 'rejected', isCurrent: true, digest: result.digest })
  assert.deepEqual(refused?.diagnostics, result.diagnostics)
  assert.equal(refused?.generation, undefined)
  assert.partialDeepStrictEqual(live, { state: 'live', generation: 2, mappings: 1 })
  assert.deepEqual(await ring(), ['two', 2])

  await write('mappings/bell.yaml', mapping('two'))
  await post(installed, '/api/reload')
  assert.equal((await items())[0]?.isCurrent, undefined)
})

test('generations are listed newest first, in pages, and one is shown with the names of its files', async (t) => {
  const { installed, write, read, ask, folder } = await openTwo(t)
  await write('mappings/more.yaml', mapping('more').replaceAll('bell', 'more'))
  await post(installed, '/api/reload')
  const pages: Item[] = []
  for (let query = '?limit=2'; query !== ''; ) {
    const { items, next } = await read<Page<Item>>(`/api/generations${query}`)
    assert.ok(items.length <= 2)
    pages.push(...items)
    query = next === undefined ? '' : `?limit=2&cursor=${next}`
  }
  assert.deepEqual(
    pages.map(({ generation, state }) => [generation, state]),
    [
      [3, 'live'],
      [2, 'retired'],
      [1, 'retired'],
    ],
  )
  const shown = await read<Item & { files: string[] }>('/api/generations/3')
  const { files, ...item } = shown
  assert.deepEqual(item, pages[0])
  assert.deepEqual(
    files.toSorted(),
    ['mappings/bell.yaml', 'mappings/more.yaml', 'reveille.yaml'].map((name) => join(folder, name)),
  )
  assert.doesNotMatch((await ask('/api/generations/3')).text, /match:/)
})

test('a rollback serves a kept generation until the files change or a reload ends it', async (t) => {
  const { installed, ring, items, write } = await openTwo(t)
  const { status, result } = await post(installed, '/api/generations/1/rollback')
  assert.deepEqual([status, result.outcome, result.generation], [200, 'live', 1])
  assert.deepEqual(await ring(), ['one', 1])
  assert.deepEqual(
    (await items()).map(({ generation, state, rolledBack }) => [generation, state, rolledBack]),
    [
      [1, 'live', true],
      [2, 'retired', undefined],
    ],
  )
  const ended = await post(installed, '/api/reload')
  assert.deepEqual([ended.status, ended.result.outcome, ended.result.generation], [200, 'live', 2])
  assert.deepEqual(await ring(), ['two', 2])
  assert.ok((await items()).every(({ rolledBack }) => rolledBack === undefined))

  await post(installed, '/api/generations/1/rollback')
  await write('mappings/bell.yaml', 'mappings: [{ no end\n')
  assert.equal((await post(installed, '/api/reload')).result.outcome, 'rejected')
  assert.deepEqual(await ring(), ['one', 1], 'files that are refused end nothing')
  await write('mappings/bell.yaml', mapping('three'))
  const forward = await post(installed, '/api/reload')
  assert.equal(forward.result.generation, 3)
  assert.deepEqual(await ring(), ['three', 3])
  assert.ok((await items()).every(({ rolledBack }) => rolledBack === undefined))
})

test('a generation that is not kept is answered 404 with the list of those that are', async (t) => {
  const { ask } = await openTwo(t)
  const cases: [string, RegExp][] = [
    ['7', /^Generation 7 is not kept; kept are 2, 1\.$/],
    ['0', /^Generation 0 is not kept/],
    ['-1', /^A generation is a number/],
    ['one', /^A generation is a number/],
    ['1e0', /^A generation is a number/],
    ['99999999999999999999', /^A generation is a number/],
  ]
  for (const [number, expected] of cases) {
    for (const [path, method] of [
      [`/api/generations/${number}`, 'GET'],
      [`/api/generations/${number}/rollback`, 'POST'],
    ] as const) {
      const { status, body } = await ask(path, { method })
      assert.deepEqual([status, body['code']], [404, 'NOT_FOUND'], path)
      assert.match(String(body['error']), expected)
    }
  }
})

test('a body of a route that takes none is ignored', async (t) => {
  const { ask } = await openTwo(t)
  const bodies: [string | undefined, string][] = [
    ['application/json', ''],
    ['application/json', '{'],
    ['text/plain', 'x'.repeat(2_000_000)],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['nonsense', 'x'],
  ]
  for (const [type, payload] of bodies) {
    const headers = { authorization: `Bearer ${gatewayToken}`, ...(type && { 'content-type': type }) }
    const { status, text } = await ask('/api/reload', { method: 'POST', headers, payload })
    assert.equal(status, 200, `${type}: ${text}`)
  }
})

test('an invalid query is refused, and nothing is reloaded', async (t) => {
  const { ask, write, gateway } = await openTwo(t)
  await write('mappings/bell.yaml', mapping('three'))
  for (const [path, pointer] of [
    ['/api/reload?limit=5', '/limit'],
    ['/api/reload?dryRun=perhaps', '/dryRun'],
    ['/api/reload?dryRun=true&limit=0', '/limit'],
    ['/api/reload?force=true', '/force'],
  ]) {
    const { status, body } = await ask(String(path), { method: 'POST' })
    assert.deepEqual([status, body['code']], [400, 'INVALID_FIELD'], path)
    assert.equal((body['details'] as { pointer: string }[])[0]?.pointer, pointer)
  }
  for (const cursor of ['nonsense', '0-1']) {
    assert.equal((await ask(`/api/generations?cursor=${cursor}`)).status, 400)
  }
  assert.equal(gateway.current().generation, 2)
})

test('a gateway that drains reloads nothing', async (t) => {
  const { gateway, ask } = await openTwo(t)
  const closing = gateway.close()
  const asked = ['/api/reload', '/api/generations/1/rollback'].map(async (path) => {
    const { status, body } = await ask(path, { method: 'POST' })
    assert.deepEqual([status, body['code']], [503, 'DRAINING'])
  })
  await Promise.all([closing, ...asked])
})

test('no secret is in the archive: not from .env, a reference, or a line that was refused', async (t) => {
  const installed = await install(t, {
    '.env': 'PROMPT=env-canary-0123456789\n',
    secret: 'file-canary-0123456789\n',
    'reveille.yaml': configuration
      .replace(`token: ${hookToken}`, `token: [${hookToken}, "\${file:secret}"]`)
      .replace('agents: {', 'agents: { defaults: { systemPrompt: "${PROMPT}" },'),
    'mappings/bell.yaml': mapping('one'),
  })
  const { agents, hooks } = installed.gateway.current().snapshot.settings
  assert.match(`${agents.defaults.systemPrompt} ${hooks.tokens}`, /env-canary.*file-canary/)
  const { folder, write } = installed
  const broken = [
    `${configuration}channels: { slack: { botToken: inline-canary-0123456789 }\n`,
    `${configuration}slack:\n  botToken: inline-canary-0123456789\n`,
    'hooks:\n  token: inline-canary-0123456789\n  tokn: inline-canary-0123456789\n',
  ]
  for (const text of broken) {
    await write('reveille.yaml', text)
    assert.equal((await post(installed, '/api/reload')).status, 409)
  }
  await installed.gateway.close({ graceMs: 0 })
  const archive = join(folder, 'data', 'generations')
  const names = await readdir(archive, { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    names
      .filter((each) => each.isFile())
      .map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  )
  assert.equal(texts.length, 2)
  for (const text of texts) assert.doesNotMatch(text, /canary/)
})

test('two generations are compared file by file, one file is read, and no secret is shown', async (t) => {
  const { read, ask, write, installed, folder } = await openTwo(t)
  await write('reveille.yaml', configuration.replace('hooks: {', 'hooks: { presets: [github],'))
  await write('mappings/long.yaml', `# ${'x'.repeat(300_000)}\n${mapping('long').replaceAll('bell', 'long')}`)
  await post(installed, '/api/reload')
  const compare = async (to: number, from: number) => {
    const path = `/api/generations/${to}/compare?with=${from}`
    const { files } = await read<{ files: { path: string; name: string; change: string }[] }>(path)
    const named = files.map(({ path: _path, name, ...rest }) => ({ name: basename(name), ...rest }))
    // The answer is in the order of paths, and where the preset is depends on where the product is.
    return named.sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  const [name, change] = ['bell.yaml', 'changed']
  assert.deepEqual(await compare(2, 1), [{ name, change, before: mapping('one'), after: mapping('two') }])
  assert.deepEqual(await compare(2, 2), [])
  for (const [to, from, change, text] of [
    [3, 2, 'added', 'after'],
    [2, 3, 'removed', 'before'],
  ] as const) {
    const [preset, long, config] = await compare(to, from)
    assert.deepEqual(long, { name: 'long.yaml', change, isCut: true })
    assert.deepEqual([config?.name, config?.change], ['reveille.yaml', 'changed'])
    assert.deepEqual(Object.keys(preset ?? {}), ['name', 'change', text])
    assert.deepEqual([preset?.name, preset?.change], ['github.yaml', change])
  }

  const file = (asked: string) => ask(`/api/generations/3/file?path=${encodeURIComponent(asked)}`)
  const path = join(folder, 'mappings/bell.yaml')
  for (const asked of [path, 'mappings/bell.yaml'])
    assert.deepEqual((await file(asked)).body, { path, name: 'mappings/bell.yaml', text: mapping('two') })
  assert.match(String((await file('preset github')).body['text']), /^# GitHub/)
  assert.equal((await file('mappings/long.yaml')).body['text'], undefined)
  for (const asked of ['/etc/passwd', '../reveille.yaml', 'mappings/none.yaml'])
    assert.equal((await file(asked)).status, 404, asked)
  const { text } = await file('reveille.yaml')
  assert.match(text, /token: …/)
  for (const secret of [gatewayToken, hookToken]) assert.ok(!text.includes(secret))
})

test('a dry run of a rollback answers what would change, and nothing goes live', async (t) => {
  const { ask, ring, items } = await openTwo(t)
  const { status, body } = await ask('/api/generations/1/rollback?dryRun=true', { method: 'POST' })
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, {
    reload: { outcome: 'live', changes: { mappings: { changed: ['bell'] } } },
  })
  assert.deepEqual(await ring(), ['two', 2])
  assert.deepEqual(
    (await items()).map(({ state }) => state),
    ['live', 'retired'],
  )
  assert.equal((await ask('/api/generations/9/rollback?dryRun=true', { method: 'POST' })).status, 404)
})
