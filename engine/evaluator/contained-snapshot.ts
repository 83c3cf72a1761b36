/**
 * Provides a snapshot whose requests hold the main loop only for quick work. A request that an expression may decide about
 * goes to a thread at once, and any other when it turns out to take long.
 */

import type { CompiledWithCoverage } from '../compile/compile-steps.ts'
import type { Catalog, Snapshot } from '../compile/snapshot.ts'
import type { Configuration } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import type { Decided, ExplainOptions } from '../resolve/explain.ts'
import { NeedsThread, onMainLoop } from '../resolve/model/containment.ts'
import type { Action, Decision, HookRequest, Refusal } from '../resolve/model/decision.ts'
import type { Candidate } from '../resolve/model/program.ts'
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
  readonly evaluators: Pick<Evaluators, 'run' | 'prepare'>
  readonly mint: Randomness['mint']
}

/** Up to so many mappings are tried without an index. */
const maxUnindexed = 20

type Sound = Extract<CompiledWithCoverage, { ok: true }>
type OnLoop = Pick<ResolveOptions, 'containment' | 'callTransform'>

let lastGeneration = 0
/** The last program of all snapshots so far. Greater numbers are those of mappings that a reload has changed. */
let lastProgram = 0

export function containSnapshot(compiled: Sound, parts: Parts): Snapshot {
  const { snapshot, covering, programs, index } = compiled
  const { evaluators, mint } = parts
  const generation = generationOf(parts)
  const changed = programs.filter(({ evaluates, number }) => evaluates && number > lastProgram)
  lastProgram = programs.reduce((last, { number }) => Math.max(last, number), lastProgram)
  evaluators.prepare(generation, changed)

  /** Parsing a body twice costs more than trying a few mappings that cannot match. */
  const readsPayload = (endpoint: string): boolean =>
    index.count(endpoint) > maxUnindexed || !index.covering(endpoint).some(({ program }) => program.evaluates)

  function resolve(request: HookRequest): Promise<Decision> {
    const isWhole = request.isUndecoded === true || !readsPayload(request.endpoint)
    const tried = isWhole ? everyMapping(compiled, request) : mappingsFor(compiled, request)
    const job = { generation, request, ...tried }
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

  function explain(
    request: HookRequest,
    { decided }: Pick<ExplainOptions, 'decided'> = {},
  ): Promise<Explanation> {
    const job = { generation, request, ...everyMapping(compiled, request) }
    return contain(
      job,
      (options) => snapshot.explain(request, { ...options, ...(decided && { decided }) }),
      async (calls) => {
        const { endpoint } = request
        const explain = { covering: covering(endpoint), ...(decided && { decided: plainDecision(decided) }) }
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

type Tried = Pick<EvaluatorJob, 'mappings' | 'isIndexed' | 'covering'>

/** The mappings that are tried for a request whose payload is not read yet, or that are explained. */
function everyMapping({ covering }: Sound, { endpoint }: HookRequest): Tried {
  const mappings = covering(endpoint).flatMap(({ program, params }) =>
    program === undefined ? [] : [{ program, params }],
  )
  return { mappings, isIndexed: false, covering: mappings.length }
}

function mappingsFor({ index }: Sound, request: HookRequest): Tried {
  const { covering, next } = index.candidates(request)
  const mappings: Candidate[] = []
  for (let each = next(); each !== undefined; each = next()) mappings.push(each)
  return { mappings, isIndexed: true, covering }
}

/** Decides on the main loop, or from the beginning in a thread if that turns out to be too much. */
async function contain<Result>(
  job: Pick<EvaluatorJob, 'mappings' | 'request'>,
  onLoop: (options: OnLoop) => Result | Promise<Result>,
  inThread: (calls: TransformCalls) => Promise<Result>,
): Promise<Result> {
  const calls: TransformCalls = []
  if (job.mappings.some(({ program }) => program.evaluates)) return inThread(calls)
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

function generationOf({ configuration, catalog }: Parts): Generation {
  const { settings, endpoints } = configuration
  let entries: ReadonlyMap<string, Configuration['mappings'][number]> | undefined
  return {
    id: ++lastGeneration,
    settings: () => ({ settings, endpoints, catalog }),
    mapping: ({ id }) => {
      entries ??= new Map(configuration.mappings.map((entry) => [entry.id, entry]))
      const entry = entries.get(id)
      if (entry === undefined) throw new Error(`There is no mapping "${id}".`)
      // Without the places, and the values of references, which only the main thread needs because it calls the transforms.
      return { id, label: entry.label, value: entry.value }
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
  return { outcome: 'refused', code: 'TOO_LARGE_RENDERED', message: tooMuchWork, details: [] }
}
