import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmod,
  chown,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setInEnvFile } from './env-file.ts'
import { replaceFile } from './replace-file.ts'

const asRoot = { skip: process.getuid?.() !== 0 }

/** The owner, the group and the mode. */
async function accessOf(file: string) {
  const { uid, gid, mode } = await stat(file)
  return [uid, gid, mode & 0o777]
}

async function fileIn(t: { after(end: () => unknown): void }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-replace-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'reveille.yaml')
  await writeFile(file, 'before')
  return { folder, file }
}

test('the mode of a file stays, whatever the umask is', async (t) => {
  const { folder, file } = await fileIn(t)
  const usual = process.umask(0o077)
  t.after(() => process.umask(usual))
  for (const mode of [0o664, 0o600, 0o644]) {
    await chmod(file, mode)
    await replaceFile(file, `as ${mode}`)
    assert.equal((await stat(file)).mode & 0o777, mode)
    assert.equal(await readFile(file, 'utf8'), `as ${mode}`)
  }
  assert.deepEqual(await readdir(folder), ['reveille.yaml'])
})

test('a file of another user stays theirs', asRoot, async (t) => {
  const { file } = await fileIn(t)
  await chown(file, 1234, 2345)
  await replaceFile(file, 'after')
  assert.deepEqual((await accessOf(file)).slice(0, 2), [1234, 2345])
})

test('a link still leads to the file', async (t) => {
  const { folder, file } = await fileIn(t)
  const link = path.join(folder, 'link.yaml')
  await symlink('reveille.yaml', link)
  await replaceFile(link, 'after')
  assert.equal(await readlink(link), 'reveille.yaml')
  assert.equal(await readFile(file, 'utf8'), 'after')
})

test('a link that leads nowhere yet leads to the new file afterwards', async (t) => {
  const { folder } = await fileIn(t)
  await symlink('secrets.env', path.join(folder, '.env'))
  await replaceFile(path.join(folder, '.env'), 'KEY=x')
  assert.equal(await readlink(path.join(folder, '.env')), 'secrets.env')
  assert.equal(await readFile(path.join(folder, 'secrets.env'), 'utf8'), 'KEY=x')
  assert.equal((await stat(path.join(folder, 'secrets.env'))).mode & 0o777, 0o600)
})

test(
  'a new variable changes neither the owner nor the mode of `.env`, nor a link to it',
  asRoot,
  async (t) => {
    const { folder, file } = await fileIn(t)
    const secrets = path.join(folder, 'secrets.env')
    await writeFile(secrets, 'OLD=1\n', { mode: 0o640 })
    await chown(secrets, 1234, 2345)
    await symlink('secrets.env', path.join(folder, '.env'))
    await setInEnvFile(path.join(folder, '.env'), { NEW: '2' }, file)
    assert.equal(await readlink(path.join(folder, '.env')), 'secrets.env')
    assert.equal(await readFile(secrets, 'utf8'), 'OLD=1\nNEW=2\n')
    assert.deepEqual(await accessOf(secrets), [1234, 2345, 0o640])
  },
)

test('a `.env` that was not there belongs to the owner of the configuration', asRoot, async (t) => {
  const { folder, file } = await fileIn(t)
  await chown(file, 1234, 2345)
  await setInEnvFile(path.join(folder, '.env'), { NEW: '2' }, file)
  assert.deepEqual(await accessOf(path.join(folder, '.env')), [1234, 2345, 0o600])
})

test('a user who may write a file but not give one away leaves it to its owner', asRoot, async (t) => {
  const { folder, file } = await fileIn(t)
  await chown(file, 1234, 2345)
  await chmod(file, 0o666)
  await chmod(folder, 0o777)
  const module = new URL('./replace-file.ts', import.meta.url).href
  const script = `import { replaceFile } from ${JSON.stringify(module)}; await replaceFile(${JSON.stringify(file)}, 'after')`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    uid: 4321,
    gid: 4321,
    cwd: folder,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.equal(await readFile(file, 'utf8'), 'after')
  assert.equal((await stat(file)).uid, 1234)
  assert.deepEqual(await readdir(folder), ['reveille.yaml'])
})
