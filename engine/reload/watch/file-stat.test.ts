import assert from 'node:assert/strict'
import { lstatSync, type Stats } from 'node:fs'
import test from 'node:test'
import { fileStat, folderStat, isFileStat, isFolderStat, lookAt } from './file-stat.ts'

const stats = lstatSync(import.meta.filename)

function changed(changes: Partial<Stats>): Stats {
  return Object.assign(Object.create(stats), changes)
}

test('every visible change gives a file another stat', () => {
  const now = stats.mtimeMs + 60_000
  const stat = fileStat(stats, now)
  assert.equal(fileStat(changed({}), now + 60_000), stat)
  for (const key of ['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs', 'mode', 'uid', 'gid'] as const) {
    assert.notEqual(fileStat(changed({ [key]: stats[key] + 1 }), now), stat, key)
  }
})

test('a folder’s stat identifies it and its rights, and does not depend on its entries', () => {
  const stat = folderStat(stats)
  assert.equal(folderStat(changed({ mtimeMs: 1, ctimeMs: 1, size: 1, nlink: 9 })), stat)
  for (const key of ['dev', 'ino', 'birthtimeMs', 'mode', 'uid', 'gid'] as const) {
    assert.notEqual(folderStat(changed({ [key]: stats[key] + 1 })), stat, key)
  }
})

test('a file that was written just now has another stat the next time', () => {
  const fine = changed({ mtimeMs: 1_700_000_000_123.5 })
  assert.notEqual(fileStat(fine, fine.mtimeMs + 5), fileStat(fine, fine.mtimeMs + 15))
  assert.equal(fileStat(fine, fine.mtimeMs + 25), fileStat(fine, fine.mtimeMs + 900_000))
  const coarse = changed({ mtimeMs: 1_700_000_000_000 })
  assert.notEqual(fileStat(coarse, coarse.mtimeMs + 1000), fileStat(coarse, coarse.mtimeMs + 1999))
  assert.equal(fileStat(coarse, coarse.mtimeMs + 2000), fileStat(coarse, coarse.mtimeMs + 900_000))
})

test('a file with a time in the future has the same stat every time', () => {
  const ahead = changed({ mtimeMs: 1_700_000_000_123.5 })
  assert.equal(fileStat(ahead, ahead.mtimeMs - 5000), fileStat(ahead, ahead.mtimeMs - 4000))
})

test('a missing path is known by its error code, and files differ from folders', async () => {
  assert.equal(await lookAt('/no/such/file'), 'ENOENT')
  assert.equal((await lookAt(import.meta.filename)) instanceof Object, true)
  assert.deepEqual([isFileStat(fileStat(stats, 0)), isFileStat(folderStat(stats))], [true, false])
  assert.deepEqual([isFolderStat(folderStat(stats)), isFolderStat(undefined)], [true, false])
})
