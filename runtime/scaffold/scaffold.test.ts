import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { scaffold } from './scaffold.ts'

const samples = ['samples/github-pull-request.json', 'samples/stripe-invoice-payment-failed.json']

async function createFolder(t: TestContext) {
  const parent = await mkdtemp(path.join(tmpdir(), 'reveille-scaffold-'))
  t.after(() => rm(parent, { recursive: true, force: true }))
  const folder = path.join(parent, 'local')
  return {
    parent,
    folder,
    run: () => scaffold(folder),
    read: (name: string) => readFile(path.join(folder, name), 'utf8'),
    async write(name: string, text: string) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), text)
    },
  }
}

test('a new folder gets the configuration, mappings, a place for transforms, and secrets', async (t) => {
  const { parent, folder } = await createFolder(t)
  const { written } = await scaffold(folder)
  assert.deepEqual(written, [
    '.env',
    '.gitignore',
    'mappings/github.yaml',
    'mappings/stripe.yaml',
    'reveille.yaml',
    ...samples,
    'transforms/README.md',
  ])
  assert.deepEqual(await readdir(parent), ['local'], 'nothing else is left behind')
})

test('the two tokens are random, long and different, and only their owner can read them', async (t) => {
  const { folder } = await createFolder(t)
  await scaffold(folder)
  const file = path.join(folder, '.env')
  const text = await readFile(file, 'utf8')
  const [hook, gateway] = ['REVEILLE_HOOK_TOKEN', 'REVEILLE_GATEWAY_TOKEN'].map(
    (name) => new RegExp(`^${name}=([\\w-]{43})$`, 'm').exec(text)?.[1],
  )
  assert.ok(hook && gateway)
  assert.notEqual(hook, gateway)
  if (process.platform !== 'win32') assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('a folder without a configuration gets the missing files, and keeps its own', async (t) => {
  const { parent, run, read, write } = await createFolder(t)
  await write('.env', 'REVEILLE_HOOK_TOKEN=mine')
  await write('mappings/github.yaml', 'mine')
  const { written } = await run()
  assert.deepEqual(written, [
    '.gitignore',
    'mappings/stripe.yaml',
    'reveille.yaml',
    ...samples,
    'transforms/README.md',
  ])
  assert.equal(await read('.env'), 'REVEILLE_HOOK_TOKEN=mine')
  assert.equal(await read('mappings/github.yaml'), 'mine')
  assert.deepEqual(await readdir(parent), ['local'])
})

test('an empty folder is filled and not replaced, since a shell may be in it', async (t) => {
  const { folder } = await createFolder(t)
  await mkdir(folder)
  const { ino } = await stat(folder)
  const { written } = await scaffold(folder)
  assert.equal(written.length, 8)
  assert.equal((await stat(folder)).ino, ino)
})

test('two commands at one time write one whole folder', async (t) => {
  const { parent, folder } = await createFolder(t)
  const both = await Promise.all([scaffold(folder), scaffold(folder)])
  assert.equal(both.flatMap(({ written }) => written).length, 8, 'each file was written once')
  assert.deepEqual(await readdir(parent), ['local'])
})

test('private files are added to a .gitignore once, and its own lines stay', async (t) => {
  const { folder, run, read, write } = await createFolder(t)
  await write('.gitignore', '/node_modules\n*.log')
  assert.equal((await run()).ignored, true)
  const text = await read('.gitignore')
  assert.match(text, /^\/node_modules\n\*\.log\n# Of the Reveille gateway.*\n\.env\ndata\/\n$/)
  await rm(path.join(folder, 'reveille.yaml'))
  assert.deepEqual(await run(), { written: ['reveille.yaml'], ignored: false })
  assert.equal(await read('.gitignore'), text)
})
