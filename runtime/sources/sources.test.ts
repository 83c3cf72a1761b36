import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { PluginError, type SourceCall } from '@reveille/kit'
import { StoreError } from '../store/port.ts'
import { lockSource } from './index.ts'
import { createBed, createScripted, limits, untilAborted } from './test-bed.ts'

test('a live source runs, and ends when it is no longer live', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source])
  assert.deepEqual(bed.states(), [], 'nothing runs before it is applied')
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  bed.apply()
  bed.live.length = 0
  bed.apply()
  assert.equal(calls[0]?.signal.aborted, true)
  await bed.untilStates()
  assert.deepEqual(bed.events(), ['source-started', 'source-stopped'])
  assert.equal(calls.length, 1)
})

test('a changed source begins once the one before it has ended, and never beside it', async () => {
  let running = 0
  const ends = Promise.withResolvers<void>()
  const begin = async (call: SourceCall) => {
    running += 1
    assert.equal(running, 1, 'one at a time')
    await untilAborted(call)
    await ends.promise
    running -= 1
  }
  const [first, second, third] = [1, 2, 3].map(() => createScripted('tides', begin))
  assert.ok(first && second && third)
  await using bed = await createBed([first.source])
  bed.apply()
  await bed.until(() => first.calls.length === 1, 'the first runs')
  bed.live[0] = second.source
  bed.apply()
  bed.live[0] = third.source
  bed.apply()
  assert.equal(first.calls[0]?.signal.aborted, true)
  assert.equal(third.calls.length, 0)
  ends.resolve()
  await bed.until(() => third.calls.length === 1, 'the last one runs')
  assert.equal(second.calls.length, 0, 'what was replaced before it began never runs')
})

test('a run that another node has taken over can neither post nor store, before it hears of that', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  let isLost = false
  const confirm = async () => {
    if (isLost) throw new StoreError('LEASE_LOST', 'another node leads')
  }
  await using bed = await createBed([source], { confirm })
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  const [call] = calls
  await call?.post('tides', {})
  await call?.storage.write('cursor', 1)
  isLost = true
  await assert.rejects(async () => call?.post('tides', {}), { code: 'aborted' })
  await assert.rejects(async () => call?.storage.write('cursor', 2), { code: 'aborted' })
  assert.deepEqual([bed.posts.length, await call?.storage.read('cursor')], [1, 1])
})

test('a source that ignores its end is abandoned after ten seconds, and its calls are refused', async () => {
  const deaf = createScripted('tides', () => new Promise(() => {}))
  const next = createScripted('tides', untilAborted)
  await using bed = await createBed([deaf.source])
  bed.apply()
  await bed.until(() => deaf.calls.length === 1, 'it runs')
  const [call] = deaf.calls
  assert.ok(call)
  bed.live[0] = next.source
  bed.apply()
  await call.storage.write('cursor', 1)
  await bed.sleepThrough(10_000)
  await bed.until(() => next.calls.length === 1, 'the next one runs')
  assert.ok(bed.events().includes('source-abandoned'))
  await assert.rejects(call.storage.write('cursor', 2), { code: 'aborted' })
  await assert.rejects(call.storage.read('cursor'), { code: 'aborted' })
  await assert.rejects(call.post('tides', {}), { code: 'aborted' })
  call.report({ state: 'working', detail: 'still here' })
  assert.equal(await next.calls[0]?.storage.read('cursor'), 1)
  assert.deepEqual(
    bed.states().map(({ detail }) => detail),
    [''],
  )
  assert.deepEqual(bed.posts, [])
})

test('a run is notified of each reload that leaves its source unchanged, and of none once it has ended', async () => {
  const heard: string[] = []
  const listen = (name: string) => (call: SourceCall) => {
    call.onReloaded(() => heard.push(name))
    call.onReloaded(() => {
      throw new Error('it stumbles')
    })
    return untilAborted(call)
  }
  const first = createScripted('tides', listen('first'))
  const second = createScripted('tides', listen('second'))
  await using bed = await createBed([first.source])
  bed.apply()
  await bed.until(() => first.calls.length === 1, 'it runs')
  assert.deepEqual(heard, [])
  bed.apply()
  assert.deepEqual(heard, ['first'])
  bed.live[0] = second.source
  bed.apply()
  await bed.until(() => second.calls.length === 1, 'the other one runs')
  bed.apply()
  assert.deepEqual(heard, ['first', 'second'])
})

