import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdMinter } from '../store/id.ts'
import type { PageOptions } from '../store/port.ts'
import type { AdminOptions } from './options.ts'
import { createRequestBodyHandlers } from './request-bodies.ts'

/** A store with so many requests, each with one replay. `asked` counts the questions. */
function createHistory(count: number) {
  const mintId = createIdMinter(() => 1)
  const ids = Array.from({ length: count }, () => mintId())
  const history = { asked: 0, raw: { destroyed: false } }
  const read = {
    requests: async ({ cursor = '0', limit = 50 }: PageOptions) => {
      history.asked += 1
      const end = Number(cursor) + limit
      const items = ids.slice(Number(cursor), end).map((id) => ({ id }))
      return end < ids.length ? { items, next: String(end) } : { items }
    },
    replaysOf: async (of: readonly string[]) => {
      history.asked += 1
      return of.map((id) => `${id} again`)
    },
  }
  const options = { store: { read, command: () => assert.fail() }, archive: { list: () => [] } }
  const { forgetRequests } = createRequestBodyHandlers(options as unknown as AdminOptions)
  const body = { filter: { endpoint: 'a' }, dryRun: true }
  const reply = { raw: history.raw }
  return { history, reply, forget: () => forgetRequests({ body, reply } as never) }
}

test('counting the records to forget takes one or two queries for each 500 requests', async () => {
  const { history, forget } = createHistory(5_000)
  assert.deepEqual(await forget(), { ok: true, total: 10_000 })
  assert.equal(history.asked, 20)
})

test('nothing more is counted or forgotten once the client has left', async () => {
  const { history, reply, forget } = createHistory(5_000)
  history.raw.destroyed = true
  assert.equal(await forget(), reply)
  assert.equal(history.asked, 1)
})
