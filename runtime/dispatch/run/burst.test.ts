import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { burstWindowMs, type Coalesce, never, openTestBed, startTestBed, type TestBed } from '../test-bed.ts'

const hourMs = 3_600_000

function coalesceOf(bed: TestBed, more: Partial<Coalesce> = {}): Coalesce {
  return { key: 'push main', keep: 'all', deadline: bed.clock.now() + hourMs, maxPerHour: 30, ...more }
}

async function acceptBurst(bed: TestBed, count: number, more?: Partial<Coalesce>) {
  const ids = new Set<string>()
  for (let number = 1; number <= count; number += 1) {
    const coalesce = coalesceOf(bed, more)
    ids.add((await bed.acceptOfBurst({ prompt: `push ${number}`, coalesce, mapping: 'pushed' })).id)
    bed.clock.advance(100)
  }
  const [id = '', ...others] = ids
  assert.deepEqual(others, [])
  return id
}

/** Performs a burst of so many requests. */
async function performBurst(t: TestContext, count: number, more?: Partial<Coalesce>) {
  const bed = await openTestBed(t)
  const id = await acceptBurst(bed, count, more)
  await bed.start()
  bed.clock.advance(burstWindowMs)
  return { ...bed, run: await bed.untilDelivered(id) }
}

test('the requests of a burst are one run whose prompt has all of them, and says so', async (t) => {
  const { run, turns, read } = await performBurst(t, 4)
  assert.deepEqual([run.state, run.coalesce?.count, run.coalesce?.requestIds?.length], ['succeeded', 4, 4])
  assert.deepEqual(run.prompt.match(/^push \d$/gm), ['push 1', 'push 2', 'push 3', 'push 4'])
  assert.deepEqual([run.reply, run.message, turns.length], [run.prompt, run.prompt, 1])
  assert.equal((await read().session(run.sessionKey))?.messages[0]?.text, run.prompt)
})

test('with `latest` the prompt has the newest request, with the number of requests that it stands for', async (t) => {
  const { run } = await performBurst(t, 3, { keep: 'latest' })
  const wanted = /^This run stands for 3 requests of one burst.*; this is the newest of them:\n\npush 3$/
  assert.match(run.prompt, wanted)
})

test('a request that comes alone has the same prompt as without bursts', async (t) => {
  const { run, turns } = await performBurst(t, 1)
  assert.deepEqual([run.message, run.prompt, turns[0]?.prompt], ['push 1', 'push 1', 'push 1'])
})

test('a composed prompt is the same after a crash, word for word', async (t) => {
  let hangs = true
  const bed = await startTestBed(t, {
    run: async ({ prompt }) => (hangs ? never() : { reply: prompt }),
  })
  const id = await acceptBurst(bed, 3)
  bed.clock.advance(burstWindowMs)
  await bed.untilAsked(1)
  const asked = bed.turns[0]?.prompt
  bed.clock.advance(25)
  const running = await bed.untilState(id, 'running')
  assert.deepEqual([running.prompt, running.coalesce?.count], [asked, 3])
  await bed.crash()
  hangs = false
  await bed.start()
  const run = await bed.untilDelivered(id)
  assert.deepEqual([bed.turns[0]?.prompt, run.prompt, run.coalesce?.count], [asked, asked, 3])
})

test('too many runs of one key within an hour are parked as a loop without an event, and performed when resumed', async (t) => {
  const bed = await startTestBed(t)
  const ids: string[] = []
  for (const number of [1, 2, 3, 4]) {
    ids.push(await acceptBurst(bed, 1, { maxPerHour: 2, key: 'what an unauthenticated client wrote' }))
    bed.clock.advance(burstWindowMs)
    await bed.untilRun(ids.at(-1) ?? '', ({ state }) => state === (number > 2 ? 'parked' : 'succeeded'))
  }
  const [, , third = '', fourth] = ids
  const run = await bed.read().run(third)
  assert.deepEqual([run?.stage, run?.error?.code, run?.prompt], ['accepted', 'LOOP', 'push 1'])
  const reports = (await bed.events()).filter(({ trusted }) => trusted)
  assert.deepEqual(reports, [], 'the open issue says it')
  assert.equal(run?.error?.message, 'more than 2 runs of one coalesce key were accepted within an hour')
  assert.doesNotMatch(JSON.stringify(bed.lines), /unauthenticated/)

  for (const each of [third, fourth ?? '']) {
    await bed.command({ type: 'resume', run: each, at: bed.clock.now() })
    await bed.untilState(each, 'succeeded')
  }
})
