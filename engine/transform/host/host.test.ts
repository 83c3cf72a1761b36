import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { backgroundTimers, type Timers } from '../../timers.ts'
import { answerOf, callOne, createHosted, createServing, failureOf, fieldOf, shownPlace } from './fixture.ts'

test('a transform is given the whole context, as its own copy', async (t) => {
  const { call } = await createServing(t, {
    'all.ts': `
      export default (context: any) => {
        const { rawBody, now, ...rest } = context
        rest.headers.mine = 'changed'
        return { message: JSON.stringify({ ...rest, text: new TextDecoder().decode(rawBody), alone: rawBody.buffer.byteLength, now: now.toISOString() }) }
      }`,
  })
  const neighbours = Buffer.from('neighbour {"id":9007199254740993} neighbour')
  const headers = { 'x-a': 'b', 'x-list': ['c', 'd'] }
  const answer = await call('all.ts', {
    rawBody: neighbours.subarray(10, 33),
    ...{ headers, query: { a: ['1', '2'] }, params: { id: '7' }, item: { n: 1 }, index: 0, now: 1_000 },
    vars: { sum: 3, call: () => 'an expression may make one' },
    base: { action: 'wake', text: 'rendered' },
  })
  assert.deepEqual(JSON.parse(String(fieldOf(answer))), {
    payload: { id: '9007199254740993' },
    headers: { 'x-a': 'b', 'x-list': 'c, d', mine: 'changed' },
    ...{ query: { a: ['1', '2'] }, path: 'hook', params: { id: '7' }, vars: { sum: 3 }, with: {} },
    ...{ item: { n: 1 }, index: 0, now: '1970-01-01T00:00:01.000Z', dryRun: false },
    base: { action: 'wake', text: 'rendered' },
    ...{ text: '{"id":9007199254740993}', alone: 23 },
  })
  assert.deepEqual(headers, { 'x-a': 'b', 'x-list': ['c', 'd'] })
})

test('a form, and JSON that was unwrapped from one, becomes the payload', async (t) => {
  const { call } = await createServing(t, { 'echo.ts': 'export default ({ payload }: any) => payload' })
  const rawBody = Buffer.from('name=form')
  assert.deepEqual(await call('echo.ts', { rawBody, form: { name: 'form' } }), answerOf('form', 'name'))
  const found = await call('echo.ts', { rawBody, unwrapped: '{"name":"inner"}' })
  assert.deepEqual(found, answerOf('inner', 'name'))
  assert.deepEqual(await call('echo.ts', {}), { kind: 'one', action: {} })
})

test('every module that cannot be loaded is reported, at the author’s line where there is one', async (t) => {
  const files = {
    'good.ts': 'export default () => null',
    'top.ts': 'const settings: any = undefined\n\nexport default settings.transform',
    'exits.ts': 'process.exit(4)\nexport default () => null',
    'rejects.ts':
      'Promise.reject(new Error("nobody"))\nawait new Promise((resolve) => setTimeout(resolve, 100))\nexport default () => null',
    'grows.ts':
      'const kept: Buffer[] = []\nfor (;;) kept.push(Buffer.alloc(10_000_000, 1))\nexport default () => null',
    'lacks.ts': 'export const reviewPush = () => null; export const limit = 5',
  }
  const hosted = await createHosted(t, files, {
    loadTimeoutMs: 60_000,
    exports: { 'lacks.ts': ['reviewpush', 'limit', 'default'] },
  })
  const open = await hosted.open(Object.keys(files))
  const reports = (await open.start()).map((failure) => {
    const isNamed = path.basename(failure.place.file) === 'reveille.yaml'
    return [failure.message, isNamed ? failure.hint : shownPlace(failure)]
  })
  const hint = 'It exports `reviewPush`.'
  const advice = 'Write `transform: { module: lacks.ts, export: reviewPush }`, or make it the default export.'
  assert.deepEqual(Object.fromEntries(reports), {
    "top.ts cannot be loaded: TypeError: Cannot read properties of undefined (reading 'transform')":
      'top.ts:3:25 export default settings.transform',
    'exits.ts ended its worker with process.exit(4)': 'exits.ts:1:9 process.exit(4)',
    'rejects.ts cannot be loaded: Error: nobody (an unhandled rejection)':
      'rejects.ts:1:16 Promise.reject(new Error("nobody"))',
    'grows.ts uses more than 128 MB while it is loaded': undefined,
    'lacks.ts has no export `reviewpush`': `Did you mean \`reviewPush\`? ${hint}`,
    'lacks.ts exports a number as `limit`, not a function': hint,
    'lacks.ts has no default export': `${hint} ${advice}`,
  })
})

