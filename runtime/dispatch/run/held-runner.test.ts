/** Tests that a runner which can answer nobody is held: its runs wait, one probes, and none fails or is lost. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { broken, outcomesOf, startTestBed, type TestBed } from '../test-bed.ts'

const minute = 60_000
/** The clock advances while turns are under way, which is no time that they have taken. */
const timeoutSeconds = 86_400

for (const [code, facts] of [
  ['bad-credential', { retryable: false }],
  ['out-of-credit', { retryable: false, wholeService: true }],
  ['not-found', { retryable: false, wholeService: true }],
  ['network', {}],
  ['unavailable', { retryAfter: 7 }],
] as const)
  test(`an hour of ${code} fails no run: all wait in their lanes, and are performed once each when it is over`, async (t) => {
    let isDown = true
    const replies: string[] = []
    const bed = await startTestBed(t, {
      async run(turn) {
        if (isDown) throw broken(code, facts)
        replies.push(turn.prompt)
        return { reply: 'done' }
      },
    })
    const ids: string[] = []
    for (let event = 0; event < 12; event += 1) {
      const lane = event % 2 === 0 ? { sessionKey: 'pr:1' } : {}
      ids.push(await bed.acceptRun({ prompt: `event ${event}`, timeoutSeconds, ...lane }))
      await settled(bed)
      bed.clock.advance(5 * minute)
    }
    await settled(bed)
    const during = await Promise.all(ids.map((id) => bed.read().run(id)))
    assert.deepEqual([...new Set(during.map((run) => run?.state))], ['queued'])
    assert.ok(bed.turns.length < 60, `the outage costs few probes, not ${bed.turns.length}`)
    assert.ok(bed.log('runner-held').length >= 1)
    const [first] = during
    assert.ok((first?.attempts.length ?? 0) <= 3, 'probes do not fill the record')

    isDown = false
    for (let step = 0; step < 40 && replies.length < ids.length; step += 1) {
      bed.clock.advance(minute)
      await settled(bed)
    }
    const runs = await Promise.all(ids.map((id) => bed.untilState(id, 'succeeded')))
    assert.equal(replies.length, ids.length, 'each once')
    const ofLane = replies.filter((prompt) => Number(prompt.split(' ')[1]) % 2 === 0)
    assert.deepEqual(ofLane, ['event 0', 'event 2', 'event 4', 'event 6', 'event 8', 'event 10'])
    assert.equal(bed.log('runner-opened').length, 1)
    assert.ok(runs.every(({ error }) => error === undefined))
  })

test('a run that alone finds the service down fails with its attempts used up, while others are answered', async (t) => {
  const bed = await startTestBed(t, {
    async run({ prompt }) {
      if (prompt === 'poison') throw broken('unavailable')
      return { reply: 'done' }
    },
  })
  const poison = await bed.acceptRun({ prompt: 'poison', timeoutSeconds })
  for (let step = 0; step < 20; step += 1) {
    const other = await bed.acceptRun({ prompt: 'fine' })
    await bed.untilState(other, 'succeeded')
    bed.clock.advance(10_000)
    await settled(bed)
    if ((await bed.read().run(poison))?.state === 'failed') break
  }
  const run = await bed.untilState(poison, 'failed')
  assert.equal(run.attempts.length, 3)
})

test('a held runner is tried at once when that is ordered, and a held run can be cancelled', async (t) => {
  let isDown = true
  const bed = await startTestBed(t, {
    async run() {
      if (isDown) throw broken('bad-credential')
      return { reply: 'done' }
    },
  })
  const [kept, dropped] = [await bed.acceptRun(), await bed.acceptRun()]
  await bed.until(async () => bed.log('runner-held').length === 1)
  await settled(bed)
  await bed.cancel(dropped)
  assert.equal((await bed.read().run(dropped))?.state, 'cancelled')
  isDown = false
  await bed.dispatch.tryHeldRunners()
  const run = await bed.untilState(kept, 'succeeded')
  assert.deepEqual([outcomesOf(run), run.attempts[0]?.number], [['succeeded'], 1])
})

/** Waits until what was due has been claimed and settled: whoever is asked now answers after it. */
async function settled(bed: TestBed): Promise<void> {
  for (let round = 0; round < 3; round += 1) await bed.command({ type: 'expedite', task: 'none', dueAt: 0 })
}
