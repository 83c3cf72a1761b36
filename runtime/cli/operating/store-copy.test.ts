import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSampler } from '../../store/contract/bench/samples.ts'
import { createIdMinter } from '../../store/id.ts'
import { openSqliteStore } from '../../store/sqlite/index.ts'
import { createCommandLine } from '../io-fixture.ts'
import { useDump } from './store-backup.ts'

/** Makes a store with two requests in the folder `data`. */
async function createFilledStore(t: TestContext, columns?: number) {
  const commands = await createCommandLine(t, {}, columns === undefined ? {} : { columns })
  const location = path.join(commands.cwd, 'data')
  const store = await openSqliteStore({
    location,
    now: Date.now,
    keepMs: 1_000_000,
    backlog: 10,
    historyMessages: 10,
  })
  const sample = createSampler({ mintId: createIdMinter(Date.now), clock: { now: Date.now } })
  await store.accept(sample.entry(sample.runAction()))
  await store.accept(sample.entry(sample.eventAction()))
  await store.close()
  return { ...commands, location }
}

test('a store is copied into an empty folder, and not into one that has a store', async (t) => {
  const { run, write, cwd, location } = await createFilledStore(t)
  await write('data/sources/gmail/consent.json', '{"token": "t"}')
  const { code, out } = await run('store', 'copy', '--from', 'data', '--to', 'other', '--json')
  assert.equal(code, 0)
  const { from, to, kinds } = JSON.parse(out)
  assert.deepEqual([from, to], [location, path.join(cwd, 'other')])
  const counts = Object.fromEntries(
    kinds.map(({ kind, count }: { kind: string; count: number }) => [kind, count]),
  )
  assert.deepEqual([counts.requests, counts.runs, counts.events, counts.tasks], [2, 1, 1, 2])
  assert.equal(await readFile(path.join(to, 'sources/gmail/consent.json'), 'utf8'), '{"token":"t"}\n')
  for (const { digest } of kinds) assert.match(digest, /^[0-9a-f]{16}$/)

  const again = await run('store', 'copy', '--from', 'data', '--to', 'other')
  assert.deepEqual([again.code, again.out], [1, ''])
  assert.match(again.err, /^The store in .*other is not empty: it has requests\.\n$/)
  const same = await run('store', 'copy', '--from', 'data', '--to', 'data')
  assert.deepEqual([same.code, same.err], [2, '--from and --to name the same store.\n'])
  const missing = await run('store', 'copy', '--from', 'nowhere', '--to', 'third')
  assert.equal(missing.code, 1)
  assert.match(missing.err, /^There is no store in .*nowhere\.\n$/)
})

test('a terminal shows how far a copy is, and one line at its end', async (t) => {
  const { run } = await createFilledStore(t, 100)
  const { code, out, err } = await run('store', 'copy', '--from', 'data', '--to', 'other')
  assert.equal(code, 0)
  assert.match(err, /█+░* {2}\d+ % of 6 records/)
  assert.match(out, /^Copied 6 records from .*data to .*other, among them 2 requests and 1 run\./)
})

test('of a store in PostgreSQL a backup names the program that makes it, without the password', () => {
  const store =
    'postgres://reveille:a-s@cret@db1.example.com:5432,db2.example.com/reveille?sslmode=verify-full'
  assert.match(
    useDump(store, 'nightly copy'),
    /\npg_dump --format custom --schema reveille --file 'nightly copy' 'postgres:\/\/reveille@db1\.example\.com:5432,db2\.example\.com\/reveille\?sslmode=verify-full'$/,
  )
})
