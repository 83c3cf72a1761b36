import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { backgroundTimers, type Timers } from '../../timers.ts'
import { answerOf, callOne, createHosted, createServing, failureOf, fieldOf, shownPlace } from './fixture.ts'

/** Makes timers whose deadlines expire when the test says so. */
function holdTimers(ms: number) {
  const held = new Set<() => void>()
  const timers: Timers = {
    setTimeout: (act, after) =>
      after === ms ? held.add(act) && act : backgroundTimers.setTimeout(act, after),
    clearTimeout: (timer) => void (held.delete(timer as () => void) || backgroundTimers.clearTimeout(timer)),
  }
  return { timers, size: () => held.size, fire: () => void [...held].map((act) => act()) }
}

/** Timers of seconds run ten times as fast; shorter ones keep their time, which a loaded machine needs. */
const fastTimers: Timers = {
  ...backgroundTimers,
  setTimeout: (act, ms) => backgroundTimers.setTimeout(act, ms < 1_000 ? ms : ms / 10),
}

test('a call that never ends fails at its deadline with its current line, and delays no other call', async (t) => {
  const held = holdTimers(60_250)
  const modules = {
    'loops.ts': `export default ({ payload }: any) => {
      if (payload.good) return { message: payload.good }
      let at = 0
      while (at !== -1) at++
      return { message: String(at) }
    }`,
    'waits.ts': 'export default () => new Promise(() => {})',
    'thens.ts': 'export default () => ({ then() {} })',
    'ticks.ts': 'export default async () => { for (;;) await null }',
    'other.ts': 'export default () => ({ message: "other" })',
  }
  const { call } = await createServing(t, modules, { limits: { timeoutMs: 60_250 }, timers: held.timers })
  const bad = ['loops.ts', 'waits.ts', 'thens.ts', 'ticks.ts']
  const failures = Promise.all(bad.map((module) => failureOf(call(module, { payload: {} }))))
  while (held.size() < bad.length) await new Promise(setImmediate)
  for (let n = 0; n < 50; n++) {
    assert.deepEqual(await call('loops.ts', { payload: { good: `${n}` } }), answerOf(`${n}`))
    assert.deepEqual(await call('other.ts'), answerOf('other'))
  }
  held.fire()
  const [loops, waits, ...others] = await failures
  for (const error of [loops, waits, ...others]) assert.equal(error?.code, 'TRANSFORM_TIMEOUT')
  assert.match(loops?.message ?? '', /^loops\.ts took longer than 60\.3 s/)
  // On a busy processor the profile may be empty, and then the function is reported.
  assert.match(shownPlace(loops ?? {}) ?? '', /^loops\.ts:(1|4):/)
  assert.equal(shownPlace(waits ?? {}), 'waits.ts:1:16 export default () => new Promise(() => {})')
})

test('a call has no deadline while a debugger is attached, and has one again afterwards', async (t) => {
  let debugged = true
  const options = { limits: { timeoutMs: 300 }, timers: fastTimers, isDebugged: () => debugged }
  const waits = `export default ({ payload }: any) => {
    console.log("begun"); return new Promise((done) => setTimeout(() => done(null), payload.ms)) }`
  const { call, event } = await createServing(t, { 'waits.ts': waits }, options)
  const nothing = { kind: 'one', action: null }
  assert.deepEqual(await call('waits.ts', { payload: { ms: 1_000 } }), nothing)
  const failure = failureOf(call('waits.ts', { payload: { ms: 1e6 } }))
  await event(({ type }) => type === 'transform-output')
  debugged = false
  assert.equal((await failure).code, 'TRANSFORM_TIMEOUT')
})

test('calls of one module run side by side up to its concurrency, and the others wait', async (t) => {
  const waits = `let turns = 0
    export default async ({ payload }: any) => {
      const others = turns++
      await new Promise((done) => setTimeout(done, 5))
      turns--
      return { message: payload.n + ' of ' + others }
    }`
  const { call } = await createServing(t, { 'waits.ts': waits }, { limits: { concurrency: 2 } })
  const numbers = Array.from({ length: 40 }, (_, index) => String(index))
  const order: string[] = []
  const answers = await Promise.all(
    numbers.map(async (n) => {
      const answer = await call('waits.ts', { payload: { n } })
      order.push(n)
      return answer
    }),
  )
  for (const [n, answer] of answers.entries()) assert.equal(fieldOf(answer), `${n} of 0`, 'one call a worker')
  const late = order.filter((n, index) => Math.abs(Number(n) - index) > 15)
  assert.deepEqual(late, [], 'first come, first served')
})

test('calls beyond the queue, and calls that wait too long, fail as busy', async (t) => {
  const modules = { 'waits.ts': 'export default () => new Promise(() => {})' }
  const hosted = await createHosted(t, modules, { timers: fastTimers, loadTimeoutMs: 100_000 })
  const open = await hosted.open(['waits.ts'], { concurrency: 1, timeoutMs: 3_000 })
  assert.deepEqual(await open.start(), [])
  const calls = Array.from({ length: 1_002 }, () => failureOf(callOne(open, 'waits.ts')))
  const last = await calls[1_001]
  assert.equal(last?.code, 'TRANSFORM_BUSY')
  assert.equal(last?.message, 'waits.ts has 1000 calls waiting already')
  const codes = (await Promise.all(calls)).map(({ code }) => code)
  assert.deepEqual([codes[0], codes[500]], ['TRANSFORM_TIMEOUT', 'TRANSFORM_BUSY'])
})

test('workers that cannot be stopped are reported and keep their places, until they end', {
  skip: process.platform === 'win32',
}, async (t) => {
  const timers: { current: Timers } = { current: backgroundTimers }
  const blocks = `import { readFileSync } from 'node:fs'
    export default ({ payload }: any) => ({ message: payload.file ? readFileSync(payload.file, 'utf8') : 'well' })`
  const current: Timers = {
    setTimeout: (act, ms) => timers.current.setTimeout(act, ms),
    clearTimeout: (timer) => timers.current.clearTimeout(timer),
  }
  const hosted = await createHosted(t, { 'blocks.ts': blocks }, { timers: current })
  const file = path.join(hosted.folder, 'pipe')
  execFileSync('mkfifo', [file])
  /** A read waits while the pipe is open. */
  const pipe = await openFile(file, constants.O_RDWR)
  t.after(() => pipe.close())
  const open = await hosted.open(['blocks.ts'], { timeoutMs: 20_000, concurrency: 2 })
  assert.deepEqual(await open.start(), [])

  timers.current = fastTimers
  const failures = [1, 2].map(() => failureOf(callOne(open, 'blocks.ts', { payload: { file } })))
  for (const failure of failures) assert.equal((await failure).code, 'TRANSFORM_TIMEOUT')
  const abandoned = () => hosted.events.filter(({ type }) => type === 'worker-abandoned')
  await hosted.event(() => abandoned().length === 2)
  const refused = await failureOf(callOne(open, 'blocks.ts', { payload: {} }))
  assert.equal(refused.code, 'TRANSFORM_BUSY')
  timers.current = backgroundTimers

  await pipe.close()
  for (let answer: unknown; answer === undefined; await new Promise(setImmediate))
    answer = await callOne(open, 'blocks.ts', { payload: {} }).then(fieldOf, () => undefined)
})
