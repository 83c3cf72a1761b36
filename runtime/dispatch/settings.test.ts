import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Command, StoreError } from '../store/port.ts'
import { createDispatch, type DispatchOptions } from './index.ts'
import { startTestBed } from './test-bed.ts'

test('settings that meet a full disk are applied once there is room', async () => {
  const commands: Command['type'][] = []
  const due: (() => void)[] = []
  let isFull = true
  const scheduled = Promise.withResolvers<void>()
  const store = {
    async command({ type }: Command) {
      if (isFull) throw new StoreError('STORE_FULL', 'no room')
      commands.push(type)
      if (type === 'schedule') scheduled.resolve()
      return { ok: true }
    },
  }
  const defaults = { heartbeat: { everyMs: 60_000 } }
  const dispatch = createDispatch({
    store,
    current: () => ({ generation: 1, snapshot: { settings: { agents: { defaults }, channels: {} } } }),
    log: { warn() {} },
    now: () => 0,
    timers: { setTimeout: (run: () => void) => due.push(run), clearTimeout() {} },
  } as unknown as DispatchOptions)
  await dispatch.applySettings()
  assert.equal(due.length, 1)
  isFull = false
  due[0]?.()
  await scheduled.promise
  assert.deepEqual(commands, ['offer-route', 'schedule'])
  assert.equal(due.length, 1)
})

test('settings that change while older ones are applied follow them, and only the newest of several', async () => {
  const commands: unknown[] = []
  const waiting: (() => void)[] = []
  let channel = 'first'
  const store = {
    async command(command: Command) {
      commands.push(command.type === 'offer-route' ? command.route?.channel : command.type)
      await new Promise<void>((resolve) => waiting.push(resolve))
      return { ok: true }
    },
  }
  const defaults = { heartbeat: { everyMs: 60_000 } }
  const dispatch = createDispatch({
    store,
    current: () => ({
      generation: 1,
      snapshot: { settings: { agents: { defaults, route: { channel } }, channels: {} } },
    }),
    log: { warn: assert.fail },
    now: () => 0,
    timers: { setTimeout: assert.fail, clearTimeout() {} },
  } as unknown as DispatchOptions)
  const applied = ['first', 'second', 'third'].map((name) => {
    channel = name
    return dispatch.applySettings()
  })
  let isOver = false
  const over = Promise.all(applied).then(() => {
    isOver = true
  })
  while (!isOver) {
    waiting.shift()?.()
    await new Promise(setImmediate)
  }
  await over
  assert.deepEqual(commands, ['first', 'schedule', 'third', 'schedule'])
})

test('runs of one policy are limited by its concurrency, which a reload may change', async (t) => {
  const ends = new Map<string, () => void>()
  const bed = await startTestBed(t, {
    endpoints: { github: { concurrency: 1 } },
    run: ({ prompt }) => new Promise((resolve) => ends.set(prompt, () => resolve({ reply: prompt }))),
  })
  const pool = 'github'
  for (const prompt of ['one', 'two', 'three']) await bed.acceptRun({ prompt, pool })
  await bed.acceptRun({ prompt: 'of another policy' })
  await bed.until(async () => ends.has('of another policy'))
  assert.deepEqual([...ends.keys()].toSorted(), ['of another policy', 'one'])
  bed.configure({}, { github: { concurrency: 3 } })
  await bed.dispatch.applySettings()
  await bed.until(async () => ends.size === 4)
  for (const end of ends.values()) end()
})
