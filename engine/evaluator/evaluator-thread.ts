/** This is the program of an evaluator thread. It decides about requests one after the other, and may be ended at any moment. */

import { randomBytes, randomUUID } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { createSharedTexts } from '../compile/fields/texts.ts'
import { compileMapping, type Shared } from '../compile/mapping.ts'
import { type Found, inOrder } from '../compile/match/decision-index.ts'
import { type Group, indexGroup } from '../compile/match/group-index.ts'
import { compileResolving, type Resolving } from '../compile/resolving.ts'
import { compileRules } from '../resolve/admit/rules.ts'
import type { Covering } from '../resolve/explain.ts'
import { type Containment, ContainmentLimit } from '../resolve/model/containment.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { Program } from '../resolve/model/program.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { CallTransform, ResolveOptions } from '../resolve/resolve.ts'
import type { ThreadData } from '../threads/thread.ts'
import { type TransformAnswer, type TransformCall, TransformError } from '../transform/port.ts'
import {
  type FromThread,
  type LoadOrder,
  phases,
  type RunOrder,
  type SentMapping,
  type SettingsContent,
  slots,
  type ToThread,
} from './protocol.ts'

const { port, shared } = workerData as ThreadData
const generations = new Map<number, Loaded>()
const programs = new Map<number, Program>()
let parts = createParts()
/** The calls of transforms that wait for an answer, by their jobs. */
const waiting = new Map<number, PromiseWithResolvers<TransformAnswer>>()
const randomness = { mint: randomUUID, randomId: () => randomBytes(6).toString('base64url') }

port.on('message', (order: ToThread) => {
  switch (order.type) {
    case 'load':
      load(order)
      break
    case 'forget':
      generations.clear()
      programs.clear()
      parts = createParts()
      break
    case 'transformed':
      waiting.get(order.job)?.resolve(order.answer)
      break
    case 'transform-failed': {
      const { code, message, ...options } = order.error
      waiting.get(order.job)?.reject(new TransformError(code, message, options))
      break
    }
    default:
      void run(order)
  }
})

/** A generation, with the mappings that were sent. */
interface Loaded {
  readonly resolving: Resolving
  /** Those of the mappings, in matching order. */
  readonly numbers: Int32Array
  readonly buckets: Map<number, Group>
}

function createParts(): Shared {
  return { ...createSharedTexts({ keepsTrees: true }), schemas: new Map() }
}

function load({ generation, settings, mappings, buckets }: LoadOrder): void {
  if (settings !== undefined) {
    const { numbers } = settings
    generations.set(generation, { resolving: compileSettings(settings), numbers, buckets: new Map() })
  }
  mappings.forEach(compile)
  const loaded = loadedOf(generation)
  const equalitiesOf = (position: number) => programAt(loaded)(position).matcher.equalities
  for (const [number, positions] of buckets)
    loaded.buckets.set(number, indexGroup(undefined, [...positions], equalitiesOf))
}

function compileSettings({ settings, endpoints, catalog }: SettingsContent): Resolving {
  const rules = compileRules(settings, catalog.channels, catalog.relays)
  return compileResolving({ settings, endpoints, rules, randomness })
}

/** Mistakes in mappings were reported when they were loaded. */
function compile({ number, id, label: place, value }: SentMapping): void {
  const { module } = value.transform ?? {}
  const transform = module === undefined ? undefined : { module, call: elsewhere }
  programs.set(number, Object.freeze({ number, id, place, transform, ...compileMapping(value, parts).parts }))
}

const elsewhere = () => Promise.reject(new Error('Transforms run elsewhere.'))

async function run(order: RunOrder): Promise<void> {
  const { job, generation, seed, explain } = order
  const loaded = loadedOf(generation)
  seedRandom(seed)
  const request: HookRequest = { ...order.request, payload: undefined, isUndecoded: true }
  const options: ResolveOptions = { containment: containmentOf(order), callTransform: callerOf(order) }
  Atomics.store(shared, slots.phase, phases.resolving)
  const { covering } = order
  const decider = loaded.resolving.over(
    (given) => {
      // Programs that other requests make the thread forget, while this one awaits a transform, are still needed.
      const candidates = [...inOrder(foundIn(order, loaded, given), programAt(loaded))].values()
      return { covering, next: () => candidates.next().value }
    },
    () => coveringOf(order, loaded),
  )
  const result: Decision | Explanation =
    explain === undefined
      ? await decider.resolve(request, options)
      : await decider.explain(request, { ...options, ...explain })
  Atomics.store(shared, slots.phase, phases.waiting)
  post({ type: 'done', job, result })
}

function loadedOf(generation: number): Loaded {
  const loaded = generations.get(generation)
  if (loaded === undefined) throw new Error('The request is about settings that were not loaded.')
  return loaded
}

function programAt({ numbers }: Loaded): (position: number) => Program {
  return (position) => {
    const program = programs.get(numbers[position] ?? 0)
    if (program === undefined) throw new Error('The request is about mappings that were not loaded.')
    return program
  }
}

/** Leaves out mappings that cannot match, unless the main thread has, which cannot where it has not read the payload. */
function foundIn(
  { found, isIndexed }: RunOrder,
  { buckets }: Loaded,
  request?: HookRequest,
): readonly Found[] {
  return found.flatMap(({ bucket: number, params }) => {
    const { all, find } = buckets.get(number) ?? { all: [], find: () => [] }
    const matching = isIndexed || request === undefined ? [all] : find(request)
    return matching.map((bucket) => ({ bucket, params }))
  })
}

function coveringOf(order: RunOrder, loaded: Loaded): readonly Covering[] {
  const enabled = [...inOrder(foundIn(order, loaded), programAt(loaded))]
  const covering: Covering[] = enabled.map(({ program, params }) => {
    const { id: mapping, place } = program
    return { mapping, place, params, program }
  })
  for (const [position, disabled] of order.explain?.disabled ?? []) covering.splice(position, 0, disabled)
  return covering
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
  const { random } = Math
  let calls = 0
  return async (mapping, _transform, all: TransformCall) => {
    const { rawBody: _rawBody, onCall: _onCall, onStop: _onStop, ...given } = all
    const answered = Promise.withResolvers<TransformAnswer>()
    waiting.set(job, answered)
    Atomics.store(shared, slots.phase, phases.waiting)
    post({ type: 'transform', job, call: calls++, mapping, given })
    try {
      return await answered.promise
    } finally {
      waiting.delete(job)
      // Another request may have run meanwhile.
      Math.random = random
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
