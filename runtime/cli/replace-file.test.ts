import assert from 'node:assert/strict'
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
import { replaceFile } from './replace-file.ts'

async function fileIn(t: { after(end: () => unknown): void }) {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-replace-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'reveille.yaml')
  await writeFile(file, 'before')
  return { folder, file }
}

test('what others may do with a file stays, whatever new files usually have', async (t) => {
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

test('a file of somebody else stays theirs', { skip: process.getuid?.() !== 0 }, async (t) => {
  const { file } = await fileIn(t)
  await chown(file, 1234, 2345)
  await replaceFile(file, 'after')
  const { uid, gid } = await stat(file)
  assert.deepEqual([uid, gid], [1234, 2345])
})

test('a link goes on leading to the file', async (t) => {
  const { folder, file } = await fileIn(t)
  const link = path.join(folder, 'link.yaml')
  await symlink('reveille.yaml', link)
  await replaceFile(link, 'after')
  assert.equal(await readlink(link), 'reveille.yaml')
  assert.equal(await readFile(file, 'utf8'), 'after')
})
