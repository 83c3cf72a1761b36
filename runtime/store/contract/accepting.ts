/** The contract of `accept`: an entry is accepted whole or not at all, calls share commits, and nothing is accepted twice. */

import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { createIdMinter } from '../id.ts'
import type { Dedupe } from '../port.ts'
import type { ContractSubject } from './bench/bench.ts'
import { testsOf } from './bench/contract-test.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

export function acceptingContract(subject: ContractSubject): void {
  describe(`${subject.name}: accepting`, { concurrency: 4, timeout: 30_000 }, () => {
    const test = testsOf(subject)

    test('accepted entries are there after the store was closed and opened', async (bench) => {
      const { sample } = bench
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

    test('texts from outside are read back unit by unit, whatever they hold', async (bench) => {
      const { sample } = bench
      const texts = [
        '',
        'a\0b',
        'half \ud83d',
        '\ude00 half',
        '\ud83d\ude00',
        '\u0085\u202e"\\',
        'a'.repeat(70_000),
      ]
      for (const text of texts) {
        for (const prompt of [text, `before ${text} after`, `\ud83d${text}\ude00`, 'another one']) {
          const run = sample.runAction({ message: text, prompt, name: text })
          const event = sample.eventAction({ text, prompt })
          const entry = sample.entry(run, event)
          await bench.store.accept(entry)
          assert.deepEqual(await bench.store.read.run(idOf(run)), run.record)
          assert.deepEqual(await bench.store.read.event(idOf(event)), event.record)
        }
      }
    })

    test('every fact of a request is read back, in a list and alone', async (bench) => {
      const { sample } = bench
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

    test('of two ids of one millisecond and counter neither overwrites the other', async (bench) => {
      const { sample } = bench
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

    test('a store that is opened again says how new its newest id is', async (bench) => {
      assert.equal(bench.store.newestAt, 0)
      const sample = createSampler(bench)
      const entry = sample.entry(sample.runAction())
      await bench.store.accept(entry)
      assert.equal((await bench.open()).newestAt, bench.clock.now())
    })

    test('32 callers share commits', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.eventAction()))
      const before = bench.store.health().commits
      const entries = Array.from({ length: 320 }, () => sample.entry(sample.runAction()))
      const callers = Array.from({ length: 32 }, async (_, caller) => {
        for (let i = caller; i < entries.length; i += 32) {
          const entry = entries[i]
          if (entry !== undefined) await bench.store.accept(entry)
        }
      })
      await Promise.all(callers)
      const commits = bench.store.health().commits - before
      assert.ok(commits <= 160, `${commits} commits for 320 entries`)
      assert.equal((await bench.store.read.runs({ limit: 500 })).items.length, 320)
    })

    test('one bad entry in a batch fails alone and leaves nothing behind', async (bench) => {
      const { sample } = bench
      const taken = sample.runAction()
      await bench.store.accept(sample.entry(taken))
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

    test('a time that is no number is a bad entry', async (bench) => {
      const { sample } = bench
      const action = sample.runAction()
      const tasks = action.tasks.map((task) => ({ ...task, dueAt: Number.NaN }))
      await assert.rejects(bench.store.accept(sample.entry({ ...action, tasks })), { code: 'BAD_ENTRY' })
      assert.equal(await bench.store.read.run(idOf(action)), undefined)
    })

    test('an entry that is sent again is answered alike and changes nothing', async (bench) => {
      const { sample } = bench
      const entry = sample.entry(sample.runAction(), sample.eventAction())
      const [first, second] = await Promise.all([bench.store.accept(entry), bench.store.accept(entry)])
      assert.deepEqual(second, first)
      assert.deepEqual(await bench.store.accept(entry), first)
      assert.equal(bench.store.health().backlog, 1)
      assert.equal((await bench.store.read.requests()).items.length, 1)
    })

    test('a key that was seen before is a duplicate of the first, also within one batch', async (bench) => {
      const { sample } = bench
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

    test('a duplicate among new actions is left out and the others are accepted', async (bench) => {
      const { sample } = bench
      const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 1_000 }
      const original = sample.runAction({}, { dedupe })
      const first = sample.entry(original)
      await bench.store.accept(first)
      const fresh = sample.runAction()
      const { actions } = await bench.store.accept(sample.entry(sample.runAction({}, { dedupe }), fresh))
      assert.deepEqual(actions, [
        { outcome: 'duplicate', original: idOf(original), request: first.request.id },
        { outcome: 'accepted', id: idOf(fresh) },
      ])
    })

    test('a key is free in another scope, and again once its time is over', async (bench) => {
      const { sample } = bench
      const until = bench.clock.now() + 1_000
      const accept = (scope: string) =>
        bench.store.accept(sample.entry(sample.runAction({}, { dedupe: { scope, key: 'k', until } })))
      await accept('a')
      assert.equal((await accept('b')).actions[0]?.outcome, 'accepted')
      bench.clock.advance(999)
      assert.equal((await accept('a')).actions[0]?.outcome, 'duplicate')
      bench.clock.advance(1)
      assert.equal((await accept('a')).actions[0]?.outcome, 'accepted')
    })

    test('the key of a mapping with another body is a duplicate that says so', async (bench) => {
      const { sample } = bench
      const accept = async (bodyDigest: string) => {
        const dedupe = { scope: 's', key: 'k', bodyDigest, until: bench.clock.now() + 1_000 }
        const entry = sample.entry(sample.runAction({}, { dedupe }))
        const { actions } = await bench.store.accept(entry)
        return { id: entry.request.id, action: actions[0] }
      }
      const first = await accept('one')
      assert.equal('hasOtherBody' in ((await accept('one')).action ?? {}), false)
      const other = await accept('two')
      assert.partialDeepStrictEqual(other.action, {
        outcome: 'duplicate',
        request: first.id,
        hasOtherBody: true,
      })
      const record = await bench.store.read.request(other.id)
      assert.match(record?.reason ?? '', new RegExp(`in request ${first.id}, but the bodies differ$`))
    })

    test('the same key with another body is a conflict', async (bench) => {
      const { sample } = bench
      const accept = (bodyDigest: string) => {
        const until = bench.clock.now() + 1_000
        const dedupe = { scope: 's', key: 'k', bodyDigest, isGiven: true, until } as const
        return bench.store.accept(sample.entry(sample.runAction({}, { dedupe })))
      }
      await accept('one')
      assert.equal((await accept('one')).actions[0]?.outcome, 'duplicate')
      assert.equal((await accept('two')).actions[0]?.outcome, 'conflict')
    })

    test('over the backlog nothing is accepted until a task is done', async (bench) => {
      await bench.open({ backlog: 2 })
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction()))
      await bench.store.accept(sample.entry(sample.runAction()))
      assert.equal(bench.store.health().full, true)
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction())), { code: 'BACKLOG' })
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      claim.done()
      await bench.settled()
      assert.equal(bench.store.health().full, false)
      await bench.store.accept(sample.entry(sample.runAction()))
    })

    test('a lower backlog refuses at once, and takes nothing back', async (bench) => {
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction(), sample.runAction()))
      bench.store.configure({ keepMs: 1, backlog: 1 })
      assert.equal(bench.store.health().full, true)
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction())), { code: 'BACKLOG' })
      assert.equal(bench.store.health().backlog, 2)
      const worker = startManualWorker(bench.store, ['run'])
      for (const claim of [await worker.next(), await worker.next()]) claim.done()
      await bench.settled()
      await bench.store.accept(sample.entry(sample.runAction()))
    })

    test('a higher backlog takes more at once, and the last of several counts', async (bench) => {
      await bench.open({ backlog: 1 })
      const { sample } = bench
      await bench.store.accept(sample.entry(sample.runAction()))
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction())), { code: 'BACKLOG' })
      for (const backlog of [9, 1, 3]) bench.store.configure({ keepMs: 1, backlog })
      assert.equal(bench.store.health().full, false)
      await bench.store.accept(sample.entry(sample.runAction()))
      await bench.store.accept(sample.entry(sample.runAction()))
      assert.equal(bench.store.health().full, true)
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction())), { code: 'BACKLOG' })
    })

    test('closing commits what was handed in, and refuses what comes later', async (bench) => {
      const { sample } = bench
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

    test('a request without an action is noted, and no reply waits for it', async (bench) => {
      const { sample } = bench
      const ignored = sample.request({ outcome: 'ignored', status: 200, reason: 'no mapping matched' })
      bench.store.note(ignored)
      await bench.settled()
      const store = await bench.open()
      assert.deepEqual(await store.read.request(ignored.id), ignored)
    })
  })
}
