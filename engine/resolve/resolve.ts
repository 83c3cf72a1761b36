/** Resolves one request: matches, checks, renders, admits and decides. */

import type { TransformAnswer, TransformCall, TransformFunction } from '../transform/port.ts'
import { type Admission, admit, type Randomness } from './admit/admit.ts'
import { parseBodyDraft } from './admit/body-draft.ts'
import type { Draft } from './admit/draft.ts'
import type { Rules } from './admit/rules.ts'
import { createSearch, type MatchResult, type Search } from './match/match.ts'
import { type Containment, uncontained } from './model/containment.ts'
import type { Action, Decision, HookRequest, Reply } from './model/decision.ts'
import { type EffectivePolicy, ignoredActor } from './model/effective-policy.ts'
import { createMeter, type Meter } from './model/output.ts'
import type { Candidates, Expression, Program } from './model/program.ts'
import type { TraceRecorder } from './model/recorder.ts'
import { RefusalError, refuse } from './model/refusal.ts'
import { createScope, type Scope } from './model/scope.ts'
import { decodeRequest } from './payload.ts'
import { evaluateAt, withVars } from './render/evaluate.ts'
import { renderDraft } from './render/render.ts'
import { oneReply, type Transformed, transformDraft } from './render/transformed.ts'

interface ResolveParts {
  /** The mappings that may match, in matching order. */
  readonly candidates: (request: HookRequest) => Candidates
  readonly rules: Rules
  /** Returns the effective policy of an endpoint. */
  readonly effectivePolicyOf: (endpoint: string) => EffectivePolicy | undefined
  /** Returns the limits of an endpoint, which take precedence over those for all endpoints. */
  readonly policyOf: (endpoint: string) => Partial<Limits> | undefined
  readonly limits: Limits
  /** The folder of the configuration. Places below it are shown relative to it. */
  readonly folder: string
  readonly randomness: Randomness
}

/** The limits of one request. */
interface Limits {
  readonly maxActions: number
  readonly maxRenderedBytes: number
}

export interface ResolveOptions {
  /** Receives what is rendered. It does not change the decision. */
  readonly recorder?: TraceRecorder
  /** Default: everything is allowed. */
  readonly containment?: Containment
  /** Calls the transform of a mapping. Default: a direct call. */
  readonly callTransform?: CallTransform
}

export type CallTransform = (
  mapping: string,
  transform: TransformFunction,
  call: TransformCall,
) => Promise<TransformAnswer>

/** Rejects only with NeedsThread, if its containment demands that. Any other error becomes a decision. */
export type Resolve = (request: HookRequest, options?: ResolveOptions) => Promise<Decision>

/** The state of one request. */
interface Job {
  readonly parts: ResolveParts
  readonly request: HookRequest
  readonly recorder: TraceRecorder | undefined
  readonly containment: Containment
  readonly callTransform: CallTransform
  readonly endpointPolicy: EffectivePolicy | undefined
  readonly meter: Meter
  readonly maxActions: number
}

interface Made {
  readonly actions: readonly Action[]
  readonly skipped?: string
  readonly reply?: Reply
}

const callDirectly: CallTransform = (_mapping, transform, call) => transform(call)

export function createResolve(parts: ResolveParts): Resolve {
  return async (request, options = {}) => {
    try {
      return await decideRequest(parts, decodeRequest(request, options.containment), options)
    } catch (error) {
      return refuse(error, parts.folder)
    }
  }
}

function decideRequest(
  parts: ResolveParts,
  request: HookRequest,
  options: ResolveOptions,
): Decision | Promise<Decision> {
  const { effectivePolicyOf, policyOf, limits } = parts
  const { endpoint } = request
  const { recorder, containment = uncontained, callTransform = callDirectly } = options
  const endpointPolicy = effectivePolicyOf(endpoint)
  if (endpoint === 'wake' || endpoint === 'agent')
    return decideBuiltIn(parts, endpoint, request, endpointPolicy)
  const reason = endpointPolicy && ignoredActor(endpointPolicy, request.payload)
  if (reason !== undefined) return { outcome: 'ignored', reason }
  const limitOf = (key: keyof Limits): number => policyOf(endpoint)?.[key] ?? limits[key]
  const meter = createMeter(limitOf('maxRenderedBytes'), containment)
  const maxActions = limitOf('maxActions')
  return decide({ parts, request, recorder, containment, callTransform, endpointPolicy, meter, maxActions })
}

/** @throws RefusalError, which also reports fields without effect, because a missing field may be one that was misspelt */
function decideBuiltIn(
  { rules, randomness }: ResolveParts,
  endpoint: 'wake' | 'agent',
  request: HookRequest,
  endpointPolicy?: EffectivePolicy,
): Decision {
  const { draft, warnings } = parseBodyDraft(endpoint, request, rules)
  try {
    const decision = accepted([admit(draft, { rules, endpointPolicy, randomness })])
    return warnings.length === 0 ? decision : { ...decision, warnings }
  } catch (error) {
    if (!(error instanceof RefusalError) || warnings.length === 0) throw error
    throw new RefusalError(error.code, error.message, [...error.details, ...warnings])
  }
}

