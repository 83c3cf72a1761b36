/** The contract of forgetting: what a request brought is erased wherever it went, and the records stay. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Id, RequestRecord, Store } from '../port.ts'
import { heartbeatTask } from '../task-keys.ts'
import type { ContractContext, ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

const secret = 'the secret of the payload'
const kept = {
  body: new Uint8Array(Buffer.from(secret)),
  head: { headers: { 'x-secret': secret }, query: {} },
}

export function forgettingContract(subject: ContractSubject): void {
  describe(`${subject.name}: forgetting`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('what a request brought is erased wherever it went, and the records stay', async (bench) => {
      const spread = await spreadText(bench)
      assert.ok((await everything(bench.store)).includes(secret))
      bench.clock.advance(60_000)
      const at = bench.clock.now()
      assert.deepEqual(await forget(bench, spread.request.id), { ok: true, done: 1 })
      const left = await everything(bench.store)
      assert.ok(!left.includes(secret), left)
      for (const open of [async () => bench.store, () => bench.open()]) {
        const store = await open()
        const { body: _body, head: _head, ...request } = spread.request
        assert.deepEqual(await store.read.request(spread.request.id), { ...request, forgottenAt: at })
        const run = await store.read.run(spread.run)
        assert.deepEqual(
          [run?.message, run?.prompt, run?.reply, run?.name, run?.state, run?.forgottenAt],
          ['', '', undefined, undefined, 'succeeded', at],
        )
        for (const id of [spread.event, spread.summary]) {
          const event = await store.read.event(id)
          assert.deepEqual(
            [event?.text, event?.prompt, event?.state, event?.forgottenAt],
            ['', '', 'consumed', at],
          )
        }
        const delivery = await store.read.delivery(spread.delivery)
        assert.deepEqual([delivery?.text, delivery?.state, delivery?.forgottenAt], ['', 'delivered', at])
        assert.deepEqual(
          (await store.read.session('pr:1'))?.messages.map(({ text }) => text),
          ['another turn'],
        )
        assert.equal(await store.read.session('main'), undefined)
      }
      assert.deepEqual(
        (await bench.store.read.sessions()).items.map(({ key, turns }) => [key, turns]),
        [['pr:1', 1]],
      )
      bench.clock.advance(1_000)
      assert.deepEqual(await forget(bench, spread.request.id), { ok: true, done: 1 })
      assert.equal(
        (await bench.store.read.request(spread.request.id))?.forgottenAt,
        at,
        'the first time counts',
      )
    })

    test('a trace is erased, and so is the body of a request without effect, and room for others is left', async (bench) => {
      await bench.open({ maxBodyBytes: 1_000 })
      const { sample } = bench
      const trace = { candidates: [{ actual: secret }], more: 0 }
      const note = () => {
        const request = sample.request({ outcome: 'failed', body: Buffer.alloc(400), trace })
        bench.store.note(request)
        return request.id
      }
      const first = note()
      await bench.settled()
      assert.equal((await forget(bench, first)).done, 1)
      assert.ok(!(await everything(bench.store)).includes(secret))
      const [second, third] = [note(), note()]
      await bench.settled()
      assert.deepEqual(
        (await bench.store.read.recentBodies()).map(({ id }) => id),
        [third, second],
      )
    })

    test('while a run is open or its delivery is unsent nothing of the request is erased', async (bench) => {
      const { sample } = bench
      const action = sample.runAction({ message: secret })
      const other = sample.request({ outcome: 'failed', ...kept })
      const entry = sample.entry(action, sample.eventAction({ mode: 'next-heartbeat', text: secret }))
      await bench.store.accept({ ...entry, request: { ...entry.request, ...kept } })
      bench.store.note(other)
      await bench.settled()
      const { id } = entry.request
      const reasonOf = async () => {
        const { refused, done } = await forget(bench, id, other.id)
        assert.equal(done, 1, 'the other one is forgotten')
        assert.equal(refused?.[0]?.id, id)
        assert.ok((await bench.store.read.request(id))?.body)
        return refused?.[0]?.reason ?? ''
      }
      assert.match(await reasonOf(), /run .* is queued/)
      const claim = await startManualWorker(bench.store, ['run']).next()
      assert.match(await reasonOf(), /run .* is queued/, 'it is claimed')
      await claim.checkpoint({ run: { id: idOf(action), state: 'running' } })
      assert.match(await reasonOf(), /run .* is running/)
      const delivery = sample.delivery({ runId: idOf(action), text: secret })
      const run = {
        id: idOf(action),
        state: 'succeeded',
        stage: 'summarised',
        deliveryIds: [delivery.id],
      } as const
      const tasks = [sample.deliveryTask(delivery)]
      claim.settle({ done: true, effects: { run, deliveries: [delivery], tasks } })
      await bench.settled()
      assert.match(await reasonOf(), /delivery .* is not sent/)
      const sending = await startManualWorker(bench.store, ['delivery']).next()
      sending.settle({ done: true, effects: { delivery: { id: delivery.id, state: 'parked' } } })
      await bench.settled()
      assert.deepEqual(await forget(bench, id), { ok: true, done: 1 })
      assert.ok(!(await everything(bench.store)).includes(secret))

      const replay = { at: 0, to: { channel: 'terminal', to: 'x' }, task: sample.deliveryTask(delivery) }
      const again = await bench.store.command({ type: 'replay-delivery', delivery: delivery.id, ...replay })
      assert.deepEqual([again.ok, again.why], [false, 'state'], 'an empty reply is not sent')
    })

    test('a parked run that is forgotten is not resumed', async (bench) => {
      const { sample } = bench
      const action = sample.runAction({ message: secret, prompt: secret })
      const entry = sample.entry(action)
      await bench.store.accept(entry)
      const claim = await startManualWorker(bench.store, ['run']).next()
      const error = { code: 'BUDGET', message: `after ${secret}`, retryable: true }
      const attempts = [{ number: 1, startedAt: 1, endedAt: 2, outcome: 'failed', reason: secret }] as const
      claim.settle({
        done: true,
        effects: { run: { id: idOf(action), state: 'parked', error, attempts, warnings: [secret] } },
      })
      await bench.settled()
      assert.equal((await forget(bench, entry.request.id)).done, 1)
      const run = await bench.store.read.run(idOf(action))
      assert.deepEqual([run?.state, run?.error?.code, run?.attempts.length], ['parked', 'BUDGET', 1])
      assert.ok(!(await everything(bench.store)).includes(secret))
      const resumed = await bench.store.command({ type: 'resume', run: idOf(action), at: 0 })
      assert.deepEqual([resumed.ok, resumed.why], [false, 'state'])
    })

    test('a pending event is consumed, unless a heartbeat is under way that may show it', async (bench) => {
      const { sample } = bench
      const [first, second] = [
        sample.eventAction({ mode: 'next-heartbeat', text: secret }),
        sample.eventAction({ mode: 'next-heartbeat', text: secret }),
      ]
      const [one, two] = [sample.entry(first), sample.entry(second)]
      await bench.store.accept(one)
      await bench.store.accept(two)
      assert.equal((await forget(bench, one.request.id)).done, 1)
      assert.equal(bench.store.health().events, 1)
      const event = await bench.store.read.event(idOf(first))
      assert.deepEqual([event?.state, event?.text, event?.consumedBy], ['consumed', '', undefined])

      const worker = startManualWorker(bench.store, ['heartbeat'])
      await bench.store.command({ type: 'schedule', task: heartbeatTask(bench.clock.now()) })
      const claim = await worker.next()
      const { events } = await claim.load()
      assert.deepEqual(
        events.map(({ id }) => id),
        [idOf(second)],
        'no empty event is shown',
      )
      assert.match((await forget(bench, two.request.id)).refused?.[0]?.reason ?? '', /heartbeat/)
      // The heartbeat fails, so the event stays pending, but its text is in the record of the heartbeat.
      const heartbeat = sample.run({
        kind: 'heartbeat',
        sessionKey: 'main',
        prompt: secret,
        eventIds: [idOf(second)],
      })
      await claim.checkpoint({ run: { ...heartbeat, state: 'running' } })
      claim.settle({
        again: bench.clock.now() + 60_000,
        counts: true,
        effects: { run: { id: heartbeat.id, state: 'failed' } },
      })
      await bench.settled()
      assert.deepEqual(await forget(bench, two.request.id), { ok: true, done: 1 })
      assert.equal(bench.store.health().events, 0)
      assert.ok(!(await everything(bench.store)).includes(secret))
    })

    test('a run that several requests became is erased as a whole, and a duplicate leaves its original alone', async (bench) => {
      const { sample } = bench
      const coalesced = (message: string) =>
        sample.entry(sample.coalescedAction({ keep: 'all' }, { message, prompt: message }))
      const [first, second] = [coalesced('the first text'), coalesced(secret)]
      await bench.store.accept(first)
      await bench.store.accept(second)
      const run = idOf(first.actions[0] ?? assert.fail())
      await bench.store.command({ type: 'cancel', run, at: bench.clock.now() })
      assert.equal((await bench.store.read.run(run))?.joined?.[0]?.message, secret)
      assert.equal((await forget(bench, second.request.id)).done, 1)
      const erased = await bench.store.read.run(run)
      assert.deepEqual([erased?.message, erased?.joined?.map(({ message }) => message)], ['', [undefined]])
      assert.equal((await bench.store.read.request(first.request.id))?.forgottenAt, undefined)

      const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 1_000 }
      const entries = [1, 2].map(() => sample.entry(sample.eventAction({ text: secret }, { dedupe })))
      for (const entry of entries) await bench.store.accept(entry)
      assert.equal((await forget(bench, entries[1]?.request.id ?? '')).done, 1)
      const original = entries[0]?.actions[0] ?? assert.fail()
      assert.equal((await bench.store.read.event(idOf(original)))?.text, secret)
    })

    test('unknown requests are refused, and too many at once are', async (bench) => {
      const refused = createSampler(bench).request({ outcome: 'refused', status: 401 })
      bench.store.note(refused)
      const ids = [bench.mintId(), 'no id', refused.id]
      const result = await forget(bench, ...ids)
      assert.deepEqual([result.done, result.refused?.map(({ id }) => id)], [0, ids])
      const many = Array.from({ length: 501 }, bench.mintId)
      await assert.rejects(forget(bench, ...many), { code: 'BAD_ENTRY' })
    })

    test('a listener hears of what was forgotten', async (bench) => {
      const spread = await spreadText(bench)
      const ended = new AbortController()
      const changes = bench.store.changes({ signal: ended.signal })[Symbol.asyncIterator]()
      await bench.settled()
      await forget(bench, spread.request.id)
      const seen = new Set<string>()
      while (!seen.has(spread.request.id)) seen.add((await changes.next()).value?.id ?? assert.fail())
      for (const id of [spread.run, spread.event, spread.delivery]) assert.ok(seen.has(id))
      ended.abort()
    })
  })
}

function forget({ store, clock }: ContractContext, ...requests: Id[]) {
  return store.command({ type: 'forget', requests, at: clock.now() })
}

interface Spread {
  readonly request: RequestRecord
  readonly run: Id
  readonly event: Id
  /** The summary of the run. */
  readonly summary: Id
  readonly delivery: Id
}

