/** The contract for failures: full disks, failed commits, lost answers and killed processes. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type ContractBench, contractPart } from './bench/bench.ts'
import { createSampler, idOf } from './bench/samples.ts'

export const failingContract = contractPart('failing', (test) => {
  test('a full disk refuses the whole batch, and the store recovers by itself', async (bench, sample) => {
    const dedupe = { scope: 's', key: 'k', until: bench.clock.now() + 60_000 }
    const large = 'x'.repeat(100_000)
    const entries = [1, 2].map((n) =>
      sample.entry(sample.runAction({ message: large }, n === 1 ? { dedupe } : {})),
    )
    await bench.fault('disk-full')
    const results = await Promise.allSettled(entries.map((entry) => bench.store.accept(entry)))
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason.code === 'STORE_FULL')
    }
    assert.equal(bench.store.health().writable, false)
    assert.match(bench.store.health().reason ?? '', /full/)
    assert.equal(bench.store.health().backlog, 0)
    await bench.fault('disk-freed')
    bench.clock.advance(1_000)
    await bench.settled()
    assert.equal(bench.store.health().writable, true)
    assert.equal(bench.store.health().reason, undefined)
    for (const entry of entries) {
      const { actions } = await bench.store.accept(entry)
      assert.equal(actions[0]?.outcome, 'accepted', 'what failed marked no key as seen')
    }
  })

  for (const how of ['is written once there is room', 'is written by a drain, and not taken back'])
    test(`a settlement that meets a full disk ${how}`, async (bench, sample) => {
      const action = sample.runAction()
      await bench.accept(action)
      const worker = bench.work(['run'])
      const claim = await worker.next()
      await bench.fault('disk-full')
      const reply = 'x'.repeat(100_000)
      const over = new AbortController()
      const changes = bench.store.changes({ signal: over.signal })
      await assert.rejects(claim.checkpoint({ run: { id: idOf(action), reply } }), { code: 'STORE_FULL' })
      claim.done({ run: { id: idOf(action), state: 'succeeded', reply } })
      await assert.rejects(bench.accept(sample.runAction({ message: reply })))
      await bench.fault('disk-freed')
      if (how.includes('drain')) await worker.drain(0)
      else bench.clock.advance(1_000)
      for await (const change of changes) if (change.state === 'succeeded') break
      over.abort()
      assert.equal((await bench.store.read.run(idOf(action)))?.reply, reply)
      assert.equal(bench.store.health().backlog, 0)
    })

  test('limits and sizes that change while the disk is full hold once there is room', async (bench, sample) => {
    const worker = bench.work(['run'], 1)
    await bench.accept(sample.runAction(), sample.runAction())
    await worker.next()
    await bench.fault('disk-full')
    const large = sample.runAction({ message: 'x'.repeat(100_000) })
    await assert.rejects(bench.accept(large), { code: 'STORE_FULL' })
    await worker.resize(2)
    bench.store.configure({ keepMs: 1_000_000, backlog: 2 })
    await bench.fault('disk-freed')
    bench.clock.advance(1_000)
    await worker.next()
    await assert.rejects(bench.accept(sample.runAction()), { code: 'BACKLOG' })
  })

  test('a drain that begins while the disk is full still ends the claims', async (bench, sample) => {
    const worker = bench.work(['run'])
    await bench.settled()
    await bench.fault('disk-full')
    const refused = bench.accept(sample.runAction({ message: 'x'.repeat(100_000) }))
    const drained = worker.drain(0)
    await assert.rejects(refused)
    await drained
    await bench.fault('disk-freed')
    await bench.accept(sample.runAction())
    await worker.idle()
  })

  test('a commit that failed has left nothing, and the next one works', async (bench, sample) => {
    const entry = sample.entry(sample.runAction())
    await bench.fault('commit-fails')
    await assert.rejects(bench.store.accept(entry), { code: 'STORE_UNAVAILABLE' })
    assert.equal(await bench.store.read.request(entry.request.id), undefined)
    assert.equal(bench.store.health().backlog, 0)
    await bench.store.accept(entry)
    assert.equal(bench.store.health().backlog, 1)
    assert.equal(bench.store.health().writable, true)
    await bench.claim('run')
  })

  test('a history that was loaded before holds no turn of a commit that failed, and each turn once', async (bench, sample) => {
    await bench.accept(sample.runAction({ sessionKey: 'pr:1' }))
    const claim = await bench.claim('run')
    const texts = async () => (await claim.load()).history.map(({ text }) => text)
    const [a, b] = [sample.turn('pr:1', 'a'), sample.turn('pr:1', 'b')]
    await claim.checkpoint({ append: [a] })
    assert.deepEqual(await texts(), ['a'])
    await bench.fault('commit-fails')
    const compact = { session: 'pr:1', through: a.turn, summary: sample.turn('pr:1', 'summary') }
    await assert.rejects(claim.checkpoint({ append: [b], compact }), { code: 'STORE_UNAVAILABLE' })
    assert.deepEqual(await texts(), ['a'])
    const delivery = { id: bench.mintId() }
    await assert.rejects(claim.checkpoint({ append: [b], delivery }), { code: 'BAD_ENTRY' })
    assert.deepEqual(await texts(), ['a'])
    for (let time = 0; time < 2; time++) await claim.checkpoint({ append: [b] })
    assert.deepEqual(await texts(), ['a', 'b'])
    assert.deepEqual((await bench.store.read.session('pr:1'))?.messages, (await claim.load()).history)
  })

  test('a commit whose answer was lost is found, and its callers hear of success', async (bench, sample) => {
    const worker = bench.work(['run'])
    await bench.settled()
    const entry = sample.entry(sample.runAction())
    await bench.fault('answer-lost')
    const { actions } = await bench.store.accept(entry)
    assert.equal(actions[0]?.outcome, 'accepted')
    assert.ok(await bench.store.read.request(entry.request.id))
    const claim = await worker.next()
    assert.deepEqual([claim.task.claims, claim.task.interrupted], [1, false])
    await bench.fault('answer-lost')
    claim.done()
    await bench.settled()
    assert.equal(bench.store.health().backlog, 0)
  })

  test('a claim that was open when a commit failed can still be settled', async (bench, sample) => {
    await bench.accept(sample.runAction())
    const claim = await bench.claim('run')
    await bench.fault('commit-fails')
    await assert.rejects(bench.accept(sample.eventAction()))
    await claim.checkpoint({ run: { id: claim.task.subject ?? '', state: 'running' } })
    claim.done()
    await bench.settled()
    assert.equal(bench.store.health().backlog, 0)
  })

  test('killed between checkpoint and settle, a task is claimed again as interrupted', async (bench) => {
    const child = await startVictim(bench, 'perform')
    const [id] = await child.lines(1)
    await child.kill()
    await bench.open({ now: Date.now, setTimer: undefined })
    const worker = bench.work(['run'])
    const claim = await worker.next()
    const expected = { attempt: 1, claims: 2, interrupted: true, subject: id }
    assert.partialDeepStrictEqual(claim.task, expected)
    assert.equal((await claim.load()).run?.reply, 'checkpointed')
    await worker.idle('its lane is closed meanwhile')
    claim.done()
    assert.equal((await worker.next()).task.interrupted, false)
  })

  test('killed while accepting, everything that was answered is there', async (bench) => {
    const child = await startVictim(bench, 'accept')
    await child.lines(200)
    const answered = await child.kill()
    const store = await bench.open({ now: Date.now, setTimer: undefined, backlog: 1_000_000 })
    for (const id of answered) assert.ok(await store.read.request(id), `request ${id} is lost`)
    assert.equal(store.health().writable, true)
  })

  test('killed while coalescing, everything that was answered is part of the one run', async (bench) => {
    const child = await startVictim(bench, 'join')
    await child.lines(100)
    const answered = await child.kill()
    const store = await bench.open({ now: Date.now, setTimer: undefined })
    const { items } = await store.read.runs()
    assert.equal(items.length, 1)
    const run = await store.read.run(items[0]?.id ?? '')
    assert.ok((run?.coalesce?.count ?? 0) >= answered.length)
    for (const id of answered.slice(0, 100)) {
      assert.ok(run?.coalesce?.requestIds?.includes(id), `request ${id} is lost`)
      assert.equal((await store.read.request(id))?.actions[0]?.id, run?.id)
    }
    const sample = createSampler({ mintId: bench.mintId, clock: { now: Date.now } })
    const { actions } = await store.accept(sample.entry(sample.coalescedAction()))
    assert.deepEqual(actions, [{ outcome: 'joined', id: run?.id }])
    const claim = await bench.claim('run')
    assert.equal((await claim.load()).joinedCount, run?.coalesce?.count)
  })
})

/** Starts a child process that opens the store, works on it and writes a line for each thing done. */
async function startVictim({ t, location, subject: { opener }, close }: ContractBench, task: string) {
  await close()
  const script = fileURLToPath(new URL('./bench/victim.ts', import.meta.url))
  const child = spawn(process.execPath, [script, opener.module, opener.name, location, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const written: string[] = []
  const reader = createInterface(child.stdout)
  reader.on('line', (line) => written.push(line))
  return {
    /** Resolves when there are that many. */
    async lines(count: number) {
      while (written.length < count) await once(reader, 'line')
      return written
    },
    /** Kills the process by SIGKILL. Returns every whole line that it wrote. */
    async kill() {
      const closed = once(reader, 'close')
      child.kill('SIGKILL')
      await closed
      // The signal may have cut the last line short.
      return written.filter((line) => line.length === 36)
    },
  }
}
