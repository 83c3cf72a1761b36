/** Owns explaining a request: resolving it once more with somebody listening, and asking each mapping why. */

import { writePath } from '../config/path.ts'
import { takeTurn } from '../turn.ts'
import { createActionTraces } from './action-traces.ts'
import type { Decision, HookRequest } from './decision.ts'
import type { Program } from './program.ts'
import { createRedactor, type Redactor } from './redact.ts'
import type { Resolve } from './resolve.ts'
import { createScope } from './scope.ts'
import type { CandidateTrace, ClauseTrace, Explanation, FailedClause } from './trace.ts'

/** A mapping whose path covers the endpoint. */
export interface Covering {
  readonly mapping: string
  readonly place: string
  readonly params: Readonly<Record<string, string>>
  /** Absent: it says `enabled: false`. */
  readonly program: Program | undefined
}

interface ExplainParts {
  readonly resolve: Resolve
  /** In matching order. */
  readonly covering: (endpoint: string) => readonly Covering[]
}

/** Never rejects. */
export function createExplain(parts: ExplainParts): (request: HookRequest) => Promise<Explanation> {
  const { resolve, covering } = parts
  return async (request) => {
    const known = covering(request.endpoint)
    const redactor = await createRedactor(
      request,
      known.map(({ params }) => params),
    )
    const { recorder, traces } = createActionTraces(redactor)
    let isIgnored = false
    const onIgnored = () => {
      isIgnored = true
    }
    const decision = await resolve(request, { ...recorder, onIgnored })
    const candidates = await traceCandidates(known, request, isIgnored ? undefined : decision, redactor)
    return { endpoint: request.endpoint, decision, candidates, actions: traces() }
  }
}

/** Without a decision of the mappings none of them was asked. */
async function traceCandidates(
  covering: readonly Covering[],
  request: HookRequest,
  decision: Decision | undefined,
  redactor: Redactor,
): Promise<CandidateTrace[]> {
  const base = createScope(request)
  const traces: CandidateTrace[] = []
  let settled = decision === undefined
  for (const { mapping, place, params, program } of covering) {
    const took = shownParams(params, redactor)
    const head = { mapping, place, ...(took !== undefined && { params: took }) }
    if (program === undefined) traces.push({ ...head, verdict: 'disabled' })
    else if (settled) traces.push({ ...head, verdict: 'not-reached' })
    else {
      await takeTurn()
      const scope = took === undefined ? base : { ...base, params }
      const clause = await failedClause(program, scope)
      if (clause === undefined) traces.push({ ...head, verdict: 'matched' })
      else traces.push({ ...head, verdict: 'failed', clause: shownClause(clause, redactor) })
      settled = clause === undefined && (!program.continues || endedBy(decision, mapping))
    }
  }
  return traces
}

async function failedClause(
  { matcher }: Program,
  scope: ReturnType<typeof createScope>,
): Promise<FailedClause | undefined> {
  try {
    return await matcher.explain(scope)
  } catch {
    return { path: ['match'], expected: 'a clause that can be decided', error: 'failed unexpectedly' }
  }
}

/** A mapping that refuses the request is the last to be asked. */
function endedBy(decision: Decision | undefined, mapping: string): boolean {
  return decision !== undefined && 'code' in decision && decision.mapping === mapping
}

function shownClause({ path, expected, error, ...rest }: FailedClause, redactor: Redactor): ClauseTrace {
  const actual = 'actual' in rest && rest.actual !== undefined ? redactor.value(rest.actual, path) : undefined
  return {
    path: writePath(path),
    expected,
    ...(actual !== undefined && { actual }),
    ...(error !== undefined && { error }),
  }
}

function shownParams(
  params: Readonly<Record<string, string>>,
  redactor: Redactor,
): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(params)
  if (entries.length === 0) return undefined
  return Object.fromEntries(
    entries.map(([name, value]) => [name, redactor.text([{ value, path: `params.${name}` }])]),
  )
}
