/** The contract of sessions: compaction, the state that runners store with them, and lists of them. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Claim, Id, SessionMessage, SessionSummary } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type ContractContext, type ContractSubject, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler } from './bench/samples.ts'

export function sessionsContract(subject: ContractSubject): void {
  describe(`${subject.name}: sessions`, { concurrency: 4, timeout: 30_000 }, () => {
    test('compaction deletes the oldest turns, and a summary takes their place', async (t) => {
      const { claim, texts, turns, bench } = await openSession(t, ['a', 'b', 'c', 'd'])
      const [, b, , d] = turns
      assert.ok(b && d)
      const summary = summaryOf(bench, 'a and b')
      await claim.checkpoint({ compact: { session: 'pr:1', through: b, summary } })
      assert.deepEqual(await texts(), ['summary: a and b', 'user: c', 'user: d'])
      assert.deepEqual((await claim.load()).history, (await bench.store.read.session('pr:1'))?.messages)
      await append(claim, bench, 'e')
      assert.deepEqual(await texts(), ['summary: a and b', 'user: c', 'user: d', 'user: e'])
      const next = summaryOf(bench, 'all but e')
      await claim.checkpoint({ compact: { session: 'pr:1', through: d, summary: next } })
      assert.deepEqual(await texts(), ['summary: all but e', 'user: e'])
    })

    test('the same compaction sent twice changes nothing more, nor does one of a turn that is gone', async (t) => {
      const { claim, texts, turns, bench } = await openSession(t, ['a', 'b', 'c'])
      const [a, b] = turns
      assert.ok(a && b)
      const compact = { session: 'pr:1', through: b, summary: summaryOf(bench, 'a and b') }
      await claim.checkpoint({ compact })
      await append(claim, bench, 'd')
      const expected = ['summary: a and b', 'user: c', 'user: d']
      for (const again of [compact, { session: 'pr:1', through: a }, { session: 'pr:2', through: b }]) {
        await claim.checkpoint({ compact: again })
        assert.deepEqual(await texts(), expected)
      }
      assert.equal((await bench.store.read.sessions()).items[0]?.turns, 3)
    })

    test('without a summary the oldest turns are only deleted, even if these are all turns', async (t) => {
      const { claim, texts, turns, bench } = await openSession(t, ['a', 'b', 'c'])
      const [, b, c] = turns
      assert.ok(b && c)
      await claim.checkpoint({ compact: { session: 'pr:1', through: b } })
      assert.deepEqual(await texts(), ['user: c'])
      await claim.checkpoint({ compact: { session: 'pr:1', through: c } })
      assert.equal(await bench.store.read.session('pr:1'), undefined)
      assert.deepEqual((await bench.store.read.sessions()).items, [])
      await append(claim, bench, 'd')
      assert.deepEqual(await texts(), ['user: d'])
    })

    test('a turn and the compaction of those before it may come in one settlement', async (t) => {
      const { claim, texts, turns, bench } = await openSession(t, ['a', 'b'])
      const b = turns[1] ?? ''
      const turn = bench.mintId()
      const messages = [{ role: 'user' as const, text: 'c', at: bench.clock.now(), turn }]
      const compact = { session: 'pr:1', through: b, summary: summaryOf(bench, 'a and b') }
      await claim.checkpoint({ append: [{ session: 'pr:1', turn, messages }], compact })
      assert.deepEqual(await texts(), ['summary: a and b', 'user: c'])
    })

    test('the state that a runner stores with a session is loaded by the name of the runner', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(
        sample.entry(sample.runAction({ sessionKey: 'pr:1' }), sample.runAction({ sessionKey: 'pr:2' })),
      )
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const worker = startManualWorker(bench.store, ['run', 'heartbeat'])
      const [one, two, main] = [await worker.next(), await worker.next(), await worker.next()]
      const keep = (session: string, runner: string, state?: string) =>
        one.checkpoint({ runnerState: { session, runner, ...(state !== undefined && { state }) } })
      assert.deepEqual((await one.load()).runnerState, {})
      await keep('pr:1', 'claude', 's1')
      await keep('pr:1', 'codex', 's2')
      for (let time = 0; time < 2; time++) await keep('pr:1', 'claude', 's3')
      await keep('main', '__proto__', 's4')
      assert.deepEqual((await one.load()).runnerState, { claude: 's3', codex: 's2' })
      assert.deepEqual((await two.load()).runnerState, {})
      assert.deepEqual(Object.entries((await main.load()).runnerState ?? {}), [['__proto__', 's4']])
      for (let time = 0; time < 2; time++) await keep('pr:1', 'claude')
      one.done()
      await bench.open()
      await bench.store.accept(sample.entry(sample.runAction({ sessionKey: 'pr:1' })))
      const later = startManualWorker(bench.store, ['run'])
      const claims = [await later.next(), await later.next()]
      const states = await Promise.all(claims.map(async (claim) => (await claim.load()).runnerState))
      assert.deepEqual(states, [{}, { codex: 's2' }])
    })

    test('sessions are listed by their last turn, newest first, and their pages join without a gap', async (t) => {
      const { claim, bench } = await openSession(t, ['a'])
      for (const session of ['main', 'pr:2', 'pr:3', 'pr:1']) {
        bench.clock.advance(session === 'pr:3' ? 0 : 1_000)
        await append(claim, bench, 'b', session)
      }
      const start = bench.clock.now() - 3_000
      const expected = [
        { key: 'pr:1', turns: 2, lastAt: start + 3_000 },
        { key: 'pr:3', turns: 1, lastAt: start + 2_000 },
        { key: 'pr:2', turns: 1, lastAt: start + 2_000 },
        { key: 'main', turns: 1, lastAt: start + 1_000 },
      ]
      assert.deepEqual(await bench.store.read.sessions(), { items: expected })
      const found: SessionSummary[] = []
      let cursor: string | undefined
      do {
        const page = await bench.store.read.sessions({ limit: 1, ...(cursor !== undefined && { cursor }) })
        found.push(...page.items)
        cursor = page.next
      } while (cursor !== undefined)
      assert.deepEqual(found, expected)
      for (const wrong of ['', 'x', bench.mintId()]) {
        await assert.rejects(bench.store.read.sessions({ cursor: wrong }), { code: 'BAD_CURSOR' })
      }
    })

    /** A session `pr:1` with a turn for each text, and the claim that wrote them. */
    async function openSession(t: Parameters<typeof openBench>[0], given: readonly string[]) {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(sample.runAction({ sessionKey: 'pr:1' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const turns: Id[] = []
      for (const text of given) turns.push(await append(claim, bench, text))
      const texts = async () =>
        (await bench.store.read.session('pr:1'))?.messages.map(({ role, text }) => `${role}: ${text}`)
      return { bench, claim, turns, texts }
    }
  })
}

async function append(claim: Claim, bench: ContractContext, text: string, session = 'pr:1'): Promise<Id> {
  const turn = bench.mintId()
  const messages: SessionMessage[] = [{ role: 'user', text, at: bench.clock.now(), turn }]
  await claim.checkpoint({ append: [{ session, turn, messages }] })
  return turn
}

function summaryOf(bench: ContractContext, text: string) {
  const turn = bench.mintId()
  const messages: SessionMessage[] = [{ role: 'summary', text, at: bench.clock.now(), turn }]
  return { turn, messages }
}
