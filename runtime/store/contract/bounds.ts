/** The contract of bounds: on pending events, on requests without effect, and on bodies and traces. */

import assert from 'node:assert/strict'
import { describe, test as single } from 'node:test'
import type { Id, RequestRecord } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import { type ContractContext, type ContractSubject, openBench } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { type HeldClaim, startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

export function boundsContract(subject: ContractSubject): void {
  describe(`${subject.name}: bounds`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('over as many pending events as the backlog, no event is accepted, and runs still are', async (bench) => {
      await bench.open({ backlog: 2 })
      const { sample } = bench
      const both = sample.entry(sample.runAction(), sample.eventAction())
      await bench.store.accept(sample.entry(sample.eventAction(), sample.eventAction()))
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 2, fullOfEvents: true })
      await assert.rejects(bench.store.accept(sample.entry(sample.eventAction())), {
        code: 'BACKLOG',
        message: /2 events .* limit is 2/,
      })
      await assert.rejects(bench.store.accept(both), { code: 'BACKLOG' })
      assert.equal(await bench.store.read.request(both.request.id), undefined, 'all of it or nothing')
      await bench.store.accept(sample.entry(sample.runAction()))
      assert.deepEqual(waiting(bench), { backlog: 1, full: false, events: 2, fullOfEvents: true })
    })

    test('once events were consumed, others are accepted', async (bench) => {
      await bench.open({ backlog: 2 })
      const { sample } = bench
      const [first, second] = [sample.eventAction({ mode: 'next-heartbeat' }), sample.eventAction()]
      await bench.store.accept(sample.entry(first, second))
      const claim = await heartbeat(bench)
      consume(claim, bench, [idOf(first), idOf(first), bench.mintId()])
      await bench.settled()
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 1, fullOfEvents: false })
      await bench.store.accept(sample.entry(sample.eventAction()))
      await assert.rejects(bench.store.accept(sample.entry(sample.eventAction())), { code: 'BACKLOG' })
    })

    test('pending events are counted right after writes that failed, an entry that is sent again, and a restart', async (bench) => {
      await bench.open({ backlog: 3 })
      const { sample } = bench
      const taken = sample.eventAction()
      const [one, two] = [sample.entry(sample.eventAction()), sample.entry(taken)]
      await bench.store.accept(one)
      await bench.store.accept(one)
      await bench.fault('disk-full')
      const large = sample.entry(sample.eventAction({ text: 'x'.repeat(100_000) }))
      await assert.rejects(bench.store.accept(large), { code: 'STORE_FULL' })
      assert.equal(bench.store.health().events, 1)
      await bench.fault('disk-freed')
      await bench.fault('answer-lost')
      await bench.store.accept(two)
      const bad = sample.entry(sample.eventAction(), sample.eventAction({ id: idOf(taken) }))
      await assert.rejects(bench.store.accept(bad), { code: 'BAD_ENTRY' })
      assert.equal(bench.store.health().events, 2)
      await bench.open({ backlog: 2 })
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 2, fullOfEvents: true })
      await assert.rejects(bench.store.accept(sample.entry(sample.eventAction())), { code: 'BACKLOG' })
      bench.store.configure({ keepMs: 1_000, backlog: 3 })
      await bench.store.accept(sample.entry(sample.eventAction()))
    })

    test('the summary of a run counts, and is posted however many events are pending', async (bench) => {
      await bench.open({ backlog: 1 })
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.eventAction()))
      await bench.store.accept(sample.entry(sample.runAction()))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      claim.settle({ done: true, effects: { events: [sample.event()] } })
      await bench.settled()
      assert.deepEqual(waiting(bench), { backlog: 0, full: false, events: 2, fullOfEvents: true })
    })

    test('the newest requests without effect are kept, for each outcome separately', async (bench) => {
      await bench.open({ maxWithoutEffect: 3 })
      const { sample } = bench
      const note = (outcome: 'ignored' | 'skipped' | 'failed', count: number) =>
        Array.from({ length: count }, () => {
          const request = sample.request({ outcome, status: 200 })
          bench.store.note(request)
          return request.id
        })
      const [skipped, failed] = [note('skipped', 2), note('failed', 4)]
      const ignored = note('ignored', 5)
      await bench.settled()
      const kept = async (outcome: string) =>
        (await bench.store.read.requests({ outcome })).items.map(({ id }) => id).reverse()
      assert.deepEqual(await kept('ignored'), ignored.slice(2))
      assert.deepEqual(await kept('skipped'), skipped)
      assert.deepEqual(await kept('failed'), failed.slice(1))

      await bench.open({ maxWithoutEffect: 3 })
      const more = note('ignored', 1)
      await bench.settled()
      assert.deepEqual(await kept('ignored'), [...ignored.slice(3), ...more], 'also after a restart')

      await bench.open({ maxWithoutEffect: 1 })
      const fewer = note('ignored', 2)
      await bench.settled()
      assert.deepEqual(await kept('ignored'), fewer.slice(1), 'too many become fewer')
    })

    test('bodies are bounded: the oldest are dropped, and their requests stay', async (bench) => {
      await bench.open({ maxBodyBytes: 1000 })
      const { sample } = bench
      const note = (outcome: 'ignored' | 'failed', bytes: number) => {
        const request = sample.request({ outcome, status: 200, body: Buffer.alloc(bytes), head })
        bench.store.note(request)
        return request.id
      }
      const head = { headers: { a: 'b' }, query: {} }
      const headBytes = JSON.stringify(head).length
      const [first, second] = [note('failed', 600 - headBytes), note('ignored', 400 - headBytes)]
      await bench.settled()
      const bodies = async () => (await bench.store.read.recentBodies()).map(({ id }) => id).reverse()
      assert.deepEqual(await bodies(), [first, second], 'as many as fit, to the byte')

      const third = note('failed', 1)
      await bench.settled()
      assert.deepEqual(await bodies(), [second, third])
      const lost = await bench.store.read.request(first)
      assert.deepEqual([lost?.outcome, lost?.body, lost?.head], ['failed', undefined, undefined])

      await bench.open({ maxBodyBytes: 1000 })
      const fourth = note('failed', 950)
      await bench.settled()
      assert.deepEqual(await bodies(), [fourth], 'also after a restart, and as many as it takes')
      note('failed', 2000)
      await bench.settled()
      assert.deepEqual(await bodies(), [], 'not even one that is larger than all may be')
    })

    test('bodies of accepted requests count, and go like the others', async (bench) => {
      await bench.open({ maxBodyBytes: 500 })
      const { sample } = bench
      const accept = async (bytes: number) => {
        const entry = sample.entry(sample.runAction())
        await bench.store.accept({ ...entry, request: { ...entry.request, body: Buffer.alloc(bytes) } })
        return entry.request.id
      }
      const bodies = async () => (await bench.store.read.recentBodies()).map(({ id }) => id).reverse()
      const first = await accept(200)
      const failed = sample.request({ outcome: 'failed', status: 500, body: Buffer.alloc(200) })
      bench.store.note(failed)
      await bench.settled()
      assert.deepEqual(await bodies(), [first, failed.id])
      const third = await accept(101)
      assert.deepEqual(await bodies(), [failed.id, third])
      const kept = await bench.store.read.request(first)
      assert.deepEqual([kept?.outcome, kept?.body], ['accepted', undefined])
      await bench.open({ maxBodyBytes: 500 })
      const fourth = await accept(500)
      assert.deepEqual(await bodies(), [fourth], 'also after a restart')
    })

    test('traces count with bodies, and the oldest of both go first', async (bench) => {
      await bench.open({ maxBodyBytes: 1000 })
      const { sample } = bench
      const trace = { candidates: [{ mapping: 'a', why: 'x'.repeat(300) }], more: 0 }
      const note = async (fields: Partial<RequestRecord>) => {
        const request = sample.request({ outcome: 'ignored', status: 200, ...fields })
        bench.store.note(request)
        await bench.settled()
        return request.id
      }
      const ids = [
        await note({ trace }),
        await note({ body: Buffer.alloc(300) }),
        await note({ trace }),
        await note({ trace, body: Buffer.alloc(600) }),
      ]
      const kept = await Promise.all(ids.map((id) => bench.store.read.request(id)))
      assert.deepEqual(
        kept.map((each) => [each?.trace !== undefined, each?.body !== undefined]),
        [
          [false, false],
          [false, false],
          [false, false],
          [true, true],
        ],
      )
    })

    test('a lower limit deletes the oldest bodies and traces by itself', async (bench) => {
      const { sample } = bench
      for (let i = 0; i < 50; i += 1) {
        const trace = { candidates: [], more: i }
        bench.store.note(sample.request({ outcome: 'ignored', body: Buffer.alloc(100), trace }))
      }
      await bench.settled()
      bench.store.configure({ keepMs: 7 * 86_400_000, backlog: 1_000, maxBodyBytes: 1_000 })
      const bodies = async () => (await bench.store.read.recentBodies()).length
      for (let slice = 0; slice < 100 && (await bodies()) > 9; slice += 1) {
        bench.clock.advance(1_000)
        await bench.settled()
      }
      assert.ok((await bodies()) <= 9 && (await bodies()) >= 7, 'as many as fit')
      assert.equal((await bench.store.read.requests({ limit: 500 })).items.length, 50)
    })

    test('bodies of ignored and skipped requests go after their while, and before others where room is short', async (bench) => {
      await bench.open({ ignoredBodiesMs: 3_600_000, maxBodyBytes: 1_000 })
      const { sample } = bench
      const note = async (outcome: RequestRecord['outcome'], bytes: number) => {
        const request = sample.request({
          outcome,
          body: Buffer.alloc(bytes),
          trace: { candidates: [], more: 0 },
        })
        bench.store.note(request)
        await bench.settled()
        return request.id
      }
      const bodies = async () => (await bench.store.read.recentBodies()).map(({ id }) => id).reverse()
      const failed = await note('failed', 400)
      const [ignored, skipped] = [await note('ignored', 100), await note('skipped', 100)]
      assert.deepEqual(await bodies(), [failed, ignored, skipped])
      const second = await note('failed', 300)
      assert.deepEqual(await bodies(), [failed, skipped, second], 'the oldest of the ignored made room')
      const third = await note('ignored', 10)
      bench.clock.advance(3_600_000 + 120_000)
      for (let slice = 0; slice < 100 && (await bodies()).length > 2; slice += 1) {
        bench.clock.advance(1_000)
        await bench.settled()
      }
      assert.deepEqual(await bodies(), [failed, second], 'the others stay')
      const kept = await bench.store.read.request(third)
      assert.deepEqual([kept?.outcome, kept?.body, kept?.trace?.more], ['ignored', undefined, 0])
    })

    test('a request is found as soon as it is noted', async (bench) => {
      const { sample } = bench
      const request = sample.request({ outcome: 'ignored', status: 200, body: Buffer.from('{}') })
      bench.store.note(request)
      assert.equal((await bench.store.read.request(request.id))?.id, request.id)
      await bench.settled()
      assert.equal((await bench.store.read.request(request.id))?.id, request.id)
    })

    test('a trace that is too long loses its last candidates, and says so', async (bench) => {
      const { sample } = bench
      const candidate = (length: number) => ({ mapping: 'm', clause: { actual: 'ü'.repeat(length) } })
      const trace = {
        candidates: [candidate(10), candidate(5_000), candidate(5_000), candidate(10)],
        more: 3,
      }
      const huge = { candidates: [candidate(20_000)], more: 0, isForm: true as const }
      const requests = [trace, huge].map((each) => sample.request({ outcome: 'failed', trace: each }))
      for (const request of requests) bench.store.note(request)
      await bench.settled()
      const kept = await Promise.all(requests.map(({ id }) => bench.store.read.request(id)))
      assert.deepEqual(
        kept.map((each) => each?.trace),
        [
          { candidates: trace.candidates.slice(0, 2), more: 5, cut: true },
          { candidates: [], more: 1, isForm: true, cut: true },
        ],
      )
    })

    test('duplicates count as requests without effect, and their originals do not', async (bench) => {
      await bench.open({ maxWithoutEffect: 2 })
      const { sample } = bench
      const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 1_000 }
      const entries = [1, 2, 3, 4, 5].map(() => sample.entry(sample.runAction({}, { dedupe })))
      for (const entry of entries) await bench.store.accept(entry)
      const { items } = await bench.store.read.requests()
      const ids = entries.map(({ request }) => request.id)
      assert.deepEqual(
        items.map(({ id, outcome }) => [ids.indexOf(id), outcome]),
        [
          [4, 'duplicate'],
          [3, 'duplicate'],
          [0, 'accepted'],
        ],
      )
    })

    test('the endpoint name of a refused request is shortened', async (bench) => {
      const { sample } = bench
      const refused = { outcome: 'refused', status: 401, code: 'UNAUTHORIZED' } as const
      const endpoint = 'x'.repeat(15_000)
      for (let time = 0; time < 3; time += 1) bench.store.note(sample.request({ ...refused, endpoint }))
      const { items } = await bench.store.read.requests({ outcome: 'refused' })
      assert.deepEqual(
        items.map(({ endpoint: name, count }) => [name, count]),
        [['x'.repeat(200), 3]],
      )
    })

    single('requests that were deleted for their age no longer count', async (t) => {
      const keepMs = 3_600_000
      const bench = await openBench(t, subject, { keepMs, maxWithoutEffect: 2, maxBodyBytes: 200 })
      const sample = createSampler(bench)
      const note = () => {
        const body = Buffer.alloc(100)
        const request = sample.request({ outcome: 'ignored', status: 200, body })
        bench.store.note(request)
        return request.id
      }
      note()
      note()
      await bench.settled()
      bench.clock.advance(keepMs + 120_000)
      const kept = async () => (await bench.store.read.requests()).items.map(({ id }) => id).reverse()
      for (let slice = 0; slice < 100 && (await kept()).length > 0; slice += 1) {
        bench.clock.advance(1_000)
        await bench.settled()
      }
      const newest = [note(), note()]
      await bench.settled()
      assert.deepEqual(await kept(), newest)
      assert.equal((await bench.store.read.recentBodies()).length, 2)
      const [, second] = newest
      const third = note()
      await bench.settled()
      assert.deepEqual(await kept(), [second, third])
    })
  })
}

function waiting({ store }: ContractContext) {
  const { backlog, full, events, fullOfEvents } = store.health()
  return { backlog, full, events, fullOfEvents }
}

async function heartbeat(bench: ContractContext): Promise<HeldClaim> {
  const worker = startManualWorker(bench.store, ['heartbeat'])
  await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
  return worker.next()
}

function consume(claim: HeldClaim, { clock, mintId }: ContractContext, events: readonly Id[]): void {
  claim.settle({ done: true, effects: { consume: { by: mintId(), at: clock.now(), events } } })
}
