import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSampler } from '../../contract/bench/samples.ts'
import { createIdMinter } from '../../id.ts'
import type { Entry } from '../../port.ts'
import { databaseFile, prepareFolder } from '../database/folder.ts'
import { flattenEntry, readEntries } from '../records/flat-entry.ts'
import type { Order } from './protocol.ts'
import { createWriter } from './writer.ts'

const now = Date.UTC(2026, 0, 1)
const sample = createSampler({ mintId: createIdMinter(() => now), clock: { now: () => now } })

/** Opens the writer without its thread. */
function openWriter(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-writer-'))
  prepareFolder(folder)
  const writer = createWriter({ folder, keepMs: 1_000, backlog: 100, historyMessages: 10, now })
  t.after(() => {
    writer.close()
    rmSync(folder, { recursive: true })
  })
  const runOrHold = (orders: readonly Order[], ...entries: Entry[]) => {
    const flat: unknown[] = []
    for (const entry of entries) flattenEntry(flat, entry)
    return writer.run({ post: 1, now, entries: readEntries(flat, entries.length), notes: [], orders })
  }
  const run = (...batch: Parameters<typeof runOrHold>) => {
    const reply = runOrHold(...batch)
    assert.ok(reply)
    return reply
  }
  return { file: databaseFile(folder), folder, writer, run, runOrHold }
}

const register: Order = { type: 'register', workerPool: 0, kinds: ['run'], concurrency: 4 }
const loseAnswer = (happens: () => void): Order => ({ type: 'fault', fault: { answerLostWith: happens } })
const done = { effects: {}, done: true } as const

test('a commit whose outcome is unclear is held until the store is in a new file, and its claim is given once', (t) => {
  const { file, writer, run, runOrHold } = openWriter(t)
  run([register])
  run([loseAnswer(() => renameSync(file, `${file}.away`))])
  assert.equal(runOrHold([], sample.entry(sample.runAction())), undefined)
  assert.deepEqual([writer.isLost(), writer.state().writable], [true, false])
  assert.equal(writer.rescue(now), undefined)
  assert.match(writer.state().reason ?? '', /is gone/)

  renameSync(`${file}.away`, file)
  const before = statSync(file).ino
  const back = writer.rescue(now)
  assert.deepEqual([writer.isLost(), back?.state.writable], [false, true])
  assert.deepEqual(
    back?.claims.map(({ task }) => task.claims),
    [1],
  )
  assert.notEqual(statSync(file).ino, before)
})

test('a settlement whose outcome is unclear is made once', (t) => {
  const { run, runOrHold, writer } = openWriter(t)
  const [given] = run([register], sample.entry(sample.runAction())).claims
  const settle: Order = { call: 7, type: 'settle', claim: given?.claim ?? 0, settlement: done }
  run([loseAnswer(() => {})])
  assert.equal(runOrHold([settle]), undefined)
  assert.deepEqual(writer.rescue(now)?.answers, [{ call: 7, ok: true, value: undefined }])
  assert.equal(run([{ type: 'tick' }]).state.backlog, 0)
})

test('a checkpoint that fails leaves what was committed, and ends writing until the store is in a new file', (t) => {
  const { run, writer } = openWriter(t)
  run([{ type: 'fault', fault: 'checkpoint-fails' }])
  const { special, state } = run([], sample.entry(sample.runAction()))
  assert.deepEqual([special, state.writable, state.outage?.since], [[], false, now])
  assert.equal(run([], sample.entry(sample.runAction())).special.length, 1)
  assert.equal(writer.rescue(now + 5), undefined)
  const { writable, backlog, outage } = writer.state()
  assert.deepEqual([writable, backlog, outage?.until], [true, 1, now + 5])
})

test('a batch that only waits and reads commits nothing', (t) => {
  const { run } = openWriter(t)
  const before = run([register]).state.commits
  const after = run([{ type: 'tick' }, { type: 'listen', on: true }, { call: 1, type: 'load', claim: 9 }])
  assert.equal(after.state.commits, before)
})

test('orders that follow a faulty one in the batch are carried out', (t) => {
  const { run } = openWriter(t)
  const bad: Order = {
    call: 1,
    type: 'command',
    command: { type: 'schedule', task: { key: 'k', kind: 'upkeep', dueAt: Number.NaN } },
  }
  const good: Order = {
    call: 2,
    type: 'command',
    command: { type: 'set-route', route: { channel: 'slack' } },
  }
  const { answers } = run([bad, good])
  assert.deepEqual(
    answers.map((answer) => [answer.call, answer.ok]),
    [
      [1, false],
      [2, true],
    ],
  )
})
