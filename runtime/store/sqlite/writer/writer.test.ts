import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
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
  const run = (orders: readonly Order[], ...entries: Entry[]) => {
    const flat: unknown[] = []
    for (const entry of entries) flattenEntry(flat, entry)
    return writer.run({ post: 1, now, entries: readEntries(flat, entries.length), notes: [], orders })
  }
  return { file: databaseFile(folder), run }
}

const register: Order = { type: 'register', workerPool: 0, kinds: ['run'], concurrency: 4 }
const loseAnswer = (happens: () => void): Order => ({ type: 'fault', fault: { answerLostWith: happens } })
const done = { effects: {}, done: true } as const

test('a claim whose commit stayed unknown is made again once the disk is back', (t) => {
  const { file, run } = openWriter(t)
  run([register])
  run([loseAnswer(() => renameSync(file, `${file}.away`))])
  const lost = run([], sample.entry(sample.runAction()))
  assert.equal(lost.state.writable, false)
  assert.deepEqual(lost.claims, [])
  assert.match(run([{ type: 'probe' }]).state.reason ?? '', /is gone/)

  renameSync(`${file}.away`, file)
  const back = run([{ type: 'probe' }])
  assert.equal(back.state.writable, true)
  assert.equal(back.claims.length, 1)
  assert.equal(back.claims[0]?.task.claims, 2)
})

test('a settlement whose commit stayed unknown is not made twice', (t) => {
  const { file, run } = openWriter(t)
  const [given] = run([register], sample.entry(sample.runAction())).claims
  const settle: Order = { call: 7, type: 'settle', claim: given?.claim ?? 0, settlement: done }
  run([loseAnswer(() => renameSync(file, `${file}.away`))])
  assert.equal(run([settle]).answers[0]?.ok, false)

  renameSync(`${file}.away`, file)
  const [answer] = run([settle]).answers
  assert.ok(answer !== undefined && !answer.ok && answer.error.code === 'LEASE_LOST')
  assert.equal(run([{ type: 'tick' }]).state.backlog, 0)
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
