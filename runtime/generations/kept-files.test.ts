import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { loadConfiguration } from '@reveille/engine'
import { createFolder } from '../../test/installation.ts'
import { presetsFolder } from '../presets-folder.ts'
import { createKeptFiles } from './index.ts'

const files = {
  '.env': 'HOOK=env-canary-one\n',
  'run/secret': 'file-canary-one\n',
  'reveille.yaml':
    'hooks: { enabled: true, token: ["${HOOK}", "${file:run/secret}"], presets: [github], mappingsDir: maps }\n',
  'maps/b.yaml': 'mappings: [{ id: b, match: { path: b }, message: b, schema: ../schemas/b.json }]\n',
  'maps/deep/a.json': '{ "mappings": [{ "id": "a", "match": { "path": "a" }, "message": "a" }] }',
  'schemas/b.json': '{ "type": "object", "required": ["number"] }',
  'maps/with-mark.yaml': '\ufeffmappings: [{ id: marked, match: { path: c }, message: "ü\u2028🔔" }]\n',
  'maps/tests.yaml':
    'tests: [{ name: one, request: { endpoint: b, bodyFile: ../bodies/b.txt }, expect: { status: 400 } }]\n',
  'bodies/b.txt': '{}',
}

async function createBench(t: TestContext) {
  const folder = await createFolder(t, files)
  const file = join(folder, 'reveille.yaml')
  const load = async (kept?: ReadonlyMap<string, string>) => {
    const from = kept && { files: createKeptFiles(kept) }
    const loaded = await loadConfiguration({ file, env: {}, presets: presetsFolder(), ...from })
    if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
    return loaded.configuration
  }
  return { folder, load, write: (name: string, text: string) => writeFile(join(folder, name), text) }
}

test('a kept generation loads as it did, whatever was done to the files since', async (t) => {
  const { folder, load, write } = await createBench(t)
  const before = await load()
  const { sources } = before
  await write('reveille.yaml', 'broken: [\n')
  await write('maps/b.yaml', 'mappings: [{ id: other, match: { path: b }, message: other }]\n')
  await write('maps/late.yaml', 'mappings: [{ id: late, match: { path: late }, message: late }]\n')
  for (const gone of ['maps/deep', 'schemas', 'bodies']) await rm(join(folder, gone), { recursive: true })

  const again = await load(sources)
  assert.equal(again.digest, before.digest)
  assert.deepEqual(again.sources, sources)
  assert.deepEqual(again.settings, before.settings)
  const entries = ({ mappings }: typeof again) =>
    mappings.map(({ id, value, label }) => ({ id, value, label }))
  assert.deepEqual(entries(again), entries(before))
  assert.equal(again.tests.length, before.tests.length)
})

test('secrets are as they are now: neither .env nor the target of a reference is kept', async (t) => {
  const { load, write } = await createBench(t)
  const before = await load()
  assert.doesNotMatch(JSON.stringify([...before.sources]), /canary/)
  await write('.env', 'HOOK=env-canary-two\n')
  await write('run/secret', 'file-canary-two\n')
  const again = await load(before.sources)
  assert.deepEqual(again.settings.hooks.tokens, ['env-canary-two', 'file-canary-two'])
  assert.notEqual(again.digest, before.digest)
})

test('a secret file is not kept either where it is also named as a body', async (t) => {
  const { load, write } = await createBench(t)
  const tests = ['../.env', '../run/secret'].map(
    (file) => `{ name: "${file}", request: { endpoint: b, bodyFile: ${file} }, expect: { status: 400 } }`,
  )
  await write('maps/tests.yaml', `tests: [${tests.join(', ')}]\n`)
  const { sources, tests: loaded } = await load()
  assert.equal(loaded.filter(({ origin }) => origin.kind === 'file').length, 2)
  assert.doesNotMatch(JSON.stringify([...sources]), /canary/)
})

test('a folder of mapping files that held none holds none', async (t) => {
  const { load, write, folder } = await createBench(t)
  await rm(join(folder, 'maps'), { recursive: true })
  await write('reveille.yaml', 'hooks: {}\n')
  const before = await load()
  assert.equal(before.mappings.length, 0)
  await mkdir(join(folder, 'mappings'))
  await write('mappings/late.yaml', 'mappings: [{ id: late, match: { path: late }, message: late }]\n')
  assert.equal((await load(before.sources)).mappings.length, 0)
})