test('a module whose top level does not end is logged after two seconds, reported, and its thread is ended', async (t) => {
  const soon: Timers = {
    ...backgroundTimers,
    setTimeout: (act, ms) => backgroundTimers.setTimeout(act, ms / 20),
  }
  const files = {
    'hangs.ts': 'for (;;) {}\nexport default () => null',
    'waits.ts': 'await new Promise(() => {})\nexport default () => null',
  }
  const hosted = await createHosted(t, files, { loadTimeoutMs: 10_000, timers: soon })
  const open = await hosted.open(Object.keys(files))
  const messages = (await open.start()).map(({ message }) => message)
  assert.deepEqual(messages, ['hangs.ts is not loaded after 10 s', 'waits.ts is not loaded after 10 s'])
  const text =
    'is still being loaded: its top level has not ended after 2 s. Edits wait for it, 10 s at most.'
  const logged = { type: 'transform-output', module: 'waits.ts', level: 'warn', text } as const
  assert.deepEqual(hosted.events.at(-1), logged)
})

test('candidates with the same bundle share its workers, each with its own limits', async (t) => {
  // The worker of a late call waits a second for another one, which a busy machine may need for less.
  const timers: Timers = {
    ...backgroundTimers,
    setTimeout: (act, ms) => (ms === 1_000 ? undefined : backgroundTimers.setTimeout(act, ms)),
  }
  const { hosted, threads } = await createWitnessed(t, ['a.ts'], timers)
  const first = await hosted.open(['a.ts'])
  assert.deepEqual(await first.start(), [])
  const second = await hosted.open(['a.ts'], { timeoutMs: 10_000, memoryMb: 64, concurrency: 1 })
  assert.deepEqual(await second.start(), [])
  first.release()
  const thread = fieldOf(await callOne(second, 'a.ts'))
  assert.equal(fieldOf(await callOne(first, 'a.ts')), thread)
  assert.equal((await threads()).length, 1)

  second.release()
  assert.notEqual(fieldOf(await callOne(first, 'a.ts')), thread, 'a late call is answered')
  const again = await hosted.open(['a.ts'])
  assert.deepEqual(await again.start(), [])
  assert.equal((await threads()).length, 2, 'the late call’s worker is kept')
})

test('a released module still answers the calls that it has', async (t) => {
  const slow = 'export default async () => { await new Promise((done) => setTimeout(done, 50)); return null }'
  const { call, opened } = await createServing(t, { 'slow.ts': slow })
  const answers = [call('slow.ts'), call('slow.ts')]
  opened.release()
  const nothing = { kind: 'one', action: null }
  assert.deepEqual(await Promise.all(answers), [nothing, nothing])
})

test('a host that closes fails waiting and running calls, and takes no more', async (t) => {
  const modules = { 'waits.ts': 'export default () => new Promise(() => {})' }
  const { call, host } = await createServing(t, modules, { limits: { concurrency: 1 } })
  const failures = Promise.all([failureOf(call('waits.ts')), failureOf(call('waits.ts'))])
  await host.close()
  const [ended, notBegun] = await failures
  assert.equal(ended.message, 'waits.ts was ended with the gateway')
  assert.equal(notBegun.message, 'waits.ts was not begun before the gateway stopped')
  const kept = process.getActiveResourcesInfo().filter((name) => /worker|messageport/i.test(name))
  assert.deepEqual(kept, [], 'nothing keeps the process')
  const { message, code } = await failureOf(call('waits.ts'))
  assert.deepEqual([message, code], ['waits.ts is called after the gateway stopped', 'TRANSFORM_BUSY'])
})

