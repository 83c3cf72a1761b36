/** The contract of `accept`: an entry is accepted whole or not at all, calls share commits, and nothing is accepted twice. */

import assert from 'node:assert/strict'
import { createIdMinter } from '../id.ts'
import type { Dedupe } from '../port.ts'
import { contractPart } from './bench/bench.ts'
import { idOf } from './bench/samples.ts'

export const acceptingContract = contractPart('accepting', (test) => {
  test('accepted entries are there after the store was closed and opened', async (bench, sample) => {
    const [run, event] = [sample.runAction(), sample.eventAction()]
    const entry = sample.entry(run, event)
    const acceptance = await bench.store.accept(entry)
    assert.deepEqual(acceptance.actions, [
      { outcome: 'accepted', id: idOf(run) },
      { outcome: 'accepted', id: idOf(event) },
    ])
    const store = await bench.open()
    assert.deepEqual(await store.read.request(entry.request.id), entry.request)
    assert.deepEqual(await store.read.run(idOf(run)), run.record)
    assert.deepEqual(await store.read.event(idOf(event)), event.record)
    assert.equal(store.health().backlog, 1)
  })

  test('texts from outside are read back unit by unit, whatever they hold', async (bench, sample) => {
    const odd = ['', 'a\0b', 'half \ud83d', '\ude00 half', '\ud83d\ude00', '\u0085\u202e"\\']
    for (const text of [...odd, 'a'.repeat(70_000)]) {
      for (const prompt of [text, `before ${text} after`, `\ud83d${text}\ude00`, 'another one']) {
        const run = sample.runAction({ message: text, prompt, name: text })
        const event = sample.eventAction({ text, prompt })
        await bench.accept(run, event)
        assert.deepEqual(await bench.store.read.run(idOf(run)), run.record)
        assert.deepEqual(await bench.store.read.event(idOf(event)), event.record)
      }
    }
  })

  test('every fact of a request is read back, in a list and alone', async (bench, sample) => {
    const original = sample.request()
    const request = sample.request({
      outcome: 'failed',
      status: 500,
      code: 'TRANSFORM_FAILED',
      reason: 'it threw',
      failure: 'NONE',
      mapping: 'm',
      client: '127.0.0.1',
      deliveryId: 'd-1',
      replayOf: original.id,
      generationDigest: 'abc',
      node: 'n1',
      timings: { read: 0.125, resolve: 1 },
      actions: [
        { kind: 'wake', id: bench.mintId() },
        { kind: 'agent', id: bench.mintId(), duplicateOf: original.id },
      ],
      count: 3,
    })
    await bench.store.accept({ request, actions: [] })
    assert.deepEqual(await bench.store.read.request(request.id), request)
    assert.deepEqual((await bench.store.read.requests()).items, [request])
  })

  test('of two ids of one millisecond and counter neither overwrites the other', async (bench, sample) => {
    const [first, second] = [createIdMinter(bench.clock.now)(), createIdMinter(bench.clock.now)()]
    const [run, rival] = [sample.runAction(), sample.runAction()]
    const entry = { request: sample.request({ id: first }), actions: [run] }
    await bench.store.accept(entry)
    const other = { request: sample.request({ id: second }), actions: [rival] }
    await bench.store.accept(other)
    assert.deepEqual(await bench.store.read.request(first), entry.request)
    assert.deepEqual(await bench.store.read.request(second), other.request)
    assert.equal((await bench.store.read.runs()).items.length, 2)
  })

  test('a store that is opened again says how new its newest id is', async (bench, sample) => {
    assert.equal(bench.store.newestAt, 0)
    await bench.accept(sample.runAction())
    assert.equal((await bench.open()).newestAt, bench.clock.now())
  })

  test('32 callers share commits', async (bench, sample) => {
    await bench.accept(sample.eventAction())
    const before = bench.store.health().commits
    const entries = Array.from({ length: 320 }, () => sample.entry(sample.runAction()))
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        for (let entry = entries.pop(); entry !== undefined; entry = entries.pop())
          await bench.store.accept(entry)
      }),
    )
    const commits = bench.store.health().commits - before
    assert.ok(commits <= 160, `${commits} commits for 320 entries`)
    assert.equal((await bench.store.read.runs({ limit: 500 })).items.length, 320)
  })

  test('one bad entry in a batch fails alone and leaves nothing behind', async (bench, sample) => {
    const taken = sample.runAction()
    await bench.accept(taken)
    const first = sample.entry(sample.runAction())
    const sibling = sample.eventAction()
    const bad = sample.entry(sibling, sample.runAction({ id: idOf(taken) }))
    const last = sample.entry(sample.runAction())
    const results = await Promise.allSettled([first, bad, last].map((entry) => bench.store.accept(entry)))
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? 'ok' : result.reason.code)),
      ['ok', 'BAD_ENTRY', 'ok'],
    )
    assert.equal(await bench.store.read.event(idOf(sibling)), undefined)
    assert.equal(await bench.store.read.request(bad.request.id), undefined)
    assert.equal(bench.store.health().backlog, 3)
    assert.equal(bench.store.health().writable, true)
  })

  test('a time that is no number is a bad entry', async (bench, sample) => {
    const action = sample.runAction({}, { dueAt: Number.NaN })
    await assert.rejects(bench.accept(action), { code: 'BAD_ENTRY' })
    assert.equal(await bench.store.read.run(idOf(action)), undefined)
  })

  test('an entry that is sent again is answered alike and changes nothing', async (bench, sample) => {
    const entry = sample.entry(sample.runAction(), sample.eventAction())
    const [first, second] = await Promise.all([bench.store.accept(entry), bench.store.accept(entry)])
    assert.deepEqual(second, first)
    assert.deepEqual(await bench.store.accept(entry), first)
    assert.equal(bench.store.health().backlog, 1)
    assert.equal((await bench.store.read.requests()).items.length, 1)
  })

  test('a key that was seen before is a duplicate of the first, also within one batch', async (bench, sample) => {
    const dedupe: Dedupe = { scope: 'github', key: 'delivery-1', until: bench.clock.now() + 1_000 }
    const [first, second, third] = [1, 2, 3].map(() => sample.entry(sample.runAction({}, { dedupe })))
    if (!first || !second || !third) throw new Error('three entries')
    const original = first.actions[0]?.record.id
    const [one, two] = await Promise.all([bench.store.accept(first), bench.store.accept(second)])
    const three = await bench.store.accept(third)
    assert.deepEqual(one.actions, [{ outcome: 'accepted', id: original }])
    assert.deepEqual(two.actions, [{ outcome: 'duplicate', original, request: first.request.id }])
    assert.deepEqual(three.actions, two.actions)
    assert.equal(bench.store.health().backlog, 1)
    const record = await bench.store.read.request(second.request.id)
    assert.equal(record?.outcome, 'duplicate')
    assert.deepEqual(record?.actions, [{ kind: 'agent', id: original, duplicateOf: first.request.id }])
    assert.equal(record?.reason, `it came before, in request ${first.request.id}`)
    const again = await bench.store.accept(second)
    assert.deepEqual(again, two, 'sent again, a duplicate stays one')
  })

  test('a duplicate among new actions is left out and the others are accepted', async (bench, sample) => {
    const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 1_000 }
    const original = sample.runAction({}, { dedupe })
    const first = sample.entry(original)
    await bench.store.accept(first)
    const fresh = sample.runAction()
    const { actions } = await bench.accept(sample.runAction({}, { dedupe }), fresh)
    assert.deepEqual(actions, [
      { outcome: 'duplicate', original: idOf(original), request: first.request.id },
      { outcome: 'accepted', id: idOf(fresh) },
    ])
  })

  test('a key is free in another scope, and again once its time is over', async (bench, sample) => {
    const until = bench.clock.now() + 1_000
    const accept = (scope: string) =>
      bench.accept(sample.runAction({}, { dedupe: { scope, key: 'k', until } }))
    await accept('a')
    assert.equal((await accept('b')).actions[0]?.outcome, 'accepted')
    bench.clock.advance(999)
    assert.equal((await accept('a')).actions[0]?.outcome, 'duplicate')
    bench.clock.advance(1)
    assert.equal((await accept('a')).actions[0]?.outcome, 'accepted')
  })

  test('with another body the key of a mapping is a duplicate that says so, and a given key is a conflict', async (bench, sample) => {
    const accept = async (bodyDigest: string, isGiven?: true) => {
      const until = bench.clock.now() + 1_000
      const dedupe = { scope: `${isGiven}`, key: 'k', bodyDigest, until, ...(isGiven && { isGiven }) }
      const entry = sample.entry(sample.runAction({}, { dedupe }))
      return { id: entry.request.id, action: (await bench.store.accept(entry)).actions[0] }
    }
    const [first, , other] = [await accept('one'), await accept('one', true), await accept('two')]
    const expected = { outcome: 'duplicate', request: first.id, hasOtherBody: true } as const
    assert.partialDeepStrictEqual(other.action, expected)
    const { reason = '' } = (await bench.store.read.request(other.id)) ?? {}
    assert.match(reason, new RegExp(`in request ${first.id}, but the bodies differ$`))
    for (const isGiven of [undefined, true] as const) {
      const { action = assert.fail() } = await accept('one', isGiven)
      assert.deepEqual([action.outcome, 'hasOtherBody' in action], ['duplicate', false])
    }
    assert.equal((await accept('two', true)).action?.outcome, 'conflict')
  })

  test('over the backlog nothing is accepted until a task is done', { backlog: 2 }, async (bench, sample) => {
    await bench.accept(sample.runAction())
    await bench.accept(sample.runAction())
    assert.equal(bench.store.health().full, true)
    await assert.rejects(bench.accept(sample.runAction()), { code: 'BACKLOG' })
    ;(await bench.claim('run')).done()
    await bench.settled()
    assert.equal(bench.store.health().full, false)
    await bench.accept(sample.runAction())
  })

  test('a changed backlog holds at once and takes nothing back, and the last of several counts', async (bench, sample) => {
    await bench.accept(sample.runAction(), sample.runAction())
    for (const backlogs of [[1], [9, 1, 3]]) {
      for (const backlog of backlogs) bench.store.configure({ keepMs: 1, backlog })
      if (backlogs.length > 1) {
        assert.equal(bench.store.health().full, false)
        await bench.accept(sample.runAction())
      }
      assert.equal(bench.store.health().full, true)
      await assert.rejects(bench.accept(sample.runAction()), { code: 'BACKLOG' })
    }
    assert.equal(bench.store.health().backlog, 3)
  })

  test('closing commits what was handed in, and refuses what comes later', async (bench, sample) => {
    const entry = sample.entry(sample.runAction())
    const { store } = bench
    const accepted = store.accept(entry)
    const closed = store.close()
    await assert.rejects(store.accept(sample.entry(sample.runAction())), { code: 'DRAINING' })
    await accepted
    await closed
    const reopened = await bench.open()
    assert.deepEqual(await reopened.read.request(entry.request.id), entry.request)
  })

  test('a request without an action is noted, and no reply waits for it', async (bench, sample) => {
    const ignored = sample.request({ outcome: 'ignored', status: 200, reason: 'no mapping matched' })
    bench.store.note(ignored)
    await bench.settled()
    const store = await bench.open()
    assert.deepEqual(await store.read.request(ignored.id), ignored)
  })
})
