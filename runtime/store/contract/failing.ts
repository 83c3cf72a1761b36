/** The contract for failures: full disks, failed commits, lost answers and killed processes. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type ContractContext, type ContractSubject, createBench, openBench } from './bench/bench.ts'
import { startManualWorker } from './bench/manual-worker.ts'
import { createSampler, idOf } from './bench/samples.ts'

export function failingContract(subject: ContractSubject): void {
  describe(`${subject.name}: failing`, { concurrency: 4, timeout: 30_000 }, () => {
    test('a full disk refuses the whole batch, and the store recovers by itself', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
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

    test('a settlement that meets a full disk is written once there is room', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      const action = sample.runAction()
      await bench.store.accept(sample.entry(action))
      const claim = await startManualWorker(bench.store, ['run']).next()
      await bench.fault('disk-full')
      const reply = 'x'.repeat(100_000)
      const over = new AbortController()
      const changes = bench.store.changes({ signal: over.signal })
      await assert.rejects(claim.checkpoint({ run: { id: idOf(action), reply } }), { code: 'STORE_FULL' })
      claim.settle({ done: true, effects: { run: { id: idOf(action), state: 'succeeded', reply } } })
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction({ message: reply }))))
      await bench.fault('disk-freed')
      bench.clock.advance(1_000)
      for await (const change of changes) if (change.state === 'succeeded') break
      over.abort()
      assert.equal((await bench.store.read.run(idOf(action)))?.reply, reply)
      assert.equal(bench.store.health().backlog, 0)
    })

    test('a drain writes what was done while the disk was full, and does not take it back', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      const action = sample.runAction()
      await bench.store.accept(sample.entry(action))
      const worker = startManualWorker(bench.store, ['run'])
      const claim = await worker.next()
      await bench.fault('disk-full')
      const reply = 'x'.repeat(100_000)
      claim.settle({ done: true, effects: { run: { id: idOf(action), state: 'succeeded', reply } } })
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction({ message: reply }))))
      await bench.fault('disk-freed')
      await worker.drain(0)
      assert.equal((await bench.store.read.run(idOf(action)))?.reply, reply)
      assert.equal(bench.store.health().backlog, 0)
    })

    test('limits and sizes that change while the disk is full hold once there is room', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      const worker = startManualWorker(bench.store, ['run'], 1)
      await bench.store.accept(sample.entry(sample.runAction(), sample.runAction()))
      await worker.next()
      await bench.fault('disk-full')
      const large = sample.runAction({ message: 'x'.repeat(100_000) })
      await assert.rejects(bench.store.accept(sample.entry(large)), { code: 'STORE_FULL' })
      await worker.resize(2)
      bench.store.configure({ keepMs: 1_000_000, backlog: 2 })
      await bench.fault('disk-freed')
      bench.clock.advance(1_000)
      await worker.next()
      await assert.rejects(bench.store.accept(sample.entry(sample.runAction())), { code: 'BACKLOG' })
    })

    test('a drain that begins while the disk is full still ends the claims', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      const worker = startManualWorker(bench.store, ['run'])
      await bench.settled()
      await bench.fault('disk-full')
      const refused = bench.store.accept(sample.entry(sample.runAction({ message: 'x'.repeat(100_000) })))
      const drained = worker.drain(0)
      await assert.rejects(refused)
      await drained
      await bench.fault('disk-freed')
      await bench.store.accept(sample.entry(sample.runAction()))
      await bench.settled()
      assert.equal(worker.waiting.length, 0)
    })

    test('a commit that failed has left nothing, and the next one works', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      const entry = sample.entry(sample.runAction())
      await bench.fault('commit-fails')
      await assert.rejects(bench.store.accept(entry), { code: 'STORE_UNAVAILABLE' })
      assert.equal(await bench.store.read.request(entry.request.id), undefined)
      assert.equal(bench.store.health().backlog, 0)
      await bench.store.accept(entry)
      assert.equal(bench.store.health().backlog, 1)
      assert.equal(bench.store.health().writable, true)
      const claim = await startManualWorker(bench.store, ['run']).next()
      claim.done()
    })

    test('a history that was loaded before holds no turn of a commit that failed, and each turn once', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(sample.runAction({ sessionKey: 'pr:1' })))
      const claim = await startManualWorker(bench.store, ['run']).next()
      const turnOf = (text: string) => {
        const turn = bench.mintId()
        return {
          session: 'pr:1',
          turn,
          messages: [{ role: 'user' as const, text, at: bench.clock.now(), turn }],
        }
      }
      const texts = async () => (await claim.load()).history.map(({ text }) => text)
      const [a, b] = [turnOf('a'), turnOf('b')]
      await claim.checkpoint({ append: [a] })
      assert.deepEqual(await texts(), ['a'])
      await bench.fault('commit-fails')
      const summary = turnOf('summary')
      const compact = { session: 'pr:1', through: a.turn, summary }
      await assert.rejects(claim.checkpoint({ append: [b], compact }), { code: 'STORE_UNAVAILABLE' })
      assert.deepEqual(await texts(), ['a'])
      await assert.rejects(claim.checkpoint({ append: [b], delivery: { id: bench.mintId() } }), {
        code: 'BAD_ENTRY',
      })
      assert.deepEqual(await texts(), ['a'])
      for (let time = 0; time < 2; time++) await claim.checkpoint({ append: [b] })
      assert.deepEqual(await texts(), ['a', 'b'])
      assert.deepEqual((await bench.store.read.session('pr:1'))?.messages, (await claim.load()).history)
    })

    test('a commit whose answer was lost is found, and its callers hear of success', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      const worker = startManualWorker(bench.store, ['run'])
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

    test('a claim that was open when a commit failed can still be settled', async (t) => {
      const bench = await openBench(t, subject)
      const sample = createSampler(bench)
      await bench.store.accept(sample.entry(sample.runAction()))
      const claim = await startManualWorker(bench.store, ['run']).next()
      await bench.fault('commit-fails')
      await assert.rejects(bench.store.accept(sample.entry(sample.eventAction())))
      await claim.checkpoint({ run: { id: claim.task.subject ?? '', state: 'running' } })
      claim.done()
      await bench.settled()
      assert.equal(bench.store.health().backlog, 0)
    })

    test('killed between checkpoint and settle, a task is claimed again as interrupted', async (t) => {
      const bench = await createBench(t, subject)
      const child = startVictim(t, subject, bench, 'perform')
      const id = await child.firstLine
      await child.kill()
      const store = await bench.open({ now: Date.now, setTimer: undefined })
      const worker = startManualWorker(store, ['run'])
      const claim = await worker.next()
      const { attempt, claims, interrupted, subject: runId } = claim.task
      assert.deepEqual(
        { attempt, claims, interrupted, runId },
        { attempt: 1, claims: 2, interrupted: true, runId: id },
      )
      const { run } = await claim.load()
      assert.equal(run?.reply, 'checkpointed')
      await bench.settled()
      assert.equal(worker.waiting.length, 0, 'its lane is closed meanwhile')
      claim.done()
      const next = await worker.next()
      assert.equal(next.task.interrupted, false)
      next.done()
    })

    test('killed while accepting, everything that was answered is there', async (t) => {
      const bench = await createBench(t, subject)
      const child = startVictim(t, subject, bench, 'accept')
      await child.firstLine
      await child.lines(200)
      const answered = await child.kill()
      const store = await bench.open({ now: Date.now, setTimer: undefined, backlog: 1_000_000 })
      for (const id of answered) assert.ok(await store.read.request(id), `request ${id} is lost`)
      assert.equal(store.health().writable, true)
    })

    test('killed while coalescing, everything that was answered is part of the one run', async (t) => {
      const bench = await createBench(t, subject)
      const child = startVictim(t, subject, bench, 'join')
      await child.firstLine
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
      const claim = await startManualWorker(store, ['run']).next()
      assert.equal((await claim.load()).joinedCount, run?.coalesce?.count)
    })
  })
}

interface Victim {
  readonly firstLine: Promise<string>
  lines(count: number): Promise<void>
  /** Kills the process by SIGKILL. Returns every whole line that it wrote. */
  kill(): Promise<string[]>
}

/** Starts a child process that opens the store, works on it and writes a line for each thing done. */
function startVictim(
  t: TestContext,
  { opener }: ContractSubject,
  { location }: ContractContext,
  task: string,
): Victim {
  const script = fileURLToPath(new URL('./bench/victim.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [script, opener.module, opener.name, location, task], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  if (child.stdout === null) throw new Error('no pipe to the process')
  const written: string[] = []
  const reader = createInterface(child.stdout)
  reader.on('line', (line) => written.push(line))
  return {
    firstLine: once(reader, 'line').then(([line]) => line as string),
    async lines(count) {
      while (written.length < count) await once(reader, 'line')
    },
    async kill() {
      const closed = once(reader, 'close')
      child.kill('SIGKILL')
      await closed
      // The signal may have cut the last line short.
      return written.filter((line) => line.length === 36)
    },
  }
}
