import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { callOne, createHosted } from './fixture.ts'

const source = `
  import { appendFileSync } from 'node:fs'
  import { parentPort } from 'node:worker_threads'

  const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

  export default async ({ payload: { id, deed, ms, witness } }: any): Promise<any> => {
    appendFileSync(witness, id + '\\n')
    if (deed === 'answers late') await pause(ms)
    if (deed === 'throws') throw new Error(id)
    if (deed === 'throws late') { await pause(ms); throw new Error(id) }
    if (deed === 'exits') process.exit(1)
    if (deed === 'exits late') { await pause(ms); process.exit(1) }
    if (deed === 'loops') for (;;) {}
    if (deed === 'waits') await new Promise(() => {})
    if (deed === 'posts') { parentPort!.postMessage(id); await pause(1e6) }
    if (deed === 'rejects') { Promise.reject(new Error(id)); await pause(1e6) }
    if (deed === 'answers rubbish') return id
    if (deed === 'hoards') { const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1)) }
    if (deed === 'leaves a throw') setTimeout(() => { throw new Error(id) }, ms)
    if (deed === 'leaves an exit') setTimeout(() => process.exit(1), ms)
    if (deed === 'leaves a rejection') setTimeout(() => { Promise.reject(id) }, ms)
    return { message: id }
  }`

const good = [
  ...Array.from({ length: 8 }, () => 'answers'),
  'answers late',
  'leaves a throw',
  'leaves an exit',
  'leaves a rejection',
]
const bad = ['throws', 'throws late', 'exits', 'exits late', 'posts', 'rejects', 'answers rubbish']
/** Transforms that run until their deadline, or for a while. */
const slow = ['loops', 'waits', 'hoards']

test('in a storm of calls every good one has its own answer, having run once, and every bad one fails alone', async (t) => {
  const hosted = await createHosted(t, { 'storm.ts': source })
  const witness = path.join(hosted.folder, 'witness')
  const patient = await hosted.open(['storm.ts'], { timeoutMs: 60_000, concurrency: 3 })
  const hasty = await hosted.open(['storm.ts'], { timeoutMs: 300, concurrency: 3 })
  for (const open of [patient, hasty]) assert.deepEqual(await open.start(), [])

  const seed = Date.now()
  t.diagnostic(`seed ${seed}`)
  const deed = fc.tuple(fc.constantFrom(...good, ...good, ...bad), fc.integer({ min: 0, max: 20 }))
  const random = fc.sample(deed, { numRuns: 120, seed })
  const deeds = [...random, ...slow.map((deed) => [deed, 0] as const)]
  const begun = new Set<string>()
  const failed = new Set<string>()
  await Promise.all(
    deeds.map(async ([deed, ms], index) => {
      const id = `${index} ${deed}`
      const isHasty = deed === 'loops' || deed === 'waits'
      const called = callOne(isHasty ? hasty : patient, 'storm.ts', {
        requestId: id,
        payload: { id, deed, ms, witness },
      })
      const answer = await called.catch((error: unknown) => error)
      if (good.includes(deed)) {
        assert.deepEqual(answer, { kind: 'one', action: { message: { value: id } } }, id)
        begun.add(id)
        return
      }
      assert.ok(answer instanceof Error, id)
      failed.add(id)
      if (deed.startsWith('throws')) assert.match(answer.message, new RegExp(`: Error: ${id}$`))
    }),
  )
  const runs = (await readFile(witness, 'utf8')).trimEnd().split('\n')
  assert.equal(new Set(runs).size, runs.length, 'nothing ran twice')
  assert.deepEqual(
    [...begun].filter((id) => !runs.includes(id)),
    [],
    'whatever was answered ran',
  )
  assert.equal(begun.size + failed.size, deeds.length)
})
