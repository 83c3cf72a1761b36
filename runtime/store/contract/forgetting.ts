/** The contract of forgetting: what a request brought is erased wherever it went, and the records stay. */

import assert from 'node:assert/strict'
import type { Id, RequestRecord, Store } from '../port.ts'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { idOf, idsOf, type Sampler } from './bench/samples.ts'

const secret = 'the secret of the payload'
const kept = {
  body: new Uint8Array(Buffer.from(secret)),
  head: { headers: { 'x-secret': secret }, query: {} },
}

export const forgettingContract = contractPart('forgetting', (test) => {
  test('what a request brought is erased wherever it went, and the records stay', async (bench, sample) => {
    const spread = await spreadText(bench, sample)
    assert.ok((await everything(bench.store)).includes(secret))
    bench.clock.advance(60_000)
    const at = bench.clock.now()
    assert.deepEqual(await forget(bench, spread.request.id), { ok: true, done: 1 })
    const left = await everything(bench.store)
    assert.ok(!left.includes(secret), left)
    for (const open of [async () => bench.store, () => bench.open()]) {
      const { read } = await open()
      const { body: _body, head: _head, ...request } = spread.request
      assert.deepEqual(await read.request(spread.request.id), { ...request, forgottenAt: at })
      const run = (await read.run(spread.run)) ?? assert.fail()
      const expected = { message: '', prompt: '', state: 'succeeded', forgottenAt: at } as const
      assert.partialDeepStrictEqual(run, expected)
      assert.ok(!('reply' in run) && !('name' in run))
      const consumed = { text: '', prompt: '', state: 'consumed', forgottenAt: at } as const
      for (const id of [spread.event, spread.summary])
        assert.partialDeepStrictEqual(await read.event(id), consumed)
      const delivered = { text: '', state: 'delivered', forgottenAt: at } as const
      assert.partialDeepStrictEqual(await read.delivery(spread.delivery), delivered)
      const { messages = [] } = (await read.session('pr:1')) ?? {}
      assert.deepEqual(
        [messages.map(({ text }) => text), await read.session('main')],
        [['another turn'], undefined],
      )
      const { items } = await read.sessions()
      assert.deepEqual([items.length, items[0]?.key, items[0]?.turns], [1, 'pr:1', 1])
    }
    bench.clock.advance(1_000)
    assert.deepEqual(await forget(bench, spread.request.id), { ok: true, done: 1 })
    const { forgottenAt } = (await bench.store.read.request(spread.request.id)) ?? {}
    assert.equal(forgottenAt, at, 'the first time counts')
  })

  test(
    'body and trace of a request without effect are erased, and leave room',
    { maxBodyBytes: 1_000 },
    async (bench, sample) => {
      const trace = { candidates: [{ actual: secret }], more: 0 }
      const note = async () => {
        const request = sample.request({ outcome: 'failed', body: Buffer.alloc(400), trace })
        bench.store.note(request)
        await bench.settled()
        return request.id
      }
      assert.equal((await forget(bench, await note())).done, 1)
      assert.ok(!(await everything(bench.store)).includes(secret))
      const [second, third] = [await note(), await note()]
      assert.deepEqual(idsOf(await bench.store.read.recentBodies()), [third, second])
    },
  )

  test('while a run is open or its delivery is unsent nothing of the request is erased', async (bench, sample) => {
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
    const claim = await bench.claim('run')
    assert.match(await reasonOf(), /run .* is queued/, 'it is claimed')
    await claim.checkpoint({ run: { id: idOf(action), state: 'running' } })
    assert.match(await reasonOf(), /run .* is running/)
    const delivery = sample.delivery({ runId: idOf(action), text: secret })
    const ended = { state: 'succeeded', stage: 'summarised', deliveryIds: [delivery.id] } as const
    const tasks = [sample.deliveryTask(delivery)]
    claim.done({ run: { id: idOf(action), ...ended }, deliveries: [delivery], tasks })
    await bench.settled()
    assert.match(await reasonOf(), /delivery .* is not sent/)
    ;(await bench.claim('delivery')).done({ delivery: { id: delivery.id, state: 'parked' } })
    await bench.settled()
    assert.deepEqual(await forget(bench, id), { ok: true, done: 1 })
    assert.ok(!(await everything(bench.store)).includes(secret))

    const replay = { at: 0, to: { channel: 'terminal', to: 'x' }, task: sample.deliveryTask(delivery) }
    const again = await bench.store.command({ type: 'replay-delivery', delivery: delivery.id, ...replay })
    assert.equal(again.why, 'state', 'an empty reply is not sent')
  })

  test('a parked run that is forgotten is not resumed', async (bench, sample) => {
    const action = sample.runAction({ message: secret, prompt: secret })
    const entry = sample.entry(action)
    await bench.store.accept(entry)
    const claim = await bench.claim('run')
    const error = { code: 'BUDGET', message: `after ${secret}`, retryable: true }
    const attempts = [{ number: 1, startedAt: 1, endedAt: 2, outcome: 'failed', reason: secret }] as const
    claim.done({ run: { id: idOf(action), state: 'parked', error, attempts, warnings: [secret] } })
    await bench.settled()
    assert.equal((await forget(bench, entry.request.id)).done, 1)
    const run = await bench.store.read.run(idOf(action))
    assert.deepEqual([run?.state, run?.error?.code, run?.attempts.length], ['parked', 'BUDGET', 1])
    assert.ok(!(await everything(bench.store)).includes(secret))
    assert.equal((await bench.store.command({ type: 'resume', run: idOf(action), at: 0 })).why, 'state')
  })

  test('a pending event is consumed, unless a heartbeat is under way that may show it', async (bench, sample) => {
    const action = () => sample.eventAction({ mode: 'next-heartbeat', text: secret })
    const [first, second] = [action(), action()]
    const [one, two] = [sample.entry(first), sample.entry(second)]
    for (const entry of [one, two]) await bench.store.accept(entry)
    assert.equal((await forget(bench, one.request.id)).done, 1)
    assert.equal(bench.store.health().events, 1)
    const event = await bench.store.read.event(idOf(first))
    assert.deepEqual([event?.state, event?.text, event?.consumedBy], ['consumed', '', undefined])

    await bench.scheduleHeartbeat()
    const claim = await bench.claim('heartbeat')
    assert.deepEqual(idsOf((await claim.load()).events), [idOf(second)], 'no empty event is shown')
    assert.match((await forget(bench, two.request.id)).refused?.[0]?.reason ?? '', /heartbeat/)
    // The heartbeat fails, so the event stays pending, but its text is in the record of the heartbeat.
    const shown = { prompt: secret, eventIds: [idOf(second)], state: 'running' } as const
    const heartbeat = sample.run({ kind: 'heartbeat', sessionKey: 'main', ...shown })
    await claim.checkpoint({ run: heartbeat })
    const effects = { run: { id: heartbeat.id, state: 'failed' } } as const
    claim.settle({ again: bench.clock.now() + 60_000, counts: true, effects })
    await bench.settled()
    assert.deepEqual(await forget(bench, two.request.id), { ok: true, done: 1 })
    assert.equal(bench.store.health().events, 0)
    assert.ok(!(await everything(bench.store)).includes(secret))
  })

  test('a run that several requests became is erased as a whole, and a duplicate leaves its original alone', async (bench, sample) => {
    const coalesced = (message: string) =>
      sample.entry(sample.coalescedAction({ keep: 'all' }, { message, prompt: message }))
    const [first, second] = [coalesced('the first text'), coalesced(secret)]
    for (const entry of [first, second]) await bench.store.accept(entry)
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

  test('unknown requests are refused, and too many at once are', async (bench, sample) => {
    const refused = sample.request({ outcome: 'refused', status: 401 })
    bench.store.note(refused)
    const ids = [bench.mintId(), 'no id', refused.id]
    const result = await forget(bench, ...ids)
    assert.deepEqual([result.done, idsOf(result.refused ?? [])], [0, ids])
    const many = Array.from({ length: 501 }, bench.mintId)
    await assert.rejects(forget(bench, ...many), { code: 'BAD_ENTRY' })
  })

  test('a listener hears of what was forgotten', async (bench, sample) => {
    const spread = await spreadText(bench, sample)
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

function forget({ store, clock }: ContractBench, ...requests: Id[]) {
  return store.command({ type: 'forget', requests, at: clock.now() })
}

/** Makes a request whose text went everywhere: into a run, its reply, a session, a delivery, a summary and a heartbeat. */
async function spreadText(bench: ContractBench, sample: Sampler) {
  const { store, clock } = bench
  const asked = { name: secret, message: secret, prompt: `Do ${secret}` }
  const action = sample.runAction({ sessionKey: 'pr:1', ...asked })
  const event = sample.eventAction({ mode: 'next-heartbeat', text: secret, prompt: `It said ${secret}` })
  const { request, ...entry } = sample.entry(action, event)
  const whole: RequestRecord = { ...request, ...kept }
  await store.accept({ ...entry, request: whole })
  const id = idOf(action)
  const delivery = sample.delivery({ runId: id, state: 'delivered', text: secret })
  const shown = { text: secret, prompt: secret, origin: { runId: id } }
  const summary = sample.event({ mode: 'next-heartbeat', ...shown })
  const succeeded = { state: 'succeeded', stage: 'delivered' } as const
  ;(await bench.claim('run')).done({
    run: { id, ...succeeded, reply: secret, summaryEventId: summary.id, deliveryIds: [delivery.id] },
    append: [{ ...sample.turn('pr:1', secret), turn: id }, sample.turn('pr:1', 'another turn')],
    events: [summary],
    deliveries: [delivery],
  })
  await bench.settled()
  const events = [idOf(event), summary.id]
  await bench.scheduleHeartbeat()
  const fields = { sessionKey: 'main', message: '', prompt: secret, eventIds: events, reply: secret }
  const heartbeat = sample.run({ kind: 'heartbeat', ...fields, ...succeeded })
  ;(await bench.claim('heartbeat')).done({
    run: heartbeat,
    append: [{ ...sample.turn('main', secret), turn: heartbeat.id }],
    consume: { by: heartbeat.id, at: clock.now(), events },
  })
  await bench.settled()
  return { request: whole, run: id, event: idOf(event), summary: summary.id, delivery: delivery.id }
}

/** Returns all that a reader can see, as one text. */
async function everything({ read }: Store): Promise<string> {
  const [requests, runs, sessions] = [await read.requests(), await read.runs(), await read.sessions()]
  const each = await Promise.all([
    ...requests.items.map(({ id }) => read.request(id)),
    ...runs.items.map(({ id }) => read.run(id)),
    ...sessions.items.map(({ key }) => read.session(key)),
  ])
  const bodies = each.map((record) =>
    record !== undefined && 'body' in record && record.body ? record.body : [],
  )
  const texts = bodies.map((body) => Buffer.from(body).toString())
  return JSON.stringify([requests, runs, await read.events(), await read.deliveries(), each, texts])
}
