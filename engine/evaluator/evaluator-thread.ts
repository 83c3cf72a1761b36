/** This is the program of an evaluator thread. It decides about requests one after the other, and may be ended at any moment. */

import { randomBytes, randomUUID } from 'node:crypto'
import { workerData } from 'node:worker_threads'
import { createSharedTexts } from '../compile/fields/texts.ts'
import { compileMapping, type Shared } from '../compile/mapping.ts'
import { createDecisionIndex, type DecisionIndex } from '../compile/match/decision-index.ts'
import { noParams } from '../compile/match/endpoint-paths.ts'
import { compileResolving, type Resolving } from '../compile/resolving.ts'
import { compileRules } from '../resolve/admit/rules.ts'
import type { Covering } from '../resolve/explain.ts'
import { type Containment, ContainmentLimit } from '../resolve/model/containment.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { Candidate, Program } from '../resolve/model/program.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { CallTransform, ResolveOptions } from '../resolve/resolve.ts'
import type { ThreadData } from '../threads/thread.ts'
import { type TransformAnswer, type TransformCall, TransformError } from '../transform/port.ts'
import { runToEnd } from '../yield.ts'
import {
  type FromThread,
  phases,
  type RunOrder,
  type SentMapping,
  type SentMappings,
  type SettingsContent,
  slots,
  type ToThread,
} from './protocol.ts'

const { port, shared } = workerData as ThreadData
const generations = new Map<number, Resolving>()
const programs = new Map<number, Program>()
/** Expressions and templates of mappings that were edited beside others are compiled already. */
let isAhead = false
let parts = createParts()
/** The calls of transforms that wait for an answer. */
const waiting = new Map<string, PromiseWithResolvers<TransformAnswer>>()
const randomness = { mint: randomUUID, randomId: () => randomBytes(6).toString('base64url') }

port.on('message', (order: ToThread) => {
  switch (order.type) {
    case 'settings':
      generations.set(
        order.generation,
        load(() => compileSettings(order.content)),
      )
      break
    case 'mappings':
      isAhead = order.isAhead
      load(() => order.mappings.forEach(compile))
      break
    case 'forget':
      if (order.what !== 'mappings') generations.delete(order.what)
      else {
        programs.clear()
        parts = createParts()
      }
      break
    case 'transformed':
      waiting.get(keyOf(order))?.resolve(order.answer)
      break
    case 'transform-failed': {
      const { code, message, ...options } = order.error
      waiting.get(keyOf(order))?.reject(new TransformError(code, message, options))
      break
    }
    default:
      void run(order)
  }
})

function createParts(): Shared {
  return { ...createSharedTexts({ isWarm: () => isAhead, keepsTrees: true }), schemas: new Map() }
}

/** A request may be under way, for what is sent ahead. */
function load<Result>(compile: () => Result): Result {
  const before = Atomics.exchange(shared, slots.phase, phases.loading)
  const result = compile()
  Atomics.store(shared, slots.phase, before === phases.resolving ? before : phases.waiting)
  return result
}

function compileSettings({ settings, endpoints, catalog }: SettingsContent): Resolving {
  const rules = compileRules(settings, catalog.channels, catalog.relays)
  return runToEnd(compileResolving({ settings, endpoints, rules, randomness }))
}

/** Mistakes in mappings were reported when they were loaded. */
function compile({ number, id, label: place, value }: SentMapping): void {
  const { module } = value.transform ?? {}
  const transform = module === undefined ? undefined : { module, call: elsewhere }
  programs.set(number, Object.freeze({ number, id, place, transform, ...compileMapping(value, parts).parts }))
}

const elsewhere = () => Promise.reject(new Error('Transforms run elsewhere.'))

async function run(order: RunOrder): Promise<void> {
  const { job, generation, mappings, seed, explain } = order
  const resolving = generations.get(generation)
  if (resolving === undefined) throw new Error('The request is about settings that were not loaded.')
  seedRandom(seed)
  const request: HookRequest = { ...order.request, payload: undefined, isUndecoded: true }
  const options: ResolveOptions = { containment: containmentOf(order), callTransform: callerOf(order) }
  Atomics.store(shared, slots.phase, phases.resolving)
  const programs = programsOf(mappings)
  const byId = new Map(programs.map(({ program }) => [program.id, program]))
  const covering = (): readonly Covering[] =>
    (explain?.covering ?? []).map((each) => ({ ...each, program: byId.get(each.mapping) }))
  const decider = resolving.over(candidatesOf(programs, mappings), covering)
  const result: Decision | Explanation =
    explain === undefined
      ? await decider.resolve(request, options)
      : await decider.explain(request, { ...options, ...(explain.decided && { decided: explain.decided }) })
  Atomics.store(shared, slots.phase, phases.waiting)
  post({ type: 'done', job, result })
}

function programsOf({ numbers, params }: SentMappings): readonly Candidate[] {
  return Array.from(numbers, (number, position) => {
    const program = programs.get(number)
    if (program === undefined) throw new Error('The request is about mappings that were not loaded.')
    return { program, params: params.get(position) ?? noParams }
  })
}

/** Leaves out mappings that cannot match, unless the main thread has, which cannot where it has not read the payload. */
function candidatesOf(
  known: readonly Candidate[],
  { isIndexed, covering }: SentMappings,
): DecisionIndex['candidates'] {
  if (isIndexed)
    return () => {
      const next = known.values()
      return { covering, next: () => next.next().value }
    }
  const byProgram = new Map(known.map((each) => [each.program, each]))
  const index = createDecisionIndex(known.map(({ program }) => ({ path: undefined, program })))
  return (request) => {
    const { next } = index.candidates(request)
    return {
      covering,
      next: () => {
        const found = next()
        return found && byProgram.get(found.program)
      },
    }
  }
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
    const call = calls++
    const answered = Promise.withResolvers<TransformAnswer>()
    const key = keyOf({ job, call })
    waiting.set(key, answered)
    Atomics.store(shared, slots.phase, phases.waiting)
    post({ type: 'transform', job, call, mapping, given })
    try {
      return await answered.promise
    } finally {
      waiting.delete(key)
      // Another request may have run meanwhile.
      Math.random = random
      Atomics.store(shared, slots.phase, phases.resolving)
    }
  }
}

function keyOf({ job, call }: { readonly job: number; readonly call: number }): string {
  return `${job} ${call}`
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
