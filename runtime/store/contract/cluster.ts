/** Tests the port to the processes that work on the same data, on a store that has only one. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Leadership } from '../port.ts'
import { type ContractSubject, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler } from './bench/samples.ts'

export function clusterContract(subject: ContractSubject): void {
  describe(`${subject.name}: one node`, { concurrency: true }, () => {
    test('a store lists its node with its name, its role and what is live on it', async (t) => {
      const bench = await openBench(t, subject, { node: { name: 'one', version: '1.2.3', role: 'ingress' } })
      const { cluster } = bench.store
      cluster.report({ generation: 7, digest: 'abc', sharedDigest: 'abe' })
      const [node, ...others] = await cluster.nodes()
      assert.deepEqual(others, [])
      const { id, name, version, role, generation, digest, sharedDigest, leads, isSelf } =
        node ?? assert.fail()
      assert.deepEqual(
        [id, name, version, role, generation, digest, sharedDigest, leads, isSelf],
        [cluster.node, 'one', '1.2.3', 'ingress', 7, 'abc', 'abe', [], true],
      )
    })

    test('the only node leads what it asks for, for each part that follows, until all of them have given it up', async (t) => {
      const { store } = await openBench(t, subject)
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

    test('a claim is held until its lease is lost', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(sample.runAction()))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      await claim.confirm()
      await worker.drain(0)
      await assert.rejects(claim.confirm(), { code: 'LEASE_LOST' })
    })
  })
}
