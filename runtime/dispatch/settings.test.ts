import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Command, StoreError } from '../store/port.ts'
import { createDispatch, type DispatchOptions } from './index.ts'

test('settings that meet a full disk are applied once there is room', async () => {
  const obeyed: Command['type'][] = []
  const due: (() => void)[] = []
  let isFull = true
  const armed = Promise.withResolvers<void>()
  const store = {
    async command({ type }: Command) {
      if (isFull) throw new StoreError('STORE_FULL', 'no room')
      obeyed.push(type)
      if (type === 'arm') armed.resolve()
      return { ok: true }
    },
  }
  const defaults = { heartbeat: { everyMs: 60_000 } }
  const dispatch = createDispatch({
    store,
    current: () => ({ generation: 1, snapshot: { settings: { agents: { defaults } } } }),
    log: { warn() {} },
    now: () => 0,
    timers: { setTimeout: (run: () => void) => due.push(run), clearTimeout() {} },
  } as unknown as DispatchOptions)
  await dispatch.applySettings()
  assert.equal(due.length, 1)
  isFull = false
  due[0]?.()
  await armed.promise
  assert.deepEqual(obeyed, ['offer-route', 'arm'])
  assert.equal(due.length, 1)
})