/** Makes a request whose text went everywhere: into a run, its reply, a session, a delivery, a summary and a heartbeat. */
async function spreadText(bench: ContractContext): Promise<Spread> {
  const sample = createSampler(bench)
  const { store, clock } = bench
  const action = sample.runAction({
    sessionKey: 'pr:1',
    name: secret,
    message: secret,
    prompt: `Do ${secret}`,
  })
  const event = sample.eventAction({ mode: 'next-heartbeat', text: secret, prompt: `It said ${secret}` })
  const { request, ...entry } = sample.entry(action, event)
  const whole = { ...request, ...kept }
  await store.accept({ ...entry, request: whole })
  const claim = await startManualWorker(store, ['run']).next()
  const id = idOf(action)
  const delivery = sample.delivery({ runId: id, state: 'delivered', text: secret })
  const summary = sample.event({
    mode: 'next-heartbeat',
    text: secret,
    prompt: secret,
    origin: { runId: id },
  })
  const other = bench.mintId()
  const said = (turn: Id, text: string) => [{ role: 'user' as const, text, at: clock.now(), turn }]
  const succeeded = { state: 'succeeded', stage: 'delivered' } as const
  claim.settle({
    done: true,
    effects: {
      run: { id, ...succeeded, reply: secret, summaryEventId: summary.id, deliveryIds: [delivery.id] },
      append: [
        { session: 'pr:1', turn: id, messages: said(id, secret) },
        { session: 'pr:1', turn: other, messages: said(other, 'another turn') },
      ],
      events: [summary],
      deliveries: [delivery],
    },
  })
  await bench.settled()
  const events = [idOf(event), summary.id]
  const worker = startManualWorker(store, ['heartbeat'])
  await store.command({ type: 'schedule', task: heartbeatTask(clock.now()) })
  const heartbeatClaim = await worker.next()
  const fields = {
    kind: 'heartbeat',
    sessionKey: 'main',
    message: '',
    prompt: secret,
    eventIds: events,
  } as const
  const heartbeat = sample.run({ ...fields, ...succeeded, reply: secret })
  heartbeatClaim.settle({
    done: true,
    effects: {
      run: heartbeat,
      append: [{ session: 'main', turn: heartbeat.id, messages: said(heartbeat.id, secret) }],
      consume: { by: heartbeat.id, at: clock.now(), events },
    },
  })
  await bench.settled()
  return { request: whole, run: id, event: idOf(event), summary: summary.id, delivery: delivery.id }
}

/** Returns all that a reader can see, as one text. */
async function everything({ read }: Store): Promise<string> {
  const [requests, runs, events, deliveries, sessions] = await Promise.all([
    read.requests({ limit: 500 }),
    read.runs({ limit: 500 }),
    read.events({ limit: 500 }),
    read.deliveries({ limit: 500 }),
    read.sessions({ limit: 500 }),
  ])
  const each = await Promise.all([
    ...requests.items.map(({ id }) => read.request(id)),
    ...runs.items.map(({ id }) => read.run(id)),
    ...sessions.items.map(({ key }) => read.session(key)),
  ])
  const bodies = each.map((record) =>
    record !== undefined && 'body' in record && record.body ? record.body : [],
  )
  const texts = bodies.map((body) => Buffer.from(body).toString())
  return JSON.stringify([requests, runs, events, deliveries, each, texts])
}
