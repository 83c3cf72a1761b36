import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate, migrations } from './migrations.ts'

const versionOf = (db: DatabaseSync) => db.prepare('PRAGMA user_version').get()?.['user_version']
const tablesOf = (db: DatabaseSync) =>
  db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map((row) => row['name'])

test('a new database gets every migration, an older one only those that it lacks', () => {
  const db = new DatabaseSync(':memory:')
  migrate(db, ['CREATE TABLE a (x)'])
  migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE b (x)', 'CREATE TABLE c (x)'])
  assert.deepEqual(tablesOf(db), ['a', 'b', 'c'])
  assert.equal(versionOf(db), 3)
  migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE b (x)', 'CREATE TABLE c (x)'])
  assert.equal(versionOf(db), 3)
})

test('a migration that fails takes the ones before it back', () => {
  const db = new DatabaseSync(':memory:')
  assert.throws(() => migrate(db, ['CREATE TABLE a (x)', 'CREATE TABLE a (x)']), /already exists/)
  assert.deepEqual(tablesOf(db), [])
  assert.equal(versionOf(db), 0)
})

test('a newer schema is refused, naming both versions', () => {
  const db = new DatabaseSync(':memory:')
  db.exec('PRAGMA user_version = 99')
  assert.throws(() => migrate(db), {
    code: 'SCHEMA_NEWER',
    message: new RegExp(`schema 99, .* up to ${migrations.length}:`),
  })
})
