/** The contract of the stream of changes. */

import assert from 'node:assert/strict'
import type { Change } from '../port.ts'
import { contractPart } from './bench/bench.ts'
import { idOf } from './bench/samples.ts'

export const changesContract = contractPart('changes', (test) => {
  test('a listener gets the changes that are committed after it began to listen, in order', async (bench, sample) => {
    await bench.accept(sample.runAction())
    const over = new AbortController()
    const changes = bench.store.changes({ signal: over.signal })
    const action = sample.runAction({ sessionKey: 'pr:1' })
    const entry = sample.entry(action)
    await bench.store.accept(entry)
    const worker = bench.work(['run'])
    await worker.next()
    const claim = await worker.next()
    await claim.checkpoint({ run: { id: idOf(action), state: 'running', stage: 'running' } })
    const seen = await take(changes, 3)
    over.abort()
    assert.deepEqual(seen, [
      { type: 'run', id: idOf(action), state: 'queued', stage: 'accepted' },
      { type: 'request', id: entry.request.id, state: 'accepted' },
      { type: 'run', id: idOf(action), state: 'running', stage: 'running' },
    ])
  })

  test('an issue that shows, or that an operator ends or mutes, is a change with its key', async ({
    store,
  }) => {
    const over = new AbortController()
    const changes = store.changes({ signal: over.signal })
    const shown = { code: 'LOOP', severity: 'degraded', subject: 'x', cause: 'It goes round.' } as const
    const seen = { ...shown, next: { label: 'Look' }, count: 1 }
    const issues = [
      { key: 'a', ...seen },
      { key: 'a', mute: null },
      { key: 'a', ...seen },
      { key: 'unknown', resolve: true },
      { key: 'a', resolve: true },
      { key: 'a', reopen: true },
    ] as const
    await store.command({ type: 'issues', at: 1, changes: issues })
    const taken = await take(changes, 5)
    over.abort()
    assert.deepEqual(
      taken.map(({ type, id, state }) => `${type} ${id} ${state}`),
      ['open', 'muted', 'muted', 'resolved', 'open'].map((state) => `issue a ${state}`),
    )
  })

  test('an entry that did not commit is no change', async (bench, sample) => {
    const taken = sample.runAction()
    await bench.accept(taken)
    const over = new AbortController()
    const changes = bench.store.changes({ signal: over.signal })
    const bad = bench.accept(sample.eventAction(), taken)
    const good = sample.eventAction()
    const accepted = bench.accept(good)
    await assert.rejects(bad, { code: 'BAD_ENTRY' })
    await accepted
    const [first] = await take(changes, 1)
    over.abort()
    assert.equal(first?.id, idOf(good))
  })

  test('the stream ends with its signal, and with the store', async (bench) => {
    const over = new AbortController()
    const [signalled, closed] = [over.signal, new AbortController().signal].map((signal) =>
      take(bench.store.changes({ signal }), 1),
    )
    over.abort()
    assert.deepEqual(await signalled, [])
    await bench.close()
    assert.deepEqual(await closed, [])
  })
})

async function take(changes: AsyncIterable<Change>, count: number): Promise<Change[]> {
  const taken: Change[] = []
  for await (const change of changes) {
    taken.push(change)
    if (taken.length === count) break
  }
  return taken
}
