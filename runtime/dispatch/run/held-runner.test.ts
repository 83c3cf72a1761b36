/** Tests that a runner which can answer nobody is held: its runs wait, one probes, and none fails or is lost. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { startTestBed, type TestBed } from '../test-bed.ts'

const minute = 60_000
/** The clock advances while turns are under way, which is no time that they have taken. */
const timeoutSeconds = 86_400

const outages = [
  { code: 'bad-credential', retryable: false },
  { code: 'out-of-credit', retryable: false, wholeService: true },
  { code: 'not-found', retryable: false, wholeService: true },
  { code: 'network', retryable: true },
  { code: 'unavailable', retryable: true, retryAfter: 7 },
] as const

for (const outage of outages) {
  test(`an hour of ${outage.code} fails no run: all wait in their lanes, and are performed once each when it is over`, async (t) => {
    let isDown = true
    const replies: string[] = []
    const bed = await startTestBed(t, {
      async run(turn) {
        if (isDown) throw new PluginError('not now', outage)
        replies.push(turn.prompt)
        return { reply: 'done' }
      },
    })
    const ids: string[] = []
    for (let event = 0; event < 12; event += 1) {
      const sessionKey = event % 2 === 0 ? 'pr:1' : undefined
      ids.push(
        await bed.acceptRun({ prompt: `event ${event}`, timeoutSeconds, ...(sessionKey && { sessionKey }) }),
      )
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
    const runs = await Promise.all(ids.map((id) => bed.untilRun(id, ({ state }) => state === 'succeeded')))
    assert.equal(replies.length, ids.length, 'each once')
    const ofLane = replies.filter((prompt) => Number(prompt.split(' ')[1]) % 2 === 0)
    assert.deepEqual(
      ofLane,
      [0, 2, 4, 6, 8, 10].map((number) => `event ${number}`),
    )
    assert.equal(bed.log('runner-opened').length, 1)
    assert.ok(runs.every(({ error }) => error === undefined))
  })
}

test('a run that alone finds the service down fails with its attempts used up, while others are answered', async (t) => {
  const bed = await startTestBed(t, {
    async run({ prompt }) {
      if (prompt === 'poison') throw new PluginError('overloaded', { code: 'unavailable', retryable: true })
      return { reply: 'done' }
    },
  })
  const poison = await bed.acceptRun({ prompt: 'poison', timeoutSeconds })
  for (let step = 0; step < 20; step += 1) {
    const other = await bed.acceptRun({ prompt: 'fine' })
    await bed.untilRun(other, ({ state }) => state === 'succeeded')
    bed.clock.advance(10_000)
    await settled(bed)
    if ((await bed.read().run(poison))?.state === 'failed') break
  }
  const run = await bed.untilRun(poison, ({ state }) => state === 'failed')
  assert.equal(run.attempts.length, 3)
})

test('a held runner is tried at once when that is ordered, and a held run can be cancelled', async (t) => {
  let isDown = true
  const bed = await startTestBed(t, {
    async run() {
      if (isDown) throw new PluginError('expired', { code: 'bad-credential', retryable: false })
      return { reply: 'done' }
    },
  })
  const { dispatch } = bed
  const [kept, dropped] = [await bed.acceptRun(), await bed.acceptRun()]
  await bed.until(async () => bed.log('runner-held').length === 1)
  await settled(bed)
  await bed.command({ type: 'cancel', run: dropped, at: bed.clock.now() })
  assert.equal((await bed.read().run(dropped))?.state, 'cancelled')
  isDown = false
  await dispatch.tryHeldRunners()
  const run = await bed.untilRun(kept, ({ state }) => state === 'succeeded')
  assert.deepEqual(
    run.attempts.map(({ number, outcome }) => [number, outcome]),
    [[1, 'succeeded']],
  )
})

/** Waits until what was due has been claimed and settled: whoever is asked now answers after it. */
async function settled(bed: TestBed): Promise<void> {
  for (let round = 0; round < 3; round += 1) await bed.command({ type: 'expedite', task: 'none', dueAt: 0 })
}
