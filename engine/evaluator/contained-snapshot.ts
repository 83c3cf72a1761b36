/** Provides a snapshot whose requests hold the main loop only for quick work. Everything else goes to a thread. */

import type { CompiledWithCoverage } from '../compile/compile-steps.ts'
import type { Catalog, Snapshot } from '../compile/snapshot.ts'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import { NeedsThread, onMainLoop } from '../resolve/containment.ts'
import type { Action, Decision, HookRequest, Refusal } from '../resolve/decision.ts'
import type { Decided, ExplainOptions } from '../resolve/explain/explain.ts'
import type { Explanation } from '../resolve/explain/trace.ts'
import { tooMuchWork } from '../resolve/refusal.ts'
import type { CallTransform, ResolveOptions } from '../resolve/resolve.ts'
import {
  EvaluationEnded,
  type Evaluators,
  EvaluatorsBusy,
  type Slice,
  type TransformCalls,
} from './evaluators.ts'
import type { SliceEntry } from './protocol.ts'

interface Parts {
  /** The configuration that the snapshot was compiled from. */
  readonly configuration: Configuration
  readonly catalog: Catalog
  readonly evaluators: Pick<Evaluators, 'run'>
  readonly mint: Randomness['mint']
}

type Sound = Extract<CompiledWithCoverage, { ok: true }>

let nextSlice = 1

export function containSnapshot({ snapshot, covering }: Sound, parts: Parts): Snapshot {
  const { configuration, catalog, evaluators, mint } = parts
  const { settings, endpoints } = configuration
  /** The keys are the ids of the mappings, because senders choose the endpoint names that a catch-all covers. */
  const slices = new Map<string, Slice>()

  function sliceOf(endpoint: string): Slice {
    const known = covering(endpoint)
    const ids = new Set(known.map(({ mapping }) => mapping))
    const key = JSON.stringify([...ids])
    const before = slices.get(key)
    if (before !== undefined) return before
    const programs = new Map(known.map(({ mapping, program }) => [mapping, program]))
    const slice: Slice = {
      id: nextSlice++,
      content: () => {
        const entriesOf = (entries: readonly MappingEntry[]) =>
          entries.filter(({ id }) => ids.has(id)).map(plain)
        const mappings = entriesOf(configuration.mappings)
        return { settings, endpoints, catalog, mappings, disabled: entriesOf(configuration.disabled) }
      },
      callTransform: (mapping, given) => {
        const transform = programs.get(mapping)?.transform
        if (transform === undefined) throw new Error(`The mapping "${mapping}" has no transform.`)
        return transform.call(given)
      },
    }
    slices.set(key, slice)
    return slice
  }

  /** Resolves on the main loop, or from the beginning in a thread if that turns out to be too much. */
  async function contain<Result>(
    request: HookRequest,
    onLoop: (options: Pick<ResolveOptions, 'containment' | 'callTransform'>) => Result | Promise<Result>,
    inThread: (slice: Slice, calls: TransformCalls) => Promise<Result>,
  ): Promise<Result> {
    const calls: TransformCalls = []
    const containment = onMainLoop()
    const callTransform: CallTransform = async (_mapping, transform, given) => {
      const answer = transform(given)
      calls.push(answer)
      try {
        return await answer
      } finally {
        containment.restart()
      }
    }
    try {
      return await onLoop({ containment, callTransform })
    } catch (error) {
      if (!(error instanceof NeedsThread)) throw error
    }
    return inThread(sliceOf(request.endpoint), calls)
  }

  return Object.freeze({
    ...snapshot,
    resolve: (request: HookRequest) =>
      contain(
        request,
        (options) => snapshot.resolve(request, options),
        async (slice, calls): Promise<Decision> => {
          try {
            return withOwnKeys(await evaluators.run('resolve', slice, request, calls), mint)
          } catch (error) {
            return refusalOf(error)
          }
        },
      ),
    explain: (request: HookRequest, { decided }: Pick<ExplainOptions, 'decided'> = {}) =>
      contain(
        request,
        (options) => snapshot.explain(request, { ...options, ...(decided && { decided }) }),
        async (slice, calls): Promise<Explanation> => {
          try {
            return await evaluators.run('explain', slice, request, calls, decided && plainDecision(decided))
          } catch (error) {
            return { endpoint: request.endpoint, decision: refusalOf(error), candidates: [], actions: [] }
          }
        },
      ),
  })
}

/** An action is not needed, and a cause may be any value, which perhaps cannot be posted. */
function plainDecision(decided: Decided): Decided {
  if (!('code' in decided)) return decided.outcome === 'accepted' ? { ...decided, actions: [] } : decided
  const { outcome, code, mapping } = decided
  return { outcome, code, ...(mapping !== undefined && { mapping }) }
}

/** Leaves out the places, and the values of references, which only the main thread needs because it calls the transforms. */
function plain({ id, order, label, origin, value }: MappingEntry): SliceEntry {
  return { id, order, label, origin, value }
}

/** Mints the ids in the main thread, so that they increase. */
function withOwnKeys(decision: Decision, mint: Randomness['mint']): Decision {
  if (decision.outcome !== 'accepted') return decision
  const actions = decision.actions.map((action): Action => {
    const isOwn = action.kind === 'agent' && !action.sessionKeyGiven
    return Object.freeze(isOwn ? { ...action, sessionKey: `hook:${mint()}` } : action)
  })
  return { ...decision, actions: Object.freeze(actions) }
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof EvaluatorsBusy)
    return {
      outcome: 'refused',
      code: 'BACKLOG',
      message: 'Too much work is waiting; try again later.',
      details: [],
    }
  if (!(error instanceof EvaluationEnded)) throw error
  return { outcome: 'refused', code: 'TOO_LARGE_RENDERED', message: tooMuchWork, details: [] }
}
