import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { createIdMinter } from '../../id.ts'
import {
  blobOfId,
  blobOfTime,
  createFreePlaces,
  createPlaceFinder,
  idOfBlob,
  placeOfBlob,
  placeOfTime,
  timeOfPlace,
} from './ids.ts'

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

test('places are in the order of ids, exact until 2089, and say the millisecond of their id', () => {
  for (const time of [1, 1_577_836_799_999, 1_700_000_000_000, Date.UTC(2089)]) {
    const mintId = createIdMinter(() => time)
    const places = Array.from({ length: 4_096 }, () => placeOfBlob(blobOfId(mintId())))
    assert.equal(new Set(places).size, 4_096)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
    assert.ok(places.every((place) => Number.isSafeInteger(place) && timeOfPlace(place) === time))
    assert.equal(placeOfTime(time), places[0])
  }
  assert.throws(() => placeOfBlob(blobOfId(createIdMinter(() => Date.UTC(2091))())), RangeError)
})

test('a record whose place is taken gets another one of its millisecond, and is found there by its whole id', () => {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE t (place INTEGER PRIMARY KEY, id BLOB NOT NULL)')
  const insert = db.prepare('INSERT INTO t VALUES (?, ?)')
  const freePlace = createFreePlaces(db, 't')
  const find = createPlaceFinder(db, 't')
  const ids = Array.from({ length: 50 }, () => blobOfId(createIdMinter(() => 1_700_000_000_000)()))
  for (const id of ids) insert.run(freePlace(id), id)
  assert.equal(new Set(ids.map(placeOfBlob)).size, 1)
  assert.equal(new Set(ids.map(find)).size, 50)
  for (const id of ids)
    assert.deepEqual(
      db.prepare('SELECT id FROM t WHERE place = ?').get(find(id) ?? 0)?.['id'],
      new Uint8Array(id),
    )
  assert.equal(find(blobOfId(createIdMinter(() => 1_700_000_000_000)())), undefined)
})