test('a source that throws or returns is begun again, after waits that double up to five minutes', async () => {
  const { source, calls } = createScripted('tides', (_call, number) => {
    if (number % 3 === 0) throw new Error('the sea is gone')
    if (number % 3 === 1) return undefined
    return Promise.reject(new PluginError('The harbour is closed.', { code: 'closed', retryable: true }))
  })
  await using bed = await createBed([source])
  bed.apply()
  const waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((seconds) => seconds * 1000)
  for (const [index, wait] of waits.entries()) {
    await bed.untilStates('failing')
    assert.equal(calls.length, index + 1)
    await bed.sleepThrough(wait)
    await bed.until(() => calls.length === index + 2, 'it is begun again')
  }
  const failed = bed.lines.filter(({ event }) => event === 'source-failing')
  assert.deepEqual(
    failed.slice(0, 3).map(({ detail, retryInMs, level }) => [detail, retryInMs, level]),
    [
      ['It failed unexpectedly: it ended without being asked to. It restarts in 1 s.', 1000, 40],
      ['The harbour is closed. It restarts in 2 s.', 2000, 40],
      ['It failed unexpectedly: the sea is gone. It restarts in 4 s.', 4000, 40],
    ],
  )
  assert.equal(bed.events().filter((event) => event === 'source-started').length, calls.length)
})

test('waits are spread at random, and a wait that the source asks for is kept', async () => {
  const asked = [
    { retryable: true },
    { retryable: true, retryAfter: 42 },
    { retryable: false },
    { retryable: false, retryAfter: 900 },
  ]
  const { source } = createScripted('tides', async (_call, number) => {
    throw new PluginError('Not now.', { code: 'busy', ...(asked[number - 1] ?? { retryable: true }) })
  })
  await using bed = await createBed([source], { random: () => 0 })
  bed.apply()
  for (const wait of [500, 42_000, 300_000, 900_000]) await bed.sleepThrough(wait)
})

test('after ten good minutes the next failure counts as the first', async () => {
  const ends: (() => void)[] = []
  const { source, calls } = createScripted('tides', async (_call, number) => {
    if (number > 2) await new Promise<void>((resolve) => ends.push(resolve))
  })
  await using bed = await createBed([source])
  bed.apply()
  for (const wait of [1000, 2000]) await bed.sleepThrough(wait)
  for (const [minutes, wait] of [
    [9, 4000],
    [10, 1000],
  ] as const) {
    await bed.until(() => ends.length === 1, 'it runs')
    bed.clock.advance(minutes * 60_000)
    ends.pop()?.()
    await bed.sleepThrough(wait)
  }
  await bed.until(() => calls.length === 5, 'it is begun again')
})

test('a source that is stopped while it waits for its next try ends at once', async () => {
  const { source } = createScripted('tides', () => {})
  await using bed = await createBed([source])
  bed.apply()
  await bed.untilStates('failing')
  bed.live.length = 0
  bed.apply()
  await bed.untilStates()
  assert.deepEqual(bed.clock.sleepers(), [])
})

test('a post of a source is a request in its name, until the source is ordered to end', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source])
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  const [call] = calls
  assert.ok(call)
  assert.deepEqual(await call.post('tides', { high: 4 }), { status: 202 })
  const [{ signal, ...request } = {}] = bed.posts
  assert.deepEqual(request, { endpoint: 'tides', body: '{"high":4}', client: 'source tides' })
  assert.deepEqual(call.limitsOf('tides'), limits)
  const circle: unknown[] = []
  circle.push(circle)
  for (const body of [undefined, circle, 1n])
    await assert.rejects(call.post('tides', body), { code: 'bad-request', retryable: false })
  const own = AbortSignal.abort(new Error('changed its mind'))
  await assert.rejects(call.post('tides', {}, own), { message: 'changed its mind' })
  bed.live.length = 0
  bed.apply()
  assert.equal(signal?.aborted, true, 'what is on its way is called off')
  await assert.rejects(call.post('tides', {}), { code: 'aborted' })
  assert.equal(bed.posts.length, 1)
})

test('a gateway that does not answer is a network error', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  const failures = [
    new TypeError('nobody there'),
    new PluginError('Draining.', { code: 'network', retryable: true }),
  ]
  await using bed = await createBed([source], {
    post: async () => Promise.reject(failures.shift()),
  })
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  await assert.rejects(async () => calls[0]?.post('tides', {}), { code: 'network', retryable: true })
  await assert.rejects(async () => calls[0]?.post('tides', {}), { message: 'Draining.' })
})

test('a call that is answered after the end of a run is rejected', async () => {
  const answer = Promise.withResolvers<{ status: number }>()
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source], { post: () => answer.promise })
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  const posting = calls[0]?.post('tides', {})
  bed.live.length = 0
  bed.apply()
  await assert.rejects(async () => posting, { code: 'aborted' })
  answer.resolve({ status: 202 })
})

