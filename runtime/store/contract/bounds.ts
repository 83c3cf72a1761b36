/** The contract of bounds: on pending events, on requests without effect, and on bodies and traces. */

import assert from 'node:assert/strict'
import type { Id, RequestRecord } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { idOf, idsIn, idsOf, type Sampler } from './bench/samples.ts'

const hour = 3_600_000
const head = { headers: { a: 'b' }, query: {} }

export const boundsContract = contractPart('bounds', (test) => {
  test(
    'over as many pending events as the backlog no event is accepted, and runs are',
    { backlog: 2 },
    async (bench, sample) => {
      const both = sample.entry(sample.runAction(), sample.eventAction())
      await bench.accept(sample.eventAction(), sample.eventAction())
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 2, fullOfEvents: true })
      const refusal = { code: 'BACKLOG', message: /2 events .* limit is 2/ }
      await assert.rejects(bench.accept(sample.eventAction()), refusal)
      await assert.rejects(bench.store.accept(both), { code: 'BACKLOG' })
      assert.equal(await bench.store.read.request(both.request.id), undefined, 'all of it or nothing')
      await bench.accept(sample.runAction())
      assert.deepEqual(waiting(bench), { backlog: 1, full: false, events: 2, fullOfEvents: true })
    },
  )

  test('once events were consumed, others are accepted', { backlog: 2 }, async (bench, sample) => {
    const [first, second] = [sample.eventAction({ mode: 'next-heartbeat' }), sample.eventAction()]
    await bench.accept(first, second)
    await bench.scheduleHeartbeat()
    const events = [idOf(first), idOf(first), bench.mintId()]
    const consume = { by: bench.mintId(), at: bench.clock.now(), events }
    ;(await bench.claim('heartbeat')).done({ consume })
    await bench.settled()
    assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 1, fullOfEvents: false })
    await bench.accept(sample.eventAction())
    await assert.rejects(bench.accept(sample.eventAction()), { code: 'BACKLOG' })
  })

  test(
    'pending events are counted right after failed writes, repeated ones and a restart',
    { backlog: 3 },
    async (bench, sample) => {
      const taken = sample.eventAction()
      const one = sample.entry(sample.eventAction())
      for (let time = 0; time < 2; time += 1) await bench.store.accept(one)
      await bench.fault('disk-full')
      const large = sample.eventAction({ text: 'x'.repeat(100_000) })
      await assert.rejects(bench.accept(large), { code: 'STORE_FULL' })
      assert.equal(bench.store.health().events, 1)
      await bench.fault('disk-freed')
      await bench.fault('answer-lost')
      await bench.accept(taken)
      const bad = bench.accept(sample.eventAction(), sample.eventAction({ id: idOf(taken) }))
      await assert.rejects(bad, { code: 'BAD_ENTRY' })
      assert.equal(bench.store.health().events, 2)
      await bench.open({ backlog: 2 })
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 2, fullOfEvents: true })
      await assert.rejects(bench.accept(sample.eventAction()), { code: 'BACKLOG' })
      bench.store.configure({ keepMs: 1_000, backlog: 3 })
      await bench.accept(sample.eventAction())
    },
  )

  test(
    'the summary of a run counts, and is posted however many events are pending',
    { backlog: 1 },
    async (bench, sample) => {
      await bench.accept(sample.eventAction())
      await bench.accept(sample.runAction())
      ;(await bench.claim('run')).done({ events: [sample.event()] })
      await bench.settled()
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 2, fullOfEvents: true })
    },
  )

  test(
    'the newest requests without effect are kept, for each outcome separately',
    { maxWithoutEffect: 3 },
    async (bench, sample) => {
      const note = async (outcome: 'ignored' | 'skipped' | 'failed', count: number) => {
        const requests = Array.from({ length: count }, () => sample.request({ outcome, status: 200 }))
        for (const request of requests) bench.store.note(request)
        await bench.settled()
        return idsOf(requests)
      }
      const kept = async (outcome: string) => (await idsIn(bench.store.read.requests({ outcome }))).reverse()
      const [skipped, failed] = [await note('skipped', 2), await note('failed', 4)]
      const ignored = await note('ignored', 5)
      assert.deepEqual(await kept('ignored'), ignored.slice(2))
      assert.deepEqual(await kept('skipped'), skipped)
      assert.deepEqual(await kept('failed'), failed.slice(1))

      await bench.open({ maxWithoutEffect: 3 })
      const more = await note('ignored', 1)
      assert.deepEqual(await kept('ignored'), [...ignored.slice(3), ...more], 'also after a restart')

      await bench.open({ maxWithoutEffect: 1 })
      const fewer = await note('ignored', 2)
      assert.deepEqual(await kept('ignored'), fewer.slice(1), 'too many become fewer')
    },
  )

  test(
    'bodies are bounded: the oldest go, and their requests stay',
    { maxBodyBytes: 1000 },
    async (bench, sample) => {
      const { note, bodies } = keeping(bench, sample)
      const headBytes = JSON.stringify(head).length
      const first = await note('failed', 600 - headBytes, { head })
      const second = await note('ignored', 400 - headBytes, { head })
      assert.deepEqual(await bodies(), [first, second], 'as many as fit, to the byte')
      const third = await note('failed', 1, { head })
      assert.deepEqual(await bodies(), [second, third])
      const lost = await bench.store.read.request(first)
      assert.deepEqual([lost?.outcome, lost?.body, lost?.head], ['failed', undefined, undefined])

      await bench.open({ maxBodyBytes: 1000 })
      const fourth = await note('failed', 950, { head })
      assert.deepEqual(await bodies(), [fourth], 'also after a restart, and as many as it takes')
      await note('failed', 2000)
      assert.deepEqual(await bodies(), [], 'not even one that is larger than all may be')
    },
  )

  test(
    'bodies of accepted requests count, and go like the others',
    { maxBodyBytes: 500 },
    async (bench, sample) => {
      const { note, bodies } = keeping(bench, sample)
      const accept = async (bytes: number) => {
        const entry = sample.entry(sample.runAction())
        await bench.store.accept({ ...entry, request: { ...entry.request, body: Buffer.alloc(bytes) } })
        return entry.request.id
      }
      const [first, failed] = [await accept(200), await note('failed', 200)]
      assert.deepEqual(await bodies(), [first, failed])
      const third = await accept(101)
      assert.deepEqual(await bodies(), [failed, third])
      const kept = await bench.store.read.request(first)
      assert.deepEqual([kept?.outcome, kept?.body], ['accepted', undefined])
      await bench.open({ maxBodyBytes: 500 })
      const fourth = await accept(500)
      assert.deepEqual(await bodies(), [fourth], 'also after a restart')
    },
  )

  test(
    'traces count with bodies, and the oldest of both go first',
    { maxBodyBytes: 1000 },
    async (bench, sample) => {
      const { note } = keeping(bench, sample)
      const trace = { candidates: [{ mapping: 'a', why: 'x'.repeat(300) }], more: 0 }
      const ids = [
        await note('ignored', undefined, { trace }),
        await note('ignored', 300),
        await note('ignored', undefined, { trace }),
        await note('ignored', 600, { trace }),
      ]
      const kept = await Promise.all(ids.map((id) => bench.store.read.request(id)))
      const has = kept.map((each) => [each?.trace !== undefined, each?.body !== undefined])
      assert.deepEqual(has, [...Array.from({ length: 3 }, () => [false, false]), [true, true]])
    },
  )

  test('a lower limit deletes the oldest bodies and traces by itself', async (bench, sample) => {
    for (let i = 0; i < 50; i += 1) {
      const trace = { candidates: [], more: i }
      bench.store.note(sample.request({ outcome: 'ignored', body: Buffer.alloc(100), trace }))
    }
    await bench.settled()
    bench.store.configure({ keepMs: 7 * 24 * hour, backlog: 1_000, maxBodyBytes: 1_000 })
    const { bodies } = keeping(bench, sample)
    await bench.until(async () => (await bodies()).length <= 9)
    await bench.passes()
    assert.ok((await bodies()).length >= 7, 'as many as fit')
    assert.equal((await bench.store.read.requests({ limit: 500 })).items.length, 50)
  })

  test('bodies of ignored and skipped requests go after their time, and first where room is short', async (bench, sample) => {
    await bench.open({ ignoredBodiesMs: hour, maxBodyBytes: 1_000 })
    const { note, bodies } = keeping(bench, sample)
    const trace = { candidates: [], more: 0 }
    const failed = await note('failed', 400, { trace })
    const [ignored, skipped] = [await note('ignored', 100, { trace }), await note('skipped', 100, { trace })]
    assert.deepEqual(await bodies(), [failed, ignored, skipped])
    const second = await note('failed', 300, { trace })
    assert.deepEqual(await bodies(), [failed, skipped, second], 'the oldest of the ignored made room')
    const third = await note('ignored', 10, { trace })
    bench.clock.advance(hour)
    await bench.until(async () => (await bodies()).length === 2)
    assert.deepEqual(await bodies(), [failed, second], 'the others stay')
    const kept = await bench.store.read.request(third)
    assert.deepEqual([kept?.outcome, kept?.body, kept?.trace], ['ignored', undefined, trace])
  })

  test('a request is found as soon as it is noted', async (bench, sample) => {
    const request = sample.request({ outcome: 'ignored', status: 200, body: Buffer.from('{}') })
    bench.store.note(request)
    assert.equal((await bench.store.read.request(request.id))?.id, request.id)
    await bench.settled()
    assert.equal((await bench.store.read.request(request.id))?.id, request.id)
  })

  test('a trace that is too long loses its last candidates, and says so', async (bench, sample) => {
    const { note } = keeping(bench, sample)
    const candidate = (length: number) => ({ mapping: 'm', clause: { actual: 'ü'.repeat(length) } })
    const candidates = [10, 5_000, 5_000, 10].map(candidate)
    for (const [trace, expected] of [
      [
        { candidates, more: 3 },
        { candidates: candidates.slice(0, 2), more: 5, cut: true },
      ],
      [
        { candidates: [candidate(20_000)], more: 0, isForm: true },
        { candidates: [], more: 1, isForm: true, cut: true },
      ],
    ] as const) {
      const kept = await bench.store.read.request(await note('failed', undefined, { trace }))
      assert.deepEqual(kept?.trace, expected)
    }
  })

  test(
    'duplicates count as requests without effect, their originals do not',
    { maxWithoutEffect: 2 },
    async (bench, sample) => {
      const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 1_000 }
      const entries = [1, 2, 3, 4, 5].map(() => sample.entry(sample.runAction({}, { dedupe })))
      for (const entry of entries) await bench.store.accept(entry)
      const { items } = await bench.store.read.requests()
      const ids = entries.map(({ request }) => request.id)
      const kept = items.map(({ id, outcome }) => `${ids.indexOf(id)} ${outcome}`)
      assert.deepEqual(kept, ['4 duplicate', '3 duplicate', '0 accepted'])
    },
  )

  test('the endpoint name of a refused request is shortened', async (bench, sample) => {
    const refused = { outcome: 'refused', status: 401, code: 'UNAUTHORIZED' } as const
    const endpoint = 'x'.repeat(15_000)
    for (let time = 0; time < 3; time += 1) bench.store.note(sample.request({ ...refused, endpoint }))
    const { items } = await bench.store.read.requests({ outcome: 'refused' })
    assert.partialDeepStrictEqual(items, [{ endpoint: 'x'.repeat(200), count: 3 }])
    assert.equal(items.length, 1)
  })

  test('requests that were deleted for their age no longer count', async (bench, sample) => {
    await bench.open({ keepMs: hour, maxWithoutEffect: 2, maxBodyBytes: 200 })
    const { note, bodies } = keeping(bench, sample)
    const kept = async () => (await idsIn(bench.store.read.requests())).reverse()
    for (let time = 0; time < 2; time += 1) await note('ignored', 100)
    bench.clock.advance(hour)
    await bench.until(async () => (await kept()).length === 0)
    const [first, second] = [await note('ignored', 100), await note('ignored', 100)]
    assert.deepEqual(await kept(), [first, second])
    assert.deepEqual(await bodies(), [first, second])
    const third = await note('ignored', 100)
    assert.deepEqual(await kept(), [second, third])
  })
})

function waiting({ store }: ContractBench) {
  const { backlog, full, events, fullOfEvents } = store.health()
  return { backlog, full, events, fullOfEvents }
}

function keeping(bench: ContractBench, sample: Sampler) {
  return {
    /** Notes a request with a body of so many bytes, and waits until it is on disk. */
    async note(
      outcome: RequestRecord['outcome'],
      bytes?: number,
      more?: Partial<RequestRecord>,
    ): Promise<Id> {
      const body = bytes === undefined ? {} : { body: Buffer.alloc(bytes) }
      const request = sample.request({ outcome, status: 200, ...body, ...more })
      bench.store.note(request)
      await bench.settled()
      return request.id
    },
    /** The requests whose bodies are kept, oldest first. */
    bodies: async () => idsOf(await bench.store.read.recentBodies()).reverse(),
  }
}
