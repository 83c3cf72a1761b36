/** The contract of the reader: pages, filters, refused requests and the route. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Page, PageOptions, RequestFilters, RequestRecord } from '../port.ts'
import type { ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { idOf } from './bench/samples.ts'

const head = { headers: { 'x-event': 'push', 'set-cookie': ['a', 'b'] }, query: { page: '2' } }

export function readingContract(subject: ContractSubject): void {
  describe(`${subject.name}: reading`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('lists are newest first, and their pages join without a gap while new items arrive', async (bench) => {
      const { sample } = bench
      const actions = Array.from({ length: 5 }, () => sample.runAction())
      for (const action of actions) await bench.store.accept(sample.entry(action))
      const newestFirst = actions.map(idOf).toReversed()
      const first = await bench.store.read.runs({ limit: 2 })
      await bench.store.accept(sample.entry(sample.runAction()))
      const second = await bench.store.read.runs({ limit: 2, cursor: first.next })
      const third = await bench.store.read.runs({ limit: 2, cursor: second.next })
      assert.deepEqual(
        [...first.items, ...second.items, ...third.items].map((run) => run.id),
        newestFirst,
      )
      assert.equal(third.next, undefined)
    })

    test('a page of large records ends early, and the pages join without a gap', async (bench) => {
      const { sample } = bench
      const message = 'x'.repeat(1_500_000)
      const actions = Array.from({ length: 5 }, () => sample.runAction({ message }))
      for (const action of actions) await bench.store.accept(sample.entry(action))
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const page = await bench.store.read.runs({ limit: 500, ...(cursor === undefined ? {} : { cursor }) })
        pages.push(page.items.map((run) => run.id))
        cursor = page.next
      } while (cursor !== undefined)
      assert.deepEqual(pages.flat(), actions.map(idOf).toReversed())
      assert.ok(pages.length > 1)
    })

    test('a page that ends with the last item names no next one', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.eventAction(), sample.eventAction()))
      const page = await bench.store.read.events({ limit: 2 })
      assert.equal(page.items.length, 2)
      assert.equal(page.next, undefined)
    })

    test('a cursor that came from no page is refused', async (bench) => {
      const { read } = bench.store
      for (const cursor of ["' OR 1=1", 'c9bf9e57-1685-4c89-bafb-ff5af830be8a']) {
        for (const list of [read.runs, read.requests, read.jobs, read.issues, read.sessions])
          await assert.rejects(list({ cursor }), { code: 'BAD_CURSOR' })
      }
      await assert.rejects(read.jobItems(bench.mintId(), { cursor: 'x' }), { code: 'BAD_CURSOR' })
    })

    test('requests are found by each fact of theirs, on disk and in memory', async (bench) => {
      const { sample } = bench
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
      const refused = sample.request({
        outcome: 'refused',
        status: 401,
        code: 'UNAUTHORIZED',
        client: '10.0.0.2',
      })
      bench.store.note(refused)
      const { read } = bench.store
      const ids = async (filters: RequestFilters) => (await read.requests(filters)).items.map(({ id }) => id)
      for (const [name, value] of Object.entries(facts)) {
        const found = name === 'client' ? [refused.id, request.id] : [request.id]
        assert.deepEqual(await ids({ [name]: value }), found, name)
      }
      assert.deepEqual(await ids({ mapping: 'm1', client: '10.0.0.2' }), [])
      assert.deepEqual(await ids({ code: 'UNAUTHORIZED' }), [refused.id])
      assert.deepEqual(await ids({ replayOf: 'no id' }), [])
    })

    test('lists are filtered by outcome, endpoint, state, session and kind', async (bench) => {
      const { sample } = bench
      const one = sample.runAction({ sessionKey: 'pr:1', endpoint: 'github' })
      const two = sample.runAction({ sessionKey: 'pr:2', endpoint: 'other' })
      const accepted = sample.entry(one, two, sample.eventAction())
      await bench.store.accept(accepted)
      const failed = sample.request({ outcome: 'failed', endpoint: 'billing', status: 500 })
      bench.store.note(failed)
      const claim = await startManualWorker(bench.store, ['run'], 1).next()
      const running = claim.task.subject ?? ''
      await claim.checkpoint({ run: { id: running, state: 'running' } })
      const { read } = bench.store
      const ids = async (page: Promise<Page<{ id: string }>>) => (await page).items.map((item) => item.id)
      assert.deepEqual(await ids(read.requests({ outcome: 'failed' })), [failed.id])
      assert.deepEqual(await ids(read.requests({ outcome: 'accepted' })), [accepted.request.id])
      assert.deepEqual(await ids(read.requests({ endpoint: 'billing' })), [failed.id])
      assert.deepEqual(await ids(read.requests({ endpoint: 'billing', outcome: 'accepted' })), [])
      assert.deepEqual(await ids(read.runs({ state: 'running' })), [running])
      assert.deepEqual(await ids(read.runs({ state: 'queued' })), [idOf(two)])
      assert.deepEqual(await ids(read.runs({ sessionKey: 'pr:1' })), [idOf(one)])
      assert.deepEqual(await ids(read.runs({ endpoint: 'other' })), [idOf(two)])
      assert.deepEqual(await ids(read.runs({ endpoint: 'other', state: 'running' })), [])
      assert.deepEqual(await ids(read.runs({ kind: 'heartbeat' })), [])
      assert.equal((await read.events({ state: 'pending' })).items.length, 1)
      assert.deepEqual(await ids(read.events({ state: 'consumed' })), [])
      assert.deepEqual(await ids(read.deliveries({ state: 'parked' })), [])
    })

    test('a record that does not exist is undefined', async (bench) => {
      const { read } = bench.store
      const random = 'c9bf9e57-1685-4c89-bafb-ff5af830be8a'
      for (const id of [bench.mintId(), 'no id at all', '', random]) {
        assert.equal(await read.request(id), undefined)
        assert.equal(await read.run(id), undefined)
        assert.equal(await read.event(id), undefined)
        assert.equal(await read.delivery(id), undefined)
      }
      assert.equal(await read.session('pr:none'), undefined)
      assert.equal(await read.route(), undefined)
    })

    test('a kept body and its head come with their request, and lists say that it is kept', async (bench) => {
      const { sample } = bench
      const entry = sample.entry(sample.runAction())
      const kept = { body: new Uint8Array(Buffer.from('{"n":1}')), head }
      await bench.store.accept({ ...entry, request: { ...entry.request, ...kept } })
      assert.deepEqual(await bench.store.read.request(entry.request.id), { ...entry.request, ...kept })
      const { items } = await bench.store.read.requests()
      assert.deepEqual(items, [{ ...entry.request, bodyKept: true }])
    })

    test('a trace comes with its request, with and without a body, and in no list', async (bench) => {
      const { sample } = bench
      const trace = {
        candidates: [{ mapping: 'm', verdict: 'failed', clause: { actual: '\ud83d' } }],
        more: 2,
      }
      const ignored = sample.request({ outcome: 'ignored', status: 200 })
      const failed = sample.request({ outcome: 'failed', status: 500 })
      const kept = { body: new Uint8Array([1]), head }
      bench.store.note({ ...ignored, trace })
      bench.store.note({ ...failed, ...kept, trace: { ...trace, isForm: true } })
      await bench.settled()
      for (const open of [async () => bench.store, () => bench.open()]) {
        const store = await open()
        assert.deepEqual(await store.read.request(ignored.id), { ...ignored, trace })
        const whole = { ...failed, ...kept, trace: { ...trace, isForm: true } }
        assert.deepEqual(await store.read.request(failed.id), whole)
        assert.deepEqual((await store.read.requests()).items, [{ ...failed, bodyKept: true }, ignored])
      }
      const refused = sample.request({ outcome: 'refused', status: 404 })
      bench.store.note({ ...refused, trace })
      assert.deepEqual(await bench.store.read.request(refused.id), refused)
    })

    test('requests are listed from a time on and up to a time, on disk and in memory', async (bench) => {
      const { sample } = bench
      const ids: string[] = []
      const times: number[] = []
      const outcomes = ['ignored', 'accepted', 'refused'] as const
      for (let i = 0; i < 9; i += 1) {
        const request = sample.request({
          outcome: outcomes[i % 3] ?? 'ignored',
          status: 400,
          mapping: `m${i % 2}`,
        })
        if (request.outcome === 'accepted') await bench.store.accept({ request, actions: [] })
        else bench.store.note(request)
        ids.push(request.id)
        times.push(request.receivedAt)
        bench.clock.advance(1_000)
      }
      await bench.settled()
      const { read } = bench.store
      const found = async (filters: RequestFilters) =>
        (await read.requests(filters)).items.map(({ id }) => ids.indexOf(id)).reverse()
      const [since, until] = [times[2] ?? 0, times[6] ?? 0]
      assert.deepEqual(await found({ since }), [2, 3, 4, 5, 6, 7, 8])
      assert.deepEqual(await found({ until }), [0, 1, 2, 3, 4, 5])
      assert.deepEqual(await found({ since, until }), [2, 3, 4, 5])
      assert.deepEqual(await found({ since: since + 1, until: until + 1 }), [3, 4, 5, 6])
      assert.deepEqual(await found({ since, until, outcome: 'ignored' }), [3])
      assert.deepEqual(await found({ since, until, mapping: 'm1' }), [3, 5])
      assert.deepEqual(await found({ since: until, until: since }), [])
      const first = await read.requests({ since, until, limit: 3 })
      const second = await read.requests({ since, until, limit: 3, cursor: first.next })
      assert.deepEqual(
        [...first.items, ...second.items].map(({ id }) => ids.indexOf(id)),
        [5, 4, 3, 2],
      )
      assert.equal(second.next, undefined)
    })

    test('a request that came after the clock was set back is listed by the time at which it was received', async (bench) => {
      const { sample } = bench
      const before = bench.clock.now()
      bench.clock.advance(600_000)
      const first = sample.request()
      await bench.store.accept({ request: first, actions: [] })
      bench.clock.advance(-600_000)
      const second = sample.request()
      await bench.store.accept({ request: second, actions: [] })
      const found = async (filters: RequestFilters) =>
        (await bench.store.read.requests(filters)).items.map(({ id }) => id)
      assert.deepEqual(await found({ until: before + 1 }), [second.id])
      assert.deepEqual(await found({ since: before + 1 }), [first.id])
    })

    test('the newest requests whose bodies are kept come whole, and the others do not come', async (bench) => {
      const { sample } = bench
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
      await bench.store.accept(sample.entry(sample.runAction()))
      const { read } = bench.store
      assert.deepEqual(await read.recentBodies(), [empty, failed, first])
      assert.deepEqual(await read.recentBodies({ limit: 2 }), [empty, failed])
      const store = await bench.open()
      assert.deepEqual(await store.read.recentBodies({ limit: 1 }), [empty])
    })

    test('large bodies are answered one by one rather than all at once', async (bench) => {
      const { sample } = bench
      const requests = [9_000_000, 9_000_000, 7_000_000].map((bytes) => ({
        ...sample.request({ outcome: 'ignored', status: 200 }),
        body: new Uint8Array(bytes),
        head,
      }))
      for (const request of requests) bench.store.note(request)
      await bench.settled()
      const found = await bench.store.read.recentBodies()
      assert.deepEqual(
        found.map(({ id, body: { length = 0 } = {} }) => [id, length]),
        requests
          .toReversed()
          .slice(0, 2)
          .map(({ id, body }) => [id, body.length]),
      )
    })

    test('refused requests are listed between the others, without their bodies', async (bench) => {
      const { sample } = bench
      const older = sample.entry(sample.runAction())
      await bench.store.accept(older)
      const refused = sample.request({ outcome: 'refused', status: 404, code: 'NOT_FOUND' })
      bench.store.note({ ...refused, body: Buffer.from('{}'), head })
      const newer = sample.entry(sample.runAction())
      await bench.store.accept(newer)
      const expected = [newer.request.id, refused.id, older.request.id]
      assert.deepEqual(await idsOfAll((page) => bench.store.read.requests(page)), expected)
      assert.deepEqual((await bench.store.read.requests({ outcome: 'refused' })).items, [refused])
      assert.deepEqual(await bench.store.read.request(refused.id), refused)
      assert.equal((await bench.store.read.requests({ outcome: 'accepted' })).items.length, 2)
    })

    test('a refused request that is accepted is on the disk with its body, and listed with those in memory', async (bench) => {
      const { sample } = bench
      const refused = { outcome: 'refused', status: 400, code: 'BLANK_TEXT', mapping: 'm' } as const
      const kept = { ...sample.request(refused), body: new Uint8Array([1]), head }
      await bench.store.accept({ request: kept, actions: [] })
      const outsider = sample.request({ outcome: 'refused', status: 401 })
      bench.store.note(outsider)
      const listed = async (filters: RequestFilters) =>
        (await bench.store.read.requests(filters)).items.map(({ id, bodyKept }) => [id, bodyKept])
      const all = [
        [outsider.id, undefined],
        [kept.id, true],
      ]
      assert.deepEqual(await listed({ outcome: 'refused' }), all)
      assert.deepEqual(await listed({ outcome: 'refused', mapping: 'm' }), [[kept.id, true]])
      const store = await bench.open()
      assert.deepEqual(await store.read.request(kept.id), kept)
    })

    test('wrong tokens of one client are summed up by the minute', async (bench) => {
      const { sample } = bench
      const wrong = (client: string) =>
        bench.store.note(sample.request({ outcome: 'refused', status: 401, client }))
      for (const client of ['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.1']) wrong(client)
      bench.clock.advance(60_000)
      wrong('10.0.0.1')
      const { items } = await bench.store.read.requests({ outcome: 'refused' })
      assert.deepEqual(
        items.map(({ client, count }) => [client, count]),
        [
          ['10.0.0.1', undefined],
          ['10.0.0.2', undefined],
          ['10.0.0.1', 3],
        ],
      )
    })

    test("repetitions of one client without credentials are summed up and push no other client's requests out", async (bench) => {
      const { sample } = bench
      const statuses = [401, 403, 404, 405, 408, 413, 429, 503]
      for (const status of [...statuses, ...statuses]) {
        bench.store.note(sample.request({ outcome: 'refused', status, client: '10.0.0.1' }))
      }
      const full = { outcome: 'refused', status: 503, client: '10.0.0.1', code: 'BACKLOG' } as const
      bench.store.note(sample.request(full))
      const { items } = await bench.store.read.requests({ outcome: 'refused' })
      assert.deepEqual(items.map(({ status, count }) => [status, count]).reverse(), [
        ...statuses.map((status) => [status, 2]),
        [503, undefined],
      ])
    })

    test('repetitions of one client are summed up by endpoint and by the cause of the failed authentication', async (bench) => {
      const { sample } = bench
      const note = (more: Partial<RequestRecord>) =>
        bench.store.note(sample.request({ client: '10.0.0.1', ...more }))
      const wrong = {
        outcome: 'refused',
        status: 401,
        endpoint: 'github',
        failure: 'SIGNATURE_MISMATCH',
      } as const
      const shaken = { outcome: 'handshake', status: 200, endpoint: 'github' } as const
      const bad = { outcome: 'refused', status: 400, endpoint: 'github' } as const
      for (const more of [
        wrong,
        { ...wrong, endpoint: 'billing' },
        { ...wrong, failure: 'TIMESTAMP_OUTSIDE' },
        { ...wrong, status: 429 },
        shaken,
        bad,
      ]) {
        note(more)
        note(more)
      }
      const { items } = await bench.store.read.requests({ outcome: 'refused' })
      assert.deepEqual(
        items.map(({ endpoint, status, failure, count }) => [endpoint, status, failure, count]),
        [
          ['github', 400, undefined, undefined],
          ['github', 400, undefined, undefined],
          ['github', 429, 'SIGNATURE_MISMATCH', 2],
          ['github', 401, 'TIMESTAMP_OUTSIDE', 2],
          ['billing', 401, 'SIGNATURE_MISMATCH', 2],
          ['github', 401, 'SIGNATURE_MISMATCH', 2],
        ],
      )
      const handshakes = await bench.store.read.requests({ outcome: 'handshake' })
      assert.deepEqual(
        handshakes.items.map(({ status, count }) => [status, count]),
        [[200, 2]],
      )
    })

    test('no more than 10,000 refused requests are remembered', async (bench) => {
      const { sample } = bench
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
  })
}

async function idsOfAll(list: (page: PageOptions) => Promise<Page<{ id: string }>>): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await list({ limit: 1, cursor })
    ids.push(...page.items.map((item) => item.id))
    cursor = page.next
  } while (cursor !== undefined)
  return ids
}
