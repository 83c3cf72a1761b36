import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { scaffold } from './scaffold.ts'

const template = path.join(import.meta.dirname, 'template')

async function createFolder(t: TestContext) {
  const parent = await mkdtemp(path.join(tmpdir(), 'reveille-scaffold-'))
  t.after(() => rm(parent, { recursive: true, force: true }))
  return { parent, folder: path.join(parent, 'local') }
}

test('a new folder gets the configuration, mappings, a place for transforms, and secrets', async (t) => {
  const { parent, folder } = await createFolder(t)
  const { written } = await scaffold({ folder, template })
  assert.deepEqual(written, [
    '.env',
    '.gitignore',
    'mappings/github.yaml',
    'mappings/stripe.yaml',
    'reveille.yaml',
    'transforms/README.md',
  ])
  assert.deepEqual(await readdir(parent), ['local'], 'nothing else is left behind')
})

test('the two tokens are random, long and different, and only their owner can read them', async (t) => {
  const { folder } = await createFolder(t)
  await scaffold({ folder, template })
  const file = path.join(folder, '.env')
  const text = await readFile(file, 'utf8')
  const [hook, gateway] = ['REVEILLE_HOOK_TOKEN', 'REVEILLE_GATEWAY_TOKEN'].map(
    (name) => new RegExp(`^${name}=([\\w-]{43})$`, 'm').exec(text)?.[1],
  )
  assert.ok(hook && gateway)
  assert.notEqual(hook, gateway)
  if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('nothing is written where there is a configuration', async (t) => {
  const { folder } = await createFolder(t)
  await mkdir(folder)
  await writeFile(path.join(folder, 'reveille.yaml'), 'mine')
  assert.deepEqual(await scaffold({ folder, template }), { written: [], ignored: false })
  assert.deepEqual(await readdir(folder), ['reveille.yaml'])
  assert.equal(await readFile(path.join(folder, 'reveille.yaml'), 'utf8'), 'mine')
})

test('a folder without a configuration gets the missing files, and keeps its own', async (t) => {
  const { parent, folder } = await createFolder(t)
  await mkdir(path.join(folder, 'mappings'), { recursive: true })
  await writeFile(path.join(folder, '.env'), 'REVEILLE_HOOK_TOKEN=mine')
  await writeFile(path.join(folder, 'mappings', 'github.yaml'), 'mine')
  const { written } = await scaffold({ folder, template })
  assert.deepEqual(written, ['.gitignore', 'mappings/stripe.yaml', 'reveille.yaml', 'transforms/README.md'])
  assert.equal(await readFile(path.join(folder, '.env'), 'utf8'), 'REVEILLE_HOOK_TOKEN=mine')
  assert.equal(await readFile(path.join(folder, 'mappings', 'github.yaml'), 'utf8'), 'mine')
  assert.deepEqual(await readdir(parent), ['local'])
})

test('an empty folder is filled and not replaced, since a shell may be in it', async (t) => {
  const { folder } = await createFolder(t)
  await mkdir(folder)
  const { ino } = await stat(folder)
  const { written } = await scaffold({ folder, template })
  assert.equal(written.length, 6)
  assert.equal((await stat(folder)).ino, ino)
})

test('two commands at one time write one whole folder', async (t) => {
  const { parent, folder } = await createFolder(t)
  const both = await Promise.all([scaffold({ folder, template }), scaffold({ folder, template })])
  assert.equal(both.flatMap(({ written }) => written).length, 6, 'each file was written once')
  assert.deepEqual(await readdir(parent), ['local'])
})

test('private files are added to a .gitignore once, and its own lines stay', async (t) => {
  const { folder } = await createFolder(t)
  const file = path.join(folder, '.gitignore')
  await mkdir(folder)
  await writeFile(file, '/node_modules\n*.log')
  assert.equal((await scaffold({ folder, template })).ignored, true)
  const text = await readFile(file, 'utf8')
  assert.match(text, /^\/node_modules\n\*\.log\n# Of the Reveille gateway.*\n\.env\ndata\/\n$/)
  await rm(path.join(folder, 'reveille.yaml'))
  assert.deepEqual(await scaffold({ folder, template }), { written: ['reveille.yaml'], ignored: false })
  assert.equal(await readFile(file, 'utf8'), text)
})

test('payloads to try mappings on are copied where they are given', async (t) => {
  const { folder } = await createFolder(t)
  const samples = path.join(import.meta.dirname, 'samples')
  const { written } = await scaffold({ folder, template, samples })
  assert.ok(written.includes(path.join('samples', 'github-pull-request.json')), String(written))
})
