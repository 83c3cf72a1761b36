/** The contract of what two nodes do at one moment that is not about one thing alone; see `square.ts` for the commands about one thing. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { heartbeatTask } from '../task-keys.ts'
import type { ContractSubject } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { idOf } from './bench/samples.ts'
import { inChunks, maxIgnored, numbers, openScene, type Scene, until } from './bench/scene.ts'

/** A command given at both nodes, for each of `pairs` things. */
interface Case {
  readonly name: string
  race(scene: Scene, pairs: number): Promise<void>
}

const cases: readonly Case[] = [
  {
    name: 'a task that is scheduled and brought forward twice is performed once',
    async race(scene) {
      const task = heartbeatTask(scene.now + 60_000)
      await scene.both((store) => store.command({ type: 'schedule', task }))
      await scene.both((store) => store.command({ type: 'schedule', task: { ...task, dueAt: scene.now } }))
      await scene.both((store) => store.command({ type: 'expedite', task: task.key, dueAt: scene.now }))
      assert.deepEqual([...(await scene.claims(1))], [[task.key, 1]])
    },
  },
  {
    name: 'a heartbeat that fails while what it showed is forgotten shows it no more',
    async race(scene, pairs) {
      const [first, second] = scene.stores
      const worker = startManualWorker(first, ['heartbeat'])
      for (const _ of numbers(Math.min(pairs, 10))) {
        const text = `a secret of ${scene.bench.mintId()}`
        const action = scene.eventAction({ text, prompt: text, mode: 'next-heartbeat' })
        const entry = scene.entry(action)
        await first.accept(entry)
        await first.command({ type: 'schedule', task: heartbeatTask(scene.bench.clock.now()) })
        const claim = await worker.next()
        const asked = { prompt: text, message: text, sessionKey: 'main', eventIds: [idOf(action)] }
        const run = { ...scene.run(asked), kind: 'heartbeat' as const, state: 'failed' as const }
        claim.settle({ effects: { run }, again: scene.bench.clock.now() + 1_000, counts: true })
        const requests = [entry.request.id]
        const { done } = await second.command({ type: 'forget', requests, at: scene.now })
        const kept = await until(
          () => second.read.run(run.id),
          (found) => found !== undefined,
        )
        if (done === 1) assert.deepEqual([kept?.prompt, kept?.message], ['', ''])
        while (worker.waiting.length === 0) {
          scene.bench.clock.advance(1_000)
          await scene.bench.settled()
        }
        ;(await worker.next()).done()
      }
    },
  },
  {
    name: 'requests without effect over their bound go once, whoever accepts them',
    async race(scene, pairs) {
      await inChunks(numbers(pairs), 25, async () => {
        await scene.both((store) =>
          store.accept({
            request: scene.request({ outcome: 'ignored', body: new Uint8Array(6) }),
            actions: [],
          }),
        )
      })
      // A node learns of the other's additions after a while, and the next request makes room.
      const left = await until(
        async () => {
          await scene.stores[0].accept({ request: scene.request({ outcome: 'ignored' }), actions: [] })
          return (await scene.stores[1].read.requests({ outcome: 'ignored', limit: 500 })).items.length
        },
        (count) => count <= maxIgnored,
      )
      assert.equal(left, maxIgnored)
    },
  },
]

export interface TogetherOptions {
  /** Number of pairs that each case races. */
  readonly pairs: number
}

export function togetherContract(subject: ContractSubject, { pairs }: TogetherOptions = { pairs: 50 }): void {
  describe(`${subject.name}: two at once`, { concurrency: 1, timeout: 2_000 * pairs + 60_000 }, () => {
    for (const { name, race } of cases)
      test(name, async (t) => {
        await race(await openScene(t, subject), pairs)
      })
  })
}