/** Decides about all actions of one or more mappings: if one is refused, all are. */
async function decide(job: Job): Promise<Decision> {
  const { parts, request, containment, maxActions } = job
  const search: Search = createSearch(parts.candidates(request), createScope(request, containment))
  const actions: Action[] = []
  const skipped = new Set<string>()
  let reply: Reply | undefined
  let first: string | undefined
  for (;;) {
    const found = await search.next()
    if (found.candidate === undefined) {
      if (first === undefined) return { outcome: 'ignored', reason: explain(request.endpoint, found) }
      break
    }
    const { scope } = found
    const { program } = found.candidate
    first ??= program.id
    try {
      refuseBadPayload(program, scope)
      const elements = program.forEach && (await elementsOf(program.forEach, scope))
      if (elements?.length === 0) skipped.add(`forEach of "${program.id}" gave no elements`)
      if (actions.length + (elements?.length ?? 1) > maxActions) throw tooMany(maxActions)
      for (const [index, item] of elements?.entries() ?? [[undefined, undefined]]) {
        containment.checkTime()
        const made = await act(program, index === undefined ? scope : { ...scope, item, index }, job)
        actions.push(...made.actions)
        if (made.skipped !== undefined) skipped.add(made.skipped)
        reply = oneReply(reply, made.reply, program.transform?.module ?? '')
        if (actions.length > maxActions) throw tooMany(maxActions)
      }
    } catch (error) {
      return refuse(error, parts.folder, program.id)
    }
    if (!program.continues) break
  }
  const replied = reply && { reply }
  if (actions.length > 0) return { ...accepted(actions), ...replied }
  return { outcome: 'skipped', reason: [...skipped].join('; '), mapping: first, ...replied }
}

/** Returns the actions of one element: the rendered one, or those that the transform makes of it. */
async function act(program: Program, scope: Scope, job: Job): Promise<Made> {
  const { recorder, meter, endpointPolicy, callTransform, maxActions } = job
  recorder?.onAction(program.id, scope.index)
  const inner = program.vars.length === 0 ? scope : await withVars(program, scope, recorder)
  const draft = await renderDraft({ program, scope: inner, meter, endpointPolicy, recorder })
  const { id, transform } = program
  if (transform === undefined) return { actions: [admitDraft(draft, job)] }
  const { module } = transform
  const call: TransformFunction = (given) => callTransform(id, transform.call, given)
  const { drafts, ...rest }: Transformed = await transformDraft({ module, call }, draft, inner, meter)
  if (drafts.length > maxActions) throw tooMany(maxActions)
  const actions = drafts.map(({ draft: changed, change }, position) => {
    recorder?.onTransformed(position, change)
    return admitDraft(changed, job)
  })
  if (actions.length === 0) recorder?.onSkipped()
  return { actions, ...rest }
}

function admitDraft(draft: Draft, { parts, meter, endpointPolicy, recorder, containment }: Job): Action {
  const { rules, randomness } = parts
  containment.checkTime()
  const admission: Admission = { rules, endpointPolicy, randomness }
  const action = admit(draft, admission, meter)
  recorder?.onAdmitted(action, endpointPolicy)
  return action
}

function accepted(actions: readonly Action[]): Extract<Decision, { outcome: 'accepted' }> {
  return { outcome: 'accepted', actions: Object.freeze(actions), mapping: actions[0]?.mapping }
}

/** @throws RefusalError `PAYLOAD_SCHEMA` */
function refuseBadPayload({ checkPayload }: Program, { request, containment }: Scope): void {
  const details = checkPayload?.(request.payload, containment) ?? []
  const [first] = details
  if (first === undefined) return
  const place = first.pointer === '' ? 'the payload' : first.pointer
  throw new RefusalError(
    'PAYLOAD_SCHEMA',
    `the payload does not satisfy its schema: ${place} ${first.message}`,
    details,
  )
}

/** Returns the elements of `forEach`: a single value is a list of one, and nothing is an empty list. */
async function elementsOf(forEach: Expression, scope: Scope): Promise<readonly unknown[]> {
  const list = await evaluateAt(['forEach'], forEach, scope)
  if (list === undefined || list === null) return []
  return Array.isArray(list) ? list : [list]
}

function tooMany(maxActions: number): RefusalError {
  return new RefusalError(
    'TOO_MANY_ACTIONS',
    `the request gives more than ${maxActions} actions (maxActions, of its endpoint or of hooks)`,
  )
}

function explain(endpoint: string, found: Extract<MatchResult, { candidate: undefined }>): string {
  const { covering, failures } = found
  if (covering === 0) return `endpoint "${endpoint}" has no mappings`
  const reason = `no mapping of endpoint "${endpoint}" matched (${covering} tried)`
  const failed = failures.map(
    ({ mapping, error }) => `${error.clause} of "${mapping}" failed: ${error.message}`,
  )
  return [reason, ...failed].join('; ')
}
