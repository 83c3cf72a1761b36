import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersLate, failsOnce, never, startTestBed, type TestBed } from '../test-bed.ts'

const dayMs = 86_400_000

/** Waits until no run is open, and returns their states, the oldest first. */
async function untilSettled(bed: TestBed, ids: readonly string[]) {
  for (const id of ids) await bed.untilRun(id, ({ state }) => state !== 'queued' && state !== 'running')
  const runs = await Promise.all(ids.map((id) => bed.read().run(id)))
  return runs.map((run) => run?.state)
}

async function acceptRuns(bed: TestBed, count: number, fields: Parameters<TestBed['acceptRun']>[0] = {}) {
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) ids.push(await bed.acceptRun(fields))
  return ids
}

test('as many runs start at once as the budget allows, and one event reports all the others', async (t) => {
  const bed = await startTestBed(t, { budget: { runs: 3 } })
  const ids = await acceptRuns(bed, 8, { message: 'a secret', prompt: 'a secret', name: 'a secret' })
  const states = await untilSettled(bed, ids)
  assert.equal(states.filter((state) => state === 'parked').length, 5)
  assert.equal(bed.turns.length, 3)

  const reports = (await bed.events()).filter(({ trusted }) => trusted)
  assert.equal(reports.length, 1)
  assert.match(
    reports[0]?.text ?? '',
    /^No more runs are performed: the budget of all runs \(agents\.budget\), 3 runs a day, is spent for 2026-01-01 \(UTC\)\. The run [0-9a-f-]+ and those after it are parked\. Once the budget has room again, raised or on a new day \(UTC\), "reveille resume --all" performs them; "reveille cancel [0-9a-f-]+" ends it\.$/,
  )
  assert.equal(reports[0]?.prompt, reports[0]?.text)
  assert.doesNotMatch(JSON.stringify(reports), /secret/)
  assert.equal(bed.log('run-parked').length, 5)
})

test('a run that was parked keeps its place and its reason until it is resumed, and then has all its time', async (t) => {
  const bed = await startTestBed(t, { budget: { runs: 1 }, run: failsOnce('unavailable') })
  const id = await bed.acceptRun({ timeoutSeconds: 30 })
  await bed.untilRetried(id)
  bed.clock.advance(10_000)
  const parked = await bed.untilState(id, 'parked')
  assert.partialDeepStrictEqual(parked, { stage: 'accepted', error: { code: 'BUDGET', retryable: true } })
  assert.deepEqual([parked.startedAt, parked.attempts.length], [undefined, 1])
  bed.clock.advance(dayMs)
  await bed.command({ type: 'resume', run: id, at: bed.clock.now() })
  const run = await bed.untilState(id, 'succeeded')
  assert.deepEqual([run.error, run.attempts.length, bed.turns[1]?.timeoutSeconds], [undefined, 2, 30])
})

test('a spent budget is reported once a day, also across a crash', async (t) => {
  const bed = await startTestBed(t, { budget: { runs: 1 } })
  await untilSettled(bed, await acceptRuns(bed, 2))
  await bed.crash()
  await bed.start()
  assert.deepEqual(await untilSettled(bed, await acceptRuns(bed, 1)), ['parked'])
  assert.equal((await bed.events()).filter(({ trusted }) => trusted).length, 1)
})

test("a policy's budget stops the runs that it pays for, and no others", async (t) => {
  const bed = await startTestBed(t, {
    endpoints: { github: { budget: { tokens: 10 } } },
    run: async () => ({ reply: 'ok', usage: { inputTokens: 6, outputTokens: 4 } }),
  })
  const first = await acceptRuns(bed, 1, { budget: 'github' })
  assert.deepEqual(await untilSettled(bed, first), ['succeeded'])
  const later = [...(await acceptRuns(bed, 1, { budget: 'github' })), ...(await acceptRuns(bed, 1))]
  assert.deepEqual(await untilSettled(bed, later), ['parked', 'succeeded'])
  assert.match(bed.log('run-parked')[0]?.['reason'] as string, /endpoints\.github\.budget\), 10 tokens a day/)
})

test('an attempt that a crash cut off is paid for, and one that asked no runner is not', async (t) => {
  const bed = await startTestBed(t, { budget: { runs: 2 }, run: never })
  assert.deepEqual(await untilSettled(bed, await acceptRuns(bed, 1, { runner: 'gone' })), ['failed'])
  const first = await bed.acceptRun()
  await bed.untilAsked(1)
  await bed.crash()
  await bed.start()
  await bed.untilAsked(1)
  const next = await bed.acceptRun()
  assert.equal((await bed.untilState(next, 'parked')).error?.code, 'BUDGET')
  assert.equal((await bed.read().run(first))?.attempts.length, 2)
})

test('a turn that the gateway had to stop is paid for, with the tokens that it reported', async (t) => {
  const bed = await startTestBed(t, {
    budget: { tokens: 5 },
    run: answersLate({ reply: '', usage: { outputTokens: 5 } }),
  })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  await bed.dispatch.drain(0)
  await bed.restart()
  assert.equal((await bed.untilState(id, 'parked')).error?.code, 'BUDGET')
})
