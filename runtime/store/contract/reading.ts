/** The contract of the reader: pages, filters, refused requests, the route, and what a pasted text names. */

import assert from 'node:assert/strict'
import { pagesOf } from '../pages.ts'
import type { RequestFilters, RequestRecord } from '../port.ts'
import { contractPart } from './bench/bench.ts'
import { allOf, idOf, idsIn, idsOf } from './bench/samples.ts'

const head = { headers: { 'x-event': 'push', 'set-cookie': ['a', 'b'] }, query: { page: '2' } }

export const readingContract = contractPart('reading', (test) => {
  test('lists are newest first, and their pages join without a gap while new items arrive', async (bench, sample) => {
    const actions = Array.from({ length: 5 }, () => sample.runAction())
    for (const action of actions) await bench.accept(action)
    const newestFirst = actions.map(idOf).toReversed()
    const ids: string[] = []
    for await (const page of pagesOf(bench.store.read.runs, 2)) {
      ids.push(...idsOf(page))
      await bench.accept(sample.runAction())
    }
    assert.deepEqual(ids, newestFirst)
  })

  test('a page of large records ends early, and the pages join without a gap', async (bench, sample) => {
    const message = 'x'.repeat(1_500_000)
    const actions = Array.from({ length: 5 }, () => sample.runAction({ message }))
    for (const action of actions) await bench.accept(action)
    const { runs } = bench.store.read
    assert.ok((await runs({ limit: 500 })).items.length < actions.length)
    assert.deepEqual(idsOf(await allOf(runs, 500)), actions.map(idOf).toReversed())
  })

  test('a page that ends with the last item names no next one', async (bench, sample) => {
    await bench.accept(sample.eventAction(), sample.eventAction())
    const page = await bench.store.read.events({ limit: 2 })
    assert.equal(page.items.length, 2)
    assert.equal(page.next, undefined)
  })

  test('a cursor that came from no page is refused', async (bench) => {
    const { read } = bench.store
    for (const cursor of ["' OR 1=1", 'c9bf9e57-1685-4c89-bafb-ff5af830be8a'])
      for (const list of [read.runs, read.requests, read.jobs, read.issues, read.sessions])
        await assert.rejects(list({ cursor }), { code: 'BAD_CURSOR' })
    await assert.rejects(read.jobItems(bench.mintId(), { cursor: 'x' }), { code: 'BAD_CURSOR' })
  })

  test('requests are found by each fact of theirs, on disk and in memory', async (bench, sample) => {
    const original = sample.request({ mapping: 'm1', client: '10.0.0.1' })
    const facts = {
      code: 'IDEMPOTENCY_CONFLICT',
      mapping: 'm2',
      client: '10.0.0.2',
      deliveryId: 'd-2',
      replayOf: original.id,
      generation: 7,
      generationDigest: 'abc',
      node: 'n2',
    } as const
    const request = sample.request(facts)
    await bench.store.accept({ request: original, actions: [] })
    await bench.store.accept({ request, actions: [] })
    const unauthorized = { outcome: 'refused', status: 401, code: 'UNAUTHORIZED' } as const
    const refused = sample.request({ ...unauthorized, client: '10.0.0.2' })
    bench.store.note(refused)
    const ids = (filters: RequestFilters) => idsIn(bench.store.read.requests(filters))
    for (const [name, value] of Object.entries(facts)) {
      const found = name === 'client' ? [refused.id, request.id] : [request.id]
      assert.deepEqual(await ids({ [name]: value }), found, name)
    }
    assert.deepEqual(await ids({ mapping: 'm1', client: '10.0.0.2' }), [])
    assert.deepEqual(await ids({ code: 'UNAUTHORIZED' }), [refused.id])
    assert.deepEqual(await ids({ replayOf: 'no id' }), [])
  })

  test('lists are filtered by outcome, endpoint, state, session and kind', async (bench, sample) => {
    const one = sample.runAction({ sessionKey: 'pr:1', endpoint: 'github' })
    const two = sample.runAction({ sessionKey: 'pr:2', endpoint: 'other' })
    const event = sample.eventAction()
    const accepted = sample.entry(one, two, event)
    await bench.store.accept(accepted)
    const failed = sample.request({ outcome: 'failed', endpoint: 'billing', status: 500 })
    bench.store.note(failed)
    const claim = await bench.work(['run'], 1).next()
    const running = claim.task.subject ?? ''
    await claim.checkpoint({ run: { id: running, state: 'running' } })
    const { read } = bench.store
    for (const [list, ids] of [
      [read.requests({ outcome: 'failed' }), [failed.id]],
      [read.requests({ outcome: 'accepted' }), [accepted.request.id]],
      [read.requests({ endpoint: 'billing' }), [failed.id]],
      [read.requests({ endpoint: 'billing', outcome: 'accepted' }), []],
      [read.runs({ state: 'running' }), [running]],
      [read.runs({ state: 'queued' }), [idOf(two)]],
      [read.runs({ sessionKey: 'pr:1' }), [idOf(one)]],
      [read.runs({ endpoint: 'other' }), [idOf(two)]],
      [read.runs({ endpoint: 'other', state: 'running' }), []],
      [read.runs({ kind: 'heartbeat' }), []],
      [read.events({ state: 'pending' }), [idOf(event)]],
      [read.events({ state: 'consumed' }), []],
      [read.deliveries({ state: 'parked' }), []],
    ] as const)
      assert.deepEqual(await idsIn(list), ids)
  })

  test('a record that does not exist is undefined', async (bench) => {
    const { read } = bench.store
    const random = 'c9bf9e57-1685-4c89-bafb-ff5af830be8a'
    for (const id of [bench.mintId(), 'no id at all', '', random])
      for (const get of [read.request, read.run, read.event, read.delivery])
        assert.equal(await get(id), undefined)
    assert.equal(await read.session('pr:none'), undefined)
    assert.equal(await read.route(), undefined)
  })

  test('a kept body and its head come with their request, and lists say that it is kept', async (bench, sample) => {
    const entry = sample.entry(sample.runAction())
    const kept = { body: new Uint8Array(Buffer.from('{"n":1}')), head }
    await bench.store.accept({ ...entry, request: { ...entry.request, ...kept } })
    assert.deepEqual(await bench.store.read.request(entry.request.id), { ...entry.request, ...kept })
    const { items } = await bench.store.read.requests()
    assert.deepEqual(items, [{ ...entry.request, bodyKept: true }])
  })

  test('a trace comes with its request, with and without a body, and in no list', async (bench, sample) => {
    const candidate = { mapping: 'm', verdict: 'failed', clause: { actual: '\ud83d' } }
    const trace = { candidates: [candidate], more: 2 }
    const ignored = sample.request({ outcome: 'ignored', status: 200 })
    const failed = sample.request({ outcome: 'failed', status: 500 })
    const kept = { body: new Uint8Array([1]), head }
    bench.store.note({ ...ignored, trace })
    bench.store.note({ ...failed, ...kept, trace: { ...trace, isForm: true } })
    await bench.settled()
    const { read } = await bench.open()
    assert.deepEqual(await read.request(ignored.id), { ...ignored, trace })
    const whole = { ...failed, ...kept, trace: { ...trace, isForm: true } }
    assert.deepEqual(await read.request(failed.id), whole)
    assert.deepEqual((await read.requests()).items, [{ ...failed, bodyKept: true }, ignored])
    const refused = sample.request({ outcome: 'refused', status: 404 })
    bench.store.note({ ...refused, trace })
    assert.deepEqual(await bench.store.read.request(refused.id), refused)
  })

  test('requests are listed from a time on and up to a time, on disk and in memory', async (bench, sample) => {
    const start = bench.clock.now()
    const outcomes = ['ignored', 'accepted', 'refused'] as const
    for (let i = 0; i < 9; i += 1) {
      const facts = { outcome: outcomes[i % 3] ?? 'ignored', status: 400, mapping: `m${i % 2}` }
      const request = sample.request(facts)
      if (request.outcome === 'accepted') await bench.store.accept({ request, actions: [] })
      else bench.store.note(request)
      bench.clock.advance(1_000)
    }
    await bench.settled()
    const { requests } = bench.store.read
    const numbersOf = (items: readonly RequestRecord[]) =>
      items.map(({ receivedAt }) => (receivedAt - start) / 1_000).reverse()
    const found = async (filters: RequestFilters) => numbersOf((await requests(filters)).items)
    const [since, until] = [start + 2_000, start + 6_000]
    assert.deepEqual(await found({ since }), [2, 3, 4, 5, 6, 7, 8])
    assert.deepEqual(await found({ until }), [0, 1, 2, 3, 4, 5])
    assert.deepEqual(await found({ since, until }), [2, 3, 4, 5])
    assert.deepEqual(await found({ since: since + 1, until: until + 1 }), [3, 4, 5, 6])
    assert.deepEqual(await found({ since, until, outcome: 'ignored' }), [3])
    assert.deepEqual(await found({ since, until, mapping: 'm1' }), [3, 5])
    assert.deepEqual(await found({ since: until, until: since }), [])
    const all = await allOf((page) => requests({ since, until, ...page }), 3)
    assert.deepEqual(numbersOf(all), [2, 3, 4, 5])
  })

  test('a request that came after the clock was set back is listed by the time at which it was received', async (bench, sample) => {
    const before = bench.clock.now()
    bench.clock.advance(600_000)
    const first = sample.request()
    await bench.store.accept({ request: first, actions: [] })
    bench.clock.advance(-600_000)
    const second = sample.request()
    await bench.store.accept({ request: second, actions: [] })
    const { requests } = bench.store.read
    assert.deepEqual(await idsIn(requests({ until: before + 1 })), [second.id])
    assert.deepEqual(await idsIn(requests({ since: before + 1 })), [first.id])
  })

  test('the newest requests whose bodies are kept come whole, and the others do not come', async (bench, sample) => {
    const body = (text: string) => new Uint8Array(Buffer.from(text))
    const accepted = sample.entry(sample.runAction())
    const first = { ...accepted.request, body: body('1'), head }
    await bench.store.accept({ ...accepted, request: first })
    bench.store.note({ ...sample.request({ outcome: 'refused', status: 400 }), body: body('2'), head })
    bench.store.note(sample.request({ outcome: 'ignored', status: 200 }))
    const failed = { ...sample.request({ outcome: 'failed', status: 500 }), body: body('3'), head }
    bench.store.note(failed)
    const empty = { ...sample.request({ outcome: 'skipped', status: 200 }), body: body('') }
    bench.store.note(empty)
    await bench.accept(sample.runAction())
    const { read } = bench.store
    assert.deepEqual(await read.recentBodies(), [empty, failed, first])
    assert.deepEqual(await read.recentBodies({ limit: 2 }), [empty, failed])
    const store = await bench.open()
    assert.deepEqual(await store.read.recentBodies({ limit: 1 }), [empty])
  })

  test('large bodies are answered one by one rather than all at once', async (bench, sample) => {
    const requests = [9_000_000, 9_000_000, 7_000_000].map((bytes) => ({
      ...sample.request({ outcome: 'ignored', status: 200 }),
      body: new Uint8Array(bytes),
      head,
    }))
    for (const request of requests) bench.store.note(request)
    await bench.settled()
    const found = await bench.store.read.recentBodies()
    assert.deepEqual(idsOf(found), idsOf(requests.slice(1)).reverse())
    assert.deepEqual([found[0]?.body?.length, found[1]?.body?.length], [7_000_000, 9_000_000])
  })

  test('refused requests are listed between the others, without their bodies', async (bench, sample) => {
    const older = sample.entry(sample.runAction())
    await bench.store.accept(older)
    const refused = sample.request({ outcome: 'refused', status: 404, code: 'NOT_FOUND' })
    bench.store.note({ ...refused, body: Buffer.from('{}'), head })
    const newer = sample.entry(sample.runAction())
    await bench.store.accept(newer)
    const expected = [newer.request.id, refused.id, older.request.id]
    assert.deepEqual(idsOf(await allOf(bench.store.read.requests, 1)), expected)
    assert.deepEqual((await bench.store.read.requests({ outcome: 'refused' })).items, [refused])
    assert.deepEqual(await bench.store.read.request(refused.id), refused)
    assert.equal((await bench.store.read.requests({ outcome: 'accepted' })).items.length, 2)
  })

  test('a refused request that is accepted is on the disk with its body, and listed with those in memory', async (bench, sample) => {
    const refused = { outcome: 'refused', status: 400, code: 'BLANK_TEXT', mapping: 'm' } as const
    const kept = { ...sample.request(refused), body: new Uint8Array([1]), head }
    await bench.store.accept({ request: kept, actions: [] })
    const outsider = sample.request({ outcome: 'refused', status: 401 })
    bench.store.note(outsider)
    const { requests } = bench.store.read
    assert.deepEqual(await idsIn(requests({ outcome: 'refused' })), [outsider.id, kept.id])
    const { items } = await requests({ outcome: 'refused', mapping: 'm' })
    assert.deepEqual([idsOf(items), items[0]?.bodyKept], [[kept.id], true])
    const store = await bench.open()
    assert.deepEqual(await store.read.request(kept.id), kept)
  })

  test('wrong tokens of one client are summed up by the minute', async (bench, sample) => {
    const wrong = (client: string) =>
      bench.store.note(sample.request({ outcome: 'refused', status: 401, client }))
    for (const client of ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.1']) wrong(client)
    bench.clock.advance(60_000)
    wrong('10.0.0.1')
    const { items } = await bench.store.read.requests({ outcome: 'refused' })
    const summed = items.map(({ client, count = 1 }) => `${client} ${count}`)
    assert.deepEqual(summed, ['10.0.0.1 1', '10.0.0.2 1', '10.0.0.1 3'])
  })

  test("repetitions of one client without credentials are summed up and push no other client's requests out", async (bench, sample) => {
    const statuses = [401, 403, 404, 405, 408, 413, 429, 503]
    for (const status of [...statuses, ...statuses])
      bench.store.note(sample.request({ outcome: 'refused', status, client: '10.0.0.1' }))
    const full = { outcome: 'refused', status: 503, client: '10.0.0.1', code: 'BACKLOG' } as const
    bench.store.note(sample.request(full))
    const { items } = await bench.store.read.requests({ outcome: 'refused' })
    const summed = items.map(({ status, count = 1 }) => `${status} ${count}`).reverse()
    assert.deepEqual(summed, [...statuses.map((status) => `${status} 2`), '503 1'])
  })

  test('repetitions of one client are summed up by endpoint and by the cause of the failed authentication', async (bench, sample) => {
    const refused = { outcome: 'refused', status: 401, client: '10.0.0.1', endpoint: 'github' } as const
    const wrong = { ...refused, failure: 'SIGNATURE_MISMATCH' }
    for (const each of [
      wrong,
      { ...wrong, endpoint: 'billing' },
      { ...wrong, failure: 'TIMESTAMP_OUTSIDE' },
      { ...wrong, status: 429 },
      { ...refused, outcome: 'handshake', status: 200 } as const,
      { ...refused, status: 400 },
    ])
      for (let time = 0; time < 2; time += 1) bench.store.note(sample.request(each))
    const summed = async (outcome: string) =>
      (await bench.store.read.requests({ outcome })).items.map(({ endpoint, status, failure, count = 1 }) =>
        [endpoint, status, failure, count].join(' '),
      )
    assert.deepEqual(await summed('refused'), [
      'github 400  1',
      'github 400  1',
      'github 429 SIGNATURE_MISMATCH 2',
      'github 401 TIMESTAMP_OUTSIDE 2',
      'billing 401 SIGNATURE_MISMATCH 2',
      'github 401 SIGNATURE_MISMATCH 2',
    ])
    assert.deepEqual(await summed('handshake'), ['github 200  2'])
  })

  test('no more than 10,000 refused requests are remembered', async (bench, sample) => {
    const first = sample.request({ outcome: 'refused', status: 400 })
    bench.store.note(first)
    for (let i = 0; i < 10_000; i++) bench.store.note(sample.request({ outcome: 'refused', status: 400 }))
    assert.equal(await bench.store.read.request(first.id), undefined)
  })

  test('a route that an operator set wins over offered ones, for good', async (bench) => {
    const offer = (channel: string | undefined) =>
      bench.store.command({ type: 'offer-route', route: channel === undefined ? undefined : { channel } })
    assert.deepEqual(await offer('slack'), { ok: true })
    assert.deepEqual(await bench.store.read.route(), { channel: 'slack' })
    await offer(undefined)
    assert.equal(await bench.store.read.route(), undefined)
    await bench.store.command({ type: 'set-route', route: { channel: 'terminal', to: 'stdout' } })
    assert.equal((await offer('slack')).ok, false)
    const store = await bench.open()
    assert.equal((await offer(undefined)).ok, false)
    assert.deepEqual(await store.read.route(), { channel: 'terminal', to: 'stdout' })
  })

  test('a whole id and the end of an id find a record of each kind, in memory too', async (bench, sample) => {
    const [run, event] = [sample.runAction(), sample.eventAction()]
    const entry = sample.entry(run, event)
    await bench.store.accept(entry)
    const delivery = sample.delivery()
    await bench.store.command({ type: 'send', delivery, task: sample.deliveryTask(delivery) })
    const refused = sample.request({ outcome: 'refused', status: 401 })
    bench.store.note(refused)
    const { find } = bench.store.read
    for (const [kind, id] of [
      ['request', entry.request.id],
      ['run', idOf(run)],
      ['event', idOf(event)],
      ['delivery', delivery.id],
      ['request', refused.id],
    ] as const) {
      for (const text of [id, ` ${id.toUpperCase()}\n`, id.slice(-12), id.slice(-6)])
        assert.deepEqual(await find(text), [{ kind, id }], `${kind} by ${text}`)
      assert.deepEqual(await find(id.slice(-3)), [], 'three characters would find nearly anything')
    }
  })

  test("a sender's id of a delivery, a session and a generation are found", async (bench, sample) => {
    const guid = 'c9bf9e57-1685-4c89-bafb-ff5af830be8a'
    const generationDigest = 'abcdef0123456789'
    const facts = { deliveryId: guid, generation: 12, generationDigest } as const
    const request = sample.request({ ...facts, outcome: 'ignored' })
    bench.store.note(request)
    await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
    const claim = await bench.claim('run')
    await bench.accept(sample.runAction({ sessionKey: 'pr:2' }))
    await claim.checkpoint({ append: [sample.turn('pr:1')] })
    const { find } = bench.store.read
    assert.deepEqual(await find(guid), [{ kind: 'request', id: request.id }])
    assert.deepEqual(await find('pr:1'), [{ kind: 'session', id: 'pr:1' }])
    assert.deepEqual(await find('pr:2'), [{ kind: 'session', id: 'pr:2' }], 'before it has a turn')
    assert.deepEqual(await find('12'), [{ kind: 'generation', id: '12' }])
    assert.deepEqual(await find(`${generationDigest}${'0'.repeat(48)}`), [{ kind: 'generation', id: '12' }])
    for (const text of ['', ' ', '13', 'pr:3', "' OR 1=1", '%', '-', '\ud83d'])
      assert.deepEqual(await find(text), [], text)
  })

  test('at most 20 are found', async (bench, sample) => {
    for (let i = 0; i < 30; i += 1)
      bench.store.note(sample.request({ outcome: 'ignored', deliveryId: 'same' }))
    await bench.settled()
    assert.equal((await bench.store.read.find('same')).length, 20)
  })
})
