/** The contract of the processes that work on the same data, for a store that has only one. */

import assert from 'node:assert/strict'
import type { Leadership } from '../port.ts'
import { contractPart } from './bench/bench.ts'

export const clusterContract = contractPart('one node', (test) => {
  const node = { name: 'one', version: '1.2.3', role: 'ingress' } as const
  test('a store lists its node with its name, its role and what is live on it', { node }, async (bench) => {
    const { cluster } = bench.store
    const live = { generation: 7, digest: 'abc', sharedDigest: 'abe' }
    cluster.report(live)
    const [own, ...others] = await cluster.nodes()
    const expected = { id: cluster.node, ...node, ...live, leads: [], isSelf: true }
    assert.partialDeepStrictEqual(own, expected)
    assert.deepEqual([own?.leads, others], [[], []])
  })

  test('the only node leads what it asks for, for each part that follows, until all of them have given it up', async ({
    store,
  }) => {
    const begun = Promise.withResolvers<Leadership>()
    const again = Promise.withResolvers<Leadership>()
    const giveUp = store.cluster.whileLeading('sources', begun.resolve)
    const giveUpToo = store.cluster.whileLeading('sources', again.resolve)
    const [first, second] = await Promise.all([begun.promise, again.promise])
    await Promise.all([first.confirm(), second.confirm()])
    assert.deepEqual((await store.cluster.nodes())[0]?.leads, ['sources'])
    giveUp()
    assert.equal(first.signal.aborted, true)
    await assert.rejects(first.confirm(), { code: 'LEASE_LOST' })
    await second.confirm()
    giveUpToo()
    assert.equal(second.signal.aborted, true)
  })

  test('a claim is held until its lease is lost', async (bench, sample) => {
    await bench.accept(sample.runAction())
    const worker = bench.work(['run'])
    const claim = await worker.next()
    await claim.confirm()
    await worker.drain(0)
    await assert.rejects(claim.confirm(), { code: 'LEASE_LOST' })
  })
})