test('the report of a source is its state, with a log line for each change and each thing that an operator has to do', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source])
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  const [call] = calls
  const began = bed.clock.now()
  bed.clock.advance(1000)
  call?.report({
    state: 'working',
    detail: 'All is well.',
    times: { nextTide: began },
    counts: { posted: 1 },
  })
  bed.clock.advance(1000)
  call?.report({ state: 'working', detail: 'All is still\nwell.' })
  assert.deepEqual(bed.states(), [
    {
      source: 'tides',
      state: 'working',
      detail: 'All is still well.',
      since: began + 1000,
      times: { nextTide: began },
      counts: { posted: 1 },
    },
  ])
  const asking = { state: 'waiting', detail: 'Ask the harbour master.' } as const
  for (const report of [asking, asking, { ...asking, detail: 'Ask the lighthouse.' }]) call?.report(report)
  const reported = bed.lines.map(({ time: _, ...line }) => line)
  assert.deepEqual(reported.slice(1), [
    {
      level: 30,
      event: 'source-working',
      source: 'tides',
      detail: 'All is well.',
      times: { nextTide: '2026-01-01T00:00:00.000Z' },
      counts: { posted: 1 },
    },
    {
      level: 40,
      event: 'source-waiting',
      source: 'tides',
      detail: 'Ask the harbour master.',
      times: { nextTide: '2026-01-01T00:00:00.000Z' },
      counts: { posted: 1 },
    },
    {
      level: 40,
      event: 'source-waiting',
      source: 'tides',
      detail: 'Ask the lighthouse.',
      times: { nextTide: '2026-01-01T00:00:00.000Z' },
      counts: { posted: 1 },
    },
  ])
})

test('garbage in a report is left out, and a report that is garbage is ignored', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source])
  bed.apply()
  await bed.until(() => calls.length === 1, 'it runs')
  const report = (reported: unknown) => Reflect.apply(calls[0]?.report as () => void, undefined, [reported])
  for (const reported of [undefined, null, 'working', 7, [], {}, { state: 'splendid', detail: 'x' }])
    report(reported)
  await bed.untilStates('starting')
  report({
    state: 'working',
    detail: { not: 'a text' },
    times: { end: Number.NaN, past: 9e15, never: Infinity, 'a b': 1, good: 1 },
    counts: { posted: '3', 'x\ny': 1, __proto__: 1, refused: 2 },
  })
  const [{ since, ...state } = {}] = bed.states()
  assert.deepEqual(state, {
    source: 'tides',
    state: 'working',
    detail: '',
    times: { good: 1 },
    counts: { refused: 2 },
  })
  report({ state: 'failing', detail: 'x'.repeat(1000), times: 'now', counts: null })
  assert.equal(bed.states()[0]?.detail.length, 500)
})

test('a source that is closed while it waits for the lock never runs', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source])
  const lock = lockSource(join(bed.folder, 'tides'))
  bed.apply()
  await bed.untilStates('held-elsewhere')
  await bed.close()
  lock?.close()
  assert.deepEqual([calls.length, bed.states(), bed.events()], [0, [], ['source-held-elsewhere']])
})

test('close ends all sources and begins no other', async () => {
  const first = createScripted('tides', untilAborted)
  const second = createScripted('winds', untilAborted)
  await using bed = await createBed([first.source, second.source])
  bed.apply()
  await bed.until(() => first.calls.length + second.calls.length === 2, 'both run')
  await Promise.all([bed.close(), bed.close()])
  bed.apply()
  assert.deepEqual([bed.states(), bed.clock.sleepers()], [[], []])
  assert.deepEqual(bed.events().filter((event) => event === 'source-stopped').length, 2)
})

test('a call that a source does not await never becomes an unhandled rejection', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.after(() => process.off('unhandledRejection', note))
  const careless = createScripted('tides', (call) => {
    void call.post('tides', undefined)
    void call.storage.write('UPPER', 1)
    void call.storage.read('../x')
    void call.clock.sleep(1e9, call.signal)
    throw new Error('careless')
  })
  await using bed = await createBed([careless.source])
  bed.apply()
  await bed.untilStates('failing')
  const [call] = careless.calls
  void call?.post('tides', {})
  void call?.storage.write('cursor', 1)
  void call?.clock.sleep(1, call.signal)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.deepEqual(unhandled, [])
})

test('a folder that cannot be used is a failure that is tried again', async () => {
  const { source, calls } = createScripted('tides', untilAborted)
  await using bed = await createBed([source], { folder: import.meta.filename })
  bed.apply()
  await bed.untilStates('failing')
  assert.match(
    bed.states()[0]?.detail ?? '',
    /^The folder .*sources\.test\.ts\/tides cannot be used: ENOTDIR/,
  )
  await bed.sleepThrough(1000)
  await bed.until(() => bed.events().length === 2, 'it was tried again')
  assert.equal(calls.length, 0)
})
