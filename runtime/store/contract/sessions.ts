/** The contract of sessions: compaction, the state that runners store with them, and lists of them. */

import assert from 'node:assert/strict'
import type { Id } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { allOf, type Sampler } from './bench/samples.ts'

export const sessionsContract = contractPart('sessions', (test) => {
  test('compaction deletes the oldest turns, and a summary takes their place', async (bench, sample) => {
    const { claim, append, compact, texts, turns } = await openSession(bench, sample, 'abcd')
    const [, b, , d] = turns
    await compact(b, 'a and b')
    assert.deepEqual(await texts(), ['summary: a and b', 'user: c', 'user: d'])
    assert.deepEqual((await claim.load()).history, (await bench.store.read.session('pr:1'))?.messages)
    await append('e')
    assert.deepEqual(await texts(), ['summary: a and b', 'user: c', 'user: d', 'user: e'])
    await compact(d, 'all but e')
    assert.deepEqual(await texts(), ['summary: all but e', 'user: e'])
  })

  test('the same compaction sent twice changes nothing more, nor does one of a turn that is gone', async (bench, sample) => {
    const { claim, append, texts, turns } = await openSession(bench, sample, 'abc')
    const [a = '', b = ''] = turns
    const compact = { session: 'pr:1', through: b, summary: sample.turn('pr:1', 'a and b', 'summary') }
    await claim.checkpoint({ compact })
    await append('d')
    const expected = ['summary: a and b', 'user: c', 'user: d']
    for (const again of [compact, { session: 'pr:1', through: a }, { session: 'pr:2', through: b }]) {
      await claim.checkpoint({ compact: again })
      assert.deepEqual(await texts(), expected)
    }
    assert.equal((await bench.store.read.sessions()).items[0]?.turns, 3)
  })

  test('without a summary the oldest turns are only deleted, even if these are all turns', async (bench, sample) => {
    const { append, compact, texts, turns } = await openSession(bench, sample, 'abc')
    const [, b, c] = turns
    await compact(b)
    assert.deepEqual(await texts(), ['user: c'])
    await compact(c)
    assert.equal(await bench.store.read.session('pr:1'), undefined)
    assert.deepEqual((await bench.store.read.sessions()).items, [])
    await append('d')
    assert.deepEqual(await texts(), ['user: d'])
  })

  test('a turn and the compaction of those before it may come in one settlement', async (bench, sample) => {
    const { compact, texts, turns } = await openSession(bench, sample, 'ab')
    await compact(turns[1], 'a and b', sample.turn('pr:1', 'c'))
    assert.deepEqual(await texts(), ['summary: a and b', 'user: c'])
  })

  test('the state that a runner stores with a session is loaded by the name of the runner', async (bench, sample) => {
    await bench.accept(sample.runAction({ sessionKey: 'pr:1' }), sample.runAction({ sessionKey: 'pr:2' }))
    await bench.scheduleHeartbeat()
    const worker = bench.work(['run', 'heartbeat'])
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
    await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
    const later = bench.work(['run'])
    const claims = [await later.next(), await later.next()]
    const states = await Promise.all(claims.map(async (claim) => (await claim.load()).runnerState))
    assert.deepEqual(states, [{}, { codex: 's2' }])
  })

  test('sessions are listed by their last turn, newest first, and their pages join without a gap', async (bench, sample) => {
    const { append } = await openSession(bench, sample, 'a')
    for (const session of ['main', 'pr:2', 'pr:3', 'pr:1']) {
      bench.clock.advance(session === 'pr:3' ? 0 : 1_000)
      await append('b', session)
    }
    const start = bench.clock.now() - 3_000
    const expected = [
      { key: 'pr:1', turns: 2, lastAt: start + 3_000 },
      { key: 'pr:3', turns: 1, lastAt: start + 2_000 },
      { key: 'pr:2', turns: 1, lastAt: start + 2_000 },
      { key: 'main', turns: 1, lastAt: start + 1_000 },
    ]
    const { read } = bench.store
    assert.deepEqual(await read.sessions(), { items: expected })
    assert.deepEqual(await allOf(read.sessions, 1), expected)
    for (const cursor of ['', 'x', bench.mintId()])
      await assert.rejects(read.sessions({ cursor }), { code: 'BAD_CURSOR' })
  })
})

/** Makes a session `pr:1` with a turn for each letter, and returns the claim that wrote them. */
async function openSession(bench: ContractBench, sample: Sampler, given: string) {
  await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
  const claim = await bench.claim('run')
  const append = async (text: string, session = 'pr:1') => {
    const turn = sample.turn(session, text)
    await claim.checkpoint({ append: [turn] })
    return turn.turn
  }
  const turns: Id[] = []
  for (const text of given) turns.push(await append(text))
  return {
    claim,
    append,
    turns,
    texts: async () =>
      (await bench.store.read.session('pr:1'))?.messages.map(({ role, text }) => `${role}: ${text}`),
    /** Compacts the session through a turn, perhaps together with a new one. */
    compact(through = '', text?: string, ...append: ReturnType<Sampler['turn']>[]) {
      const summary = text === undefined ? undefined : sample.turn('pr:1', text, 'summary')
      return claim.checkpoint({ append, compact: { session: 'pr:1', through, ...(summary && { summary }) } })
    },
  }
}
