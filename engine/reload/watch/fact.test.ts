import assert from 'node:assert/strict'
import { lstatSync, type Stats } from 'node:fs'
import test from 'node:test'
import { fileFact, folderFact, isFileFact, isFolderFact, lookAt } from './fact.ts'

const stats = lstatSync(import.meta.filename)

function changed(changes: Partial<Stats>): Stats {
  return Object.assign(Object.create(stats), changes)
}

test('whatever shows from outside makes a file’s fact another one', () => {
  const now = stats.mtimeMs + 60_000
  const fact = fileFact(stats, now)
  assert.equal(fileFact(changed({}), now + 60_000), fact)
  for (const key of ['dev', 'ino', 'size', 'mtimeMs', 'ctimeMs', 'mode', 'uid', 'gid'] as const) {
    assert.notEqual(fileFact(changed({ [key]: stats[key] + 1 }), now), fact, key)
  }
})

test('a folder’s fact says which folder it is and who may read it, and not what happens in it', () => {
  const fact = folderFact(stats)
  assert.equal(folderFact(changed({ mtimeMs: 1, ctimeMs: 1, size: 1, nlink: 9 })), fact)
  for (const key of ['dev', 'ino', 'birthtimeMs', 'mode', 'uid', 'gid'] as const) {
    assert.notEqual(folderFact(changed({ [key]: stats[key] + 1 })), fact, key)
  }
})

test('a file that was written this very moment looks different the next time', () => {
  const fine = changed({ mtimeMs: 1_700_000_000_123.5 })
  assert.notEqual(fileFact(fine, fine.mtimeMs + 5), fileFact(fine, fine.mtimeMs + 15))
  assert.equal(fileFact(fine, fine.mtimeMs + 25), fileFact(fine, fine.mtimeMs + 900_000))
  const coarse = changed({ mtimeMs: 1_700_000_000_000 })
  assert.notEqual(fileFact(coarse, coarse.mtimeMs + 1000), fileFact(coarse, coarse.mtimeMs + 1999))
  assert.equal(fileFact(coarse, coarse.mtimeMs + 2000), fileFact(coarse, coarse.mtimeMs + 900_000))
})

test('a file from the future looks the same every time', () => {
  const ahead = changed({ mtimeMs: 1_700_000_000_123.5 })
  assert.equal(fileFact(ahead, ahead.mtimeMs - 5000), fileFact(ahead, ahead.mtimeMs - 4000))
})

test('what is not there is told by its code, and kinds are told apart', async () => {
  assert.equal(await lookAt('/no/such/file'), 'ENOENT')
  assert.equal((await lookAt(import.meta.filename)) instanceof Object, true)
  assert.deepEqual([isFileFact(fileFact(stats, 0)), isFileFact(folderFact(stats))], [true, false])
  assert.deepEqual([isFolderFact(folderFact(stats)), isFolderFact(undefined)], [true, false])
})
