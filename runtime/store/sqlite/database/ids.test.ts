import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdMinter } from '../../id.ts'
import { blobOfId, blobOfTime, idOfBlob } from './ids.ts'

test('an id survives its form on disk, and blobs sort as ids do', () => {
  const mintId = createIdMinter(() => 1_700_000_000_000)
  const [one, two] = [mintId(), mintId()]
  assert.equal(idOfBlob(blobOfId(one)), one)
  assert.ok(Buffer.compare(blobOfId(one), blobOfId(two)) < 0)
})

test('a text that is no id has no blob', () => {
  for (const text of ['', 'no id', 'g'.repeat(36), '0'.repeat(37)]) {
    assert.throws(() => blobOfId(text), TypeError)
  }
})

test('the blob of a time divides the ids minted before it from those minted after', () => {
  const time = 1_700_000_000_000
  const idAt = (at: number) => blobOfId(createIdMinter(() => at)())
  assert.ok(Buffer.compare(idAt(time - 1), blobOfTime(time)) < 0)
  assert.ok(Buffer.compare(idAt(time), blobOfTime(time)) > 0)
})
