/** This is the program of an evaluator thread. It resolves requests one after the other, and may be ended at any moment. */

import { randomBytes, randomUUID } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { compileSnapshot } from '../compile/compile-snapshot.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Place } from '../config/diagnostic/diagnostic.ts'
import { type Containment, ContainmentLimit } from '../resolve/containment.ts'
import type { HookRequest } from '../resolve/decision.ts'
import type { CallTransform, ResolveOptions } from '../resolve/resolve.ts'
import type { ThreadData } from '../threads/thread.ts'
import {
  type TransformAnswer,
  type TransformCall,
  TransformError,
  type Transforms,
} from '../transform/port.ts'
import {
  type FromThread,
  phases,
  type RunOrder,
  type SliceContent,
  type SliceEntry,
  slots,
  type ToThread,
} from './protocol.ts'

const { port, shared } = workerData as ThreadData
const snapshots = new Map<number, Snapshot>()
/** The calls of transforms that wait for an answer. */
const waiting = new Map<number, PromiseWithResolvers<TransformAnswer>>()

port.on('message', (order: ToThread) => {
  switch (order.type) {
    case 'load':
      snapshots.set(order.slice, compile(order.content))
      break
    case 'forget':
      snapshots.delete(order.slice)
      break
    case 'transformed':
      waiting.get(order.call)?.resolve(order.answer)
      break
    case 'transform-failed': {
      const { code, message, ...options } = order.error
      waiting.get(order.call)?.reject(new TransformError(code, message, options))
      break
    }
    default:
      void run(order)
  }
})

async function run(order: RunOrder): Promise<void> {
  const { type, job, slice, seed, decided } = order
  const snapshot = snapshots.get(slice)
  if (snapshot === undefined) throw new Error('The request is about mappings that were not loaded.')
  seedRandom(seed)
  const request: HookRequest = { ...order.request, payload: undefined, isUndecoded: true }
  const options: ResolveOptions = { containment: containmentOf(order), callTransform: callerOf(order) }
  Atomics.store(shared, slots.phase, phases.resolving)
  const result =
    type === 'explain'
      ? await snapshot.explain(request, { ...options, ...(decided && { decided }) })
      : await snapshot.resolve(request, options)
  Atomics.store(shared, slots.phase, phases.waiting)
  post({ type: 'done', job, result })
}

/** Numbers the work in order, so that a second attempt gives the same work the same number. */
function containmentOf({ failed }: RunOrder): Containment {
  let work = 0
  return {
    beginUnbounded: () => {
      work += 1
      Atomics.store(shared, slots.work, work)
      if (failed.includes(work)) throw new ContainmentLimit()
    },
    checkTime: () => {},
  }
}

/** Calls transforms through the main thread, which remembers their answers. */
function callerOf({ job }: RunOrder): CallTransform {
  let calls = 0
  return async (mapping, _transform, all: TransformCall) => {
    const { rawBody: _rawBody, onCall: _onCall, onStop: _onStop, ...given } = all
    const call = calls++
    const answered = Promise.withResolvers<TransformAnswer>()
    waiting.set(call, answered)
    Atomics.store(shared, slots.phase, phases.waiting)
    post({ type: 'transform', job, call, mapping, given })
    try {
      return await answered.promise
    } finally {
      waiting.delete(call)
      Atomics.store(shared, slots.phase, phases.resolving)
    }
  }
}

/** Posts a message without the cause of a failure, which may be any value. The failure itself is plain. */
function post(message: FromThread): void {
  try {
    port.postMessage(message)
  } catch {
    port.postMessage(JSON.parse(JSON.stringify(message)))
  }
}

function compile({ settings, endpoints, mappings, disabled, catalog }: SliceContent): Snapshot {
  Atomics.store(shared, slots.phase, phases.loading)
  const configuration: Configuration = {
    settings,
    endpoints,
    mappings: mappings.map(entryOf),
    disabled: disabled.map(entryOf),
    tests: [],
    digest: '',
    sources: new Map(),
    watched: [],
    warnings: [],
    unset: [],
    secrets: [],
    locate: nowhere,
  }
  const randomness = { mint: randomUUID, randomId: () => randomBytes(6).toString('base64url') }
  const compiled = compileSnapshot(configuration, catalog, randomness, elsewhere)
  Atomics.store(shared, slots.phase, phases.waiting)
  if (!compiled.ok) throw new Error('Mappings that compiled before do not compile again.')
  return compiled.snapshot
}

function entryOf(entry: SliceEntry): MappingEntry {
  return { ...entry, locate: nowhere }
}

/** Mistakes in mappings were reported when they were loaded. */
const nowhere = (): Place => ({ file: '', line: 1, column: 1, text: '' })

/** Every module counts as present, because the thread calls transforms only through the main thread. */
const elsewhere: Transforms = { bind: () => () => Promise.reject(new Error('Transforms run elsewhere.')) }

/** Seeds the random numbers of expressions. The generator is mulberry32: https://github.com/cprosche/mulberry32 */
function seedRandom(seed: number): void {
  let state = seed
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
