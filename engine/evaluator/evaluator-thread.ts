/** This is the program of an evaluator thread. It decides about requests one after the other, and may be ended at any moment. */

import { randomUUID } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { randomId } from '../boundary/random-id.ts'
import { createSharedTexts } from '../compile/fields/texts.ts'
import { compileMapping, type Shared } from '../compile/mapping.ts'
import { inOrder } from '../compile/match/decision-index.ts'
import { compileResolving, type Resolving } from '../compile/resolving.ts'
import { compileRules } from '../resolve/admit/rules.ts'
import type { Covering } from '../resolve/explain.ts'
import type { Containment } from '../resolve/model/containment.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { Candidate, Program } from '../resolve/model/program.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { CallTransform, ResolveOptions } from '../resolve/resolve.ts'
import type { ThreadData } from '../threads/thread.ts'
import { type TransformAnswer, type TransformCall, TransformError } from '../transform/port.ts'
import {
  type FromThread,
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
const randomness = { mint: randomUUID, randomId }

port.on('message', (order: ToThread) => {
  switch (order.type) {
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

interface Loaded {
  readonly resolving: Resolving
  /** Those of the mappings, in matching order. */
  readonly numbers: Int32Array
}

function createParts(): Shared {
  return { ...createSharedTexts({ keepsTrees: true }), schemas: new Map() }
}

function load({ generation, forgets, settings, mappings }: RunOrder): Loaded {
  if (forgets) {
    generations.clear()
    programs.clear()
    parts = createParts()
  }
  if (settings !== undefined)
    generations.set(generation, { resolving: compileSettings(settings), numbers: settings.numbers })
  mappings.forEach(compile)
  const loaded = generations.get(generation)
  if (loaded === undefined) throw new Error('The request is about settings that were not loaded.')
  return loaded
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
  const { job, found, covering, explain } = order
  const { resolving, numbers } = load(order)
  const request: HookRequest = { ...order.request, payload: undefined, isUndecoded: true }
  const progress: Progress = { mapping: 0 }
  const options: ResolveOptions = { containment, callTransform: callerOf(job, progress) }
  // Programs that other requests make the thread forget, while this one awaits a transform, are still needed.
  const enabled = [...inOrder(found, (position) => programs.get(numbers[position] ?? 0))]
  publish(progress)
  const decider = resolving.over(
    () => {
      const candidates = enabled.values()
      const next = (): Candidate | undefined => {
        const { value } = candidates.next()
        progress.mapping = value?.program.number ?? 0
        publish(progress)
        return value
      }
      return { covering, next }
    },
    () => coveringOf(order, enabled),
  )
  const result: Decision | Explanation =
    explain === undefined
      ? await decider.resolve(request, options)
      : await decider.explain(request, { ...options, ...explain })
  Atomics.store(shared, slots.phase, phases.waiting)
  post({ type: 'done', job, result })
}

function coveringOf({ explain }: RunOrder, enabled: readonly Candidate[]): readonly Covering[] {
  const covering: Covering[] = enabled.map(({ program, params }) => {
    const { id: mapping, place } = program
    return { mapping, place, params, program }
  })
  for (const [position, disabled] of explain?.disabled ?? []) covering.splice(position, 0, disabled)
  return covering
}

/** What the main thread names if it ends this one: the number of the mapping that a request tries. */
interface Progress {
  mapping: number
}

function publish({ mapping }: Progress): void {
  Atomics.store(shared, slots.mapping, mapping)
  Atomics.store(shared, slots.phase, phases.resolving)
}

const containment: Containment = {
  beginUnbounded: () => void Atomics.add(shared, slots.work, 1),
  checkTime: () => {},
}

/** Calls transforms through the main thread, which remembers their answers. */
function callerOf(job: number, progress: Progress): CallTransform {
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
      publish(progress)
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
