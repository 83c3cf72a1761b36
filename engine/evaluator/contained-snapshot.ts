/**
 * Provides a snapshot whose requests hold the main loop only for quick work. A request that an expression may decide about
 * goes to a thread at once, and any other when it turns out to take long.
 */

import type { CompiledWithCoverage } from '../compile/compile-snapshot.ts'
import type { Found } from '../compile/match/decision-index.ts'
import type { Catalog, Snapshot } from '../compile/snapshot.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import type { Decided, ExplainOptions } from '../resolve/explain.ts'
import { NeedsThread, onMainLoop } from '../resolve/model/containment.ts'
import type { Action, Decision, HookRequest, Refusal } from '../resolve/model/decision.ts'
import type { Program } from '../resolve/model/program.ts'
import { tooMuchWork } from '../resolve/model/refusal.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { CallTransform, ResolveOptions } from '../resolve/resolve.ts'
import {
  EvaluationEnded,
  type EvaluatorJob,
  type Evaluators,
  EvaluatorsBusy,
  type Generation,
  type TransformCalls,
} from './evaluators.ts'

interface Parts {
  /** The configuration that the snapshot was compiled from. */
  readonly configuration: Configuration
  readonly catalog: Catalog
  readonly evaluators: Pick<Evaluators, 'run'>
  readonly mint: Randomness['mint']
}

/** Up to so many mappings are tried without an index. */
const maxUnindexed = 20

type Sound = Extract<CompiledWithCoverage, { ok: true }>
type OnLoop = Pick<ResolveOptions, 'containment' | 'callTransform'>

let lastGeneration = 0

export function containSnapshot(compiled: Sound, parts: Parts): Snapshot {
  const { snapshot, covering, programs, index } = compiled
  const { evaluators, mint } = parts
  const generation = generationOf(parts, programs)
  const evaluates = ({ bucket }: Found) => bucket.some((position) => programs[position]?.evaluates)

  /** Parsing a body twice costs more than trying a few mappings that cannot match. */
  const readsPayload = (endpoint: string): boolean =>
    index.count(endpoint) > maxUnindexed || !index.all(endpoint).some(evaluates)

  function jobOf(request: HookRequest, isIndexed: boolean): Job {
    const { endpoint } = request
    const found = isIndexed ? index.find(request) : index.all(endpoint)
    const isForThread = found.some(evaluates)
    return { generation, request, found, covering: index.count(endpoint), isForThread }
  }

  function resolve(request: HookRequest): Promise<Decision> {
    const job = jobOf(request, request.isUndecoded !== true && readsPayload(request.endpoint))
    return contain(
      job,
      (options) => snapshot.resolve(request, options),
      async (calls) => {
        try {
          return withOwnKeys((await evaluators.run({ ...job, calls })) as Decision, mint)
        } catch (error) {
          return refusalOf(error)
        }
      },
    )
  }

  /** The thread knows the enabled mappings. */
  function disabledOf(endpoint: string): NonNullable<EvaluatorJob['explain']>['disabled'] {
    if (parts.configuration.disabled.length === 0) return []
    return [...covering(endpoint).entries()].filter(([, { program }]) => program === undefined)
  }

  function explain(
    request: HookRequest,
    options: Pick<ExplainOptions, 'decided' | 'maxCandidates'> = {},
  ): Promise<Explanation> {
    const job = jobOf(request, false)
    return contain(
      job,
      (onLoop) => snapshot.explain(request, { ...options, ...onLoop }),
      async (calls) => {
        const { endpoint } = request
        const { decided, maxCandidates } = options
        const disabled = disabledOf(endpoint)
        const explain = { disabled, maxCandidates, ...(decided && { decided: plainDecision(decided) }) }
        try {
          return (await evaluators.run({ ...job, explain, calls })) as Explanation
        } catch (error) {
          return { endpoint, decision: refusalOf(error), candidates: [], actions: [] }
        }
      },
    )
  }

  return Object.freeze({ ...snapshot, readsPayload, resolve, explain })
}

interface Job extends Omit<EvaluatorJob, 'calls'> {
  readonly isForThread: boolean
}

/** Decides on the main loop, or from the beginning in a thread if that turns out to be too much. */
async function contain<Result>(
  { isForThread }: Job,
  onLoop: (options: OnLoop) => Result | Promise<Result>,
  inThread: (calls: TransformCalls) => Promise<Result>,
): Promise<Result> {
  const calls: TransformCalls = []
  if (isForThread) return inThread(calls)
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
  return inThread(calls)
}

function generationOf({ configuration, catalog }: Parts, programs: readonly Program[]): Generation {
  const { settings, endpoints } = configuration
  let entries: ReadonlyMap<string, Configuration['mappings'][number]> | undefined
  return {
    id: ++lastGeneration,
    programs,
    settings: () => {
      const numbers = Int32Array.from(programs, ({ number }) => number)
      return { settings, endpoints, catalog, numbers }
    },
    mapping: ({ id, number }) => {
      entries ??= new Map(configuration.mappings.map((entry) => [entry.id, entry]))
      const entry = entries.get(id)
      if (entry === undefined) throw new Error(`There is no mapping "${id}".`)
      // Without the places, and the values of references, which only the main thread needs because it calls the transforms.
      return { number, id, label: entry.label, value: entry.value }
    },
  }
}

/** An action is not needed, and a cause may be any value, which perhaps cannot be posted. */
function plainDecision(decided: Decided): Decided {
  if (!('code' in decided)) return decided.outcome === 'accepted' ? { ...decided, actions: [] } : decided
  const { outcome, code, mapping } = decided
  return { outcome, code, ...(mapping !== undefined && { mapping }) }
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
  const { mapping } = error
  const message = mapping === undefined ? tooMuchWork : `mapping "${mapping}": ${tooMuchWork}`
  return { outcome: 'refused', code: 'TOO_LARGE_RENDERED', message, details: [], mapping }
}
