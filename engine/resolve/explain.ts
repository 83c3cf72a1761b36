/** Explains a request: resolves it again with a recorder, and lets each mapping explain why it matched or did not. */

import { writePath } from '../config/values/path.ts'
import { createActionTraces } from './explain/action-traces.ts'
import { createRedactor, type Redactor } from './explain/redact.ts'
import { NeedsThread } from './model/containment.ts'
import type { Decision, HookRequest, Refusal } from './model/decision.ts'
import type { Program } from './model/program.ts'
import { RefusalError } from './model/refusal.ts'
import { createScope, type Scope } from './model/scope.ts'
import type { CandidateTrace, ClauseTrace, Explanation, FailedClause } from './model/trace.ts'
import { decodeRequest } from './payload.ts'
import type { Resolve, ResolveOptions } from './resolve.ts'

/** A mapping whose path covers the endpoint. */
export interface Covering {
  readonly mapping: string
  readonly place: string
  readonly params: Readonly<Record<string, string>>
  /** Absent if the mapping has `enabled: false`. */
  readonly program: Program | undefined
}

interface ExplainParts {
  readonly resolve: Resolve
  /** Returns the mappings in matching order. */
  readonly covering: (endpoint: string) => readonly Covering[]
  /** True if the request is ignored before any mapping is tried. */
  readonly ignores: (request: HookRequest) => boolean
}

export interface ExplainOptions extends Omit<ResolveOptions, 'recorder'> {
  /**
   * The decision that was made about the request. Then nothing is rendered, no transform is called, and only the
   * candidates are explained.
   */
  readonly decided?: Decided
  /** Number of candidates that are explained. Default: all of them. */
  readonly maxCandidates?: number | undefined
}

/** The facts of a decision that the match part of an explanation depends on. */
export type Decided = Decision | (Pick<Refusal, 'outcome' | 'code'> & { readonly mapping?: string })

/** Rejects only with NeedsThread, if its containment demands that. */
export type Explain = (request: HookRequest, options?: ExplainOptions) => Promise<Explanation>

export function createExplain(parts: ExplainParts): Explain {
  const { resolve, covering, ignores } = parts
  return async (received, options = {}) => {
    const request = decodedOrAs(received, options.containment)
    const coveringMappings = covering(request.endpoint)
    const redactor = createRedactor(
      request,
      coveringMappings.map(({ params }) => params),
    )
    const { recorder, traces } = createActionTraces(redactor)
    const decision = asDecision(options.decided) ?? (await resolve(request, { ...options, recorder }))
    const base = createScope(request, options.containment)
    const explained = coveringMappings.slice(0, options.maxCandidates)
    const candidates = await traceCandidates(
      explained,
      base,
      ignores(request) ? undefined : decision,
      redactor,
    )
    const more = coveringMappings.length - explained.length
    return { endpoint: request.endpoint, decision, candidates, ...(more > 0 && { more }), actions: traces() }
  }
}

function asDecision(decided: Decided | undefined): Decision | undefined {
  return decided !== undefined && 'code' in decided ? { message: '', details: [], ...decided } : decided
}

/** Returns the request unchanged if its body cannot be read, because the decision then explains that. */
function decodedOrAs(request: HookRequest, containment: ResolveOptions['containment']): HookRequest {
  try {
    return decodeRequest(request, containment)
  } catch (error) {
    if (error instanceof RefusalError) return request
    throw error
  }
}

/** Without a decision by mappings, none of them was tried. */
async function traceCandidates(
  covering: readonly Covering[],
  base: Scope,
  decision: Decision | undefined,
  redactor: Redactor,
): Promise<CandidateTrace[]> {
  const traces: CandidateTrace[] = []
  let settled = decision === undefined
  for (const { mapping, place, params, program } of covering) {
    const took = shownParams(params, redactor)
    const head = { mapping, place, ...(took !== undefined && { params: took }) }
    if (program === undefined) traces.push({ ...head, verdict: 'disabled' })
    else if (settled) traces.push({ ...head, verdict: 'not-reached' })
    else {
      base.containment.checkTime()
      const scope = took === undefined ? base : { ...base, params }
      const clause = await failedClause(program, scope)
      if (clause === undefined) traces.push({ ...head, verdict: 'matched' })
      else traces.push({ ...head, verdict: 'failed', clause: shownClause(clause, redactor) })
      settled = clause === undefined && (!program.continues || endedBy(decision, mapping))
    }
  }
  return traces
}

async function failedClause({ matcher }: Program, scope: Scope): Promise<FailedClause | undefined> {
  try {
    return await matcher.explain(scope)
  } catch (error) {
    if (error instanceof NeedsThread) throw error
    return { path: ['match'], expected: 'a clause that can be decided', error: 'failed unexpectedly' }
  }
}

/** No mapping is tried after one that refuses the request. */
function endedBy(decision: Decision | undefined, mapping: string): boolean {
  return decision !== undefined && 'code' in decision && decision.mapping === mapping
}

function shownClause(
  { path, expected, error, isOnly, isNear, ...rest }: FailedClause,
  redactor: Redactor,
): ClauseTrace {
  const actual = 'actual' in rest && rest.actual !== undefined ? redactor.value(rest.actual, path) : undefined
  return {
    path: writePath(path),
    expected,
    ...(actual !== undefined && { actual }),
    ...(error !== undefined && { error }),
    ...(isOnly && { isOnly }),
    ...(isNear && { isNear }),
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
