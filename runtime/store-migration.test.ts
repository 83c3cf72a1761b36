import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './observe/log.ts'
import { createMigrationReporter } from './store-migration.ts'

const step = { from: 5, to: 6, backup: '/data/reveille.db.schema-5' }

function createReporter(address?: { host: string; port: number }) {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const { log, flush } = createLog({ level: 'info', format: 'json', stream })
  return { reporter: createMigrationReporter({ log, ...(address && { address }) }), lines, flush }
}

test('while the store is migrated every request is answered 503 with how far it is, and the process is alive', async () => {
  const { reporter } = createReporter({ host: '127.0.0.1', port: 0 })
  reporter.note({ ...step, done: 0, total: 0 })
  const url = `http://127.0.0.1:${await reporter.port()}`
  const post = () => fetch(`${url}/hooks/wake`, { method: 'POST', body: '{"text": "hi"}' })
  const first = await post()
  assert.deepEqual([first.status, first.headers.get('retry-after')], [503, '5'])
  assert.deepEqual(await first.json(), {
    ok: false,
    code: 'STORE_UNAVAILABLE',
    message: 'The gateway is not ready: its store is backed up before a migration.',
    reason: 'its store is backed up before a migration',
  })
  reporter.note({ ...step, done: 1_000, total: 4_000 })
  const ready = await fetch(`${url}/readyz`)
  assert.deepEqual(
    [ready.status, ((await ready.json()) as { reason: string }).reason],
    [503, 'its store is migrated, 25 % is done'],
  )
  assert.deepEqual(await (await fetch(`${url}/healthz`)).json(), { ok: true })
  await reporter.end(true)
  await assert.rejects(post)
})

test('the log says where the old store is kept, how far the migration is, and how long it took', async () => {
  const { reporter, lines, flush } = createReporter()
  reporter.note({ ...step, done: 0, total: 0 })
  for (let done = 1_000; done <= 40_000; done += 1_000) reporter.note({ ...step, done, total: 40_000 })
  await reporter.end(true)
  await flush()
  const [first, ...rest] = lines
  assert.deepEqual([first?.['event'], first?.['backup']], ['store-migrating', step.backup])
  assert.deepEqual(
    rest.slice(0, -1).map(({ percent }) => percent),
    [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
  )
  assert.equal(rest.at(-1)?.['event'], 'store-migrated')
})

test('a start without a migration says nothing about one', async () => {
  const { reporter, lines, flush } = createReporter({ host: '127.0.0.1', port: 0 })
  await reporter.end(true)
  await flush()
  assert.deepEqual([lines, await reporter.port()], [[], undefined])
})