test('an export that no mapping names is not bound', async (t) => {
  const { opened } = await createServing(t, {
    'a.ts': 'export default () => null; export const other = () => null',
  })
  assert.equal(opened.bind('b.ts', 'default'), undefined)
  assert.equal(opened.bind('a.ts', 'other'), undefined)
})

/** No call is slow enough for a second worker, however busy the machine is. */
const neverSlow: Timers = {
  ...backgroundTimers,
  setTimeout: (act, ms) => (ms === 5 ? undefined : backgroundTimers.setTimeout(act, ms)),
}

/** Hosts modules that note each of their loads with its thread, and answer with it. */
async function createWitnessed(t: TestContext, names: readonly string[], timers: Timers = backgroundTimers) {
  const hosted = await createHosted(t, { 'placeholder.ts': 'export default () => null' }, { timers })
  const file = path.join(hosted.folder, 'witness')
  const module = (name: string) => `// ${name}
    import { appendFileSync } from 'node:fs'
    import { threadId } from 'node:worker_threads'
    appendFileSync(${JSON.stringify(file)}, threadId + ' ')
    export default () => ({ message: String(threadId) })`
  await hosted.write(Object.fromEntries(names.map((name) => [name, module(name)])))
  const threads = async () => (await readFile(file, 'utf8')).trim().split(' ')
  return { hosted, threads }
}

test('several modules are loaded in one thread, which is then ended, and the first call starts a worker', async (t) => {
  const names = ['a.ts', 'b.ts', 'c.ts']
  const { hosted, threads } = await createWitnessed(t, names, neverSlow)
  const open = await hosted.open(names)
  assert.deepEqual(await open.start(), [])
  const [first, ...others] = await threads()
  assert.deepEqual(others, [first, first], 'each was loaded, in one thread')

  await callOne(open, 'b.ts')
  await callOne(open, 'b.ts')
  const loads = await threads()
  assert.equal(loads.length, 4, 'the other two have no worker')
  assert.notEqual(loads[3], first)
})

test('a module that spoils the thread in which modules are loaded fails no other module', async (t) => {
  const hosted = await createHosted(t, {
    'a.ts': '(globalThis as any).JSON = undefined\nexport default () => null',
    'b.ts': 'JSON.parse("{}")\nexport default () => null',
    'c.ts': 'throw new Error("c")\nexport default () => null',
    'd.ts': 'export default () => null',
  })
  const open = await hosted.open(['a.ts', 'b.ts', 'c.ts', 'd.ts'])
  const messages = (await open.start()).map(({ message }) => message)
  assert.deepEqual(messages, ['c.ts cannot be loaded: Error: c'])
})

/** Timers of which those that end idle workers expire when the test says so. */
function createIdleTimers() {
  const due = new Map<() => void, number>()
  const timers: Timers = {
    setTimeout(act, ms) {
      if (ms !== 60_000 && ms !== 1_000) return neverSlow.setTimeout(act, ms)
      due.set(act, ms)
      return act
    },
    clearTimeout: (timer) => void (due.delete(timer as () => void) || backgroundTimers.clearTimeout(timer)),
  }
  /** Lets this much time pass. */
  const pass = (ms: number) => {
    for (const [act, after] of due) if (after <= ms) due.delete(act) && act()
  }
  return { timers, pass }
}

test('a worker ends a minute after a request, or a load, and a second after a test; the next call starts another', async (t) => {
  const { timers, pass } = createIdleTimers()
  const { hosted, threads } = await createWitnessed(t, ['a.ts'], timers)
  const open = await hosted.open(['a.ts'])
  assert.deepEqual(await open.start(), [])
  const loads = async (given: Parameters<typeof callOne>[2], passedMs: number) => {
    await callOne(open, 'a.ts', given)
    pass(passedMs)
    return (await threads()).length
  }
  const asTest = { onCall() {} }
  assert.equal(await loads({}, 1_000), 1, 'the load was for this call')
  assert.equal(await loads(asTest, 1_000), 1, 'a test does not shorten it')
  assert.equal(await loads({}, 60_000), 1)
  assert.equal(await loads(asTest, 0), 2, 'a minute has passed')
  assert.equal(await loads(asTest, 1_000), 2, 'a module is loaded once for all of its tests')
  assert.equal(await loads({}, 0), 3)
})
