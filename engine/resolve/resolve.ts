/** Owns the way of one request through the engine: match, check, render, admit, decide. */

import { nextTurn, takeTurn } from '../turn.ts'
import { type Admission, admit, type Randomness } from './admit.ts'
import { parseBodyDraft } from './body-draft.ts'
import type { Action, Decision, FieldError, HookRequest, Reply } from './decision.ts'
import type { Draft } from './draft.ts'
import { type EffectivePolicy, ignoredActor } from './effective-policy.ts'
import { evaluateAt } from './evaluate.ts'
import { createSearch, type Found, type Search } from './match.ts'
import { createMeter, type Meter } from './output.ts'
import { atPace } from './pace.ts'
import type { Candidates, Program } from './program.ts'
import type { Recorder } from './recorder.ts'
import { RefusalError, refuse } from './refusal.ts'
import { renderDraft } from './render.ts'
import type { Rules } from './rules.ts'
import { createScope, type Scope } from './scope.ts'
import { oneReply, transformDraft } from './transformed.ts'
import { withVars } from './vars.ts'
import { whenReady } from './when-ready.ts'

interface ResolveParts {
  /** The mappings that may match, in matching order. */
  readonly candidates: (request: HookRequest) => Candidates
  readonly rules: Rules
  /** What holds for an endpoint besides the rules. */
  readonly effectivePolicyOf: (endpoint: string) => EffectivePolicy | undefined
  /** Its limits come before those of all endpoints. */
  readonly policyOf: (endpoint: string) => Partial<Limits> | undefined
  readonly limits: Limits
  /** Of the configuration: places below it are told relative to it. */
  readonly folder: string
  readonly randomness: Randomness
}

/** What one request may give. */
interface Limits {
  readonly maxActions: number
  readonly maxRenderedBytes: number
}

/** So many take milliseconds to render, and milliseconds to put behind the boundary. */
const manySegments = 10_000

/** `recorder` hears what is rendered; a decision is the same without one. */
export type Resolve = (request: HookRequest, recorder?: Recorder) => Decision | Promise<Decision>

/** Never throws and never rejects: whatever goes wrong is a decision. */
export function createResolve(parts: ResolveParts): Resolve {
  const { candidates, rules, effectivePolicyOf, policyOf, limits, folder, randomness } = parts

  const withoutPolicy: Admission = { rules, endpointPolicy: undefined, randomness }
  const admissionTo = (endpoint: string): Admission => {
    const endpointPolicy = effectivePolicyOf(endpoint)
    return endpointPolicy === undefined ? withoutPolicy : { ...withoutPolicy, endpointPolicy }
  }

  const limitOf = (key: keyof Limits, endpoint: string): number => policyOf(endpoint)?.[key] ?? limits[key]
  const meterOf = (endpoint: string): Meter => createMeter(limitOf('maxRenderedBytes', endpoint))

  function run(request: HookRequest, recorder?: Recorder): Decision | Promise<Decision> {
    const { endpoint } = request
    if (endpoint === 'wake' || endpoint === 'agent') {
      return atPace(request, () => decideBuiltIn(endpoint, request))
    }
    const endpointPolicy = effectivePolicyOf(endpoint)
    const reason = endpointPolicy && ignoredActor(endpointPolicy, request.payload)
    if (reason !== undefined) {
      recorder?.onIgnored()
      return { outcome: 'ignored', reason }
    }
    return atPace(request, () => decide(request, recorder))
  }

  /** @throws RefusalError; to what is wrong it adds what has no effect, since the one may be the other misspelt. */
  function decideBuiltIn(endpoint: 'wake' | 'agent', request: HookRequest): Decision {
    const { draft, warnings } = parseBodyDraft(endpoint, request, rules)
    try {
      const decision = accepted([admit(draft, admissionTo(endpoint))])
      return warnings.length === 0 ? decision : { ...decision, warnings }
    } catch (error) {
      if (!(error instanceof RefusalError) || warnings.length === 0) throw error
      throw new RefusalError(error.code, error.message, [...error.details, ...warnings])
    }
  }

  function decide(request: HookRequest, recorder?: Recorder): Decision | Promise<Decision> {
    const { endpoint } = request
    const search = createSearch(candidates(request), createScope(request))
    return whenReady(search.next(), (found) => {
      if (found.candidate === undefined) return { outcome: 'ignored', reason: explain(endpoint, found) }
      const { program } = found.candidate
      if (program.forEach !== undefined || program.continues || program.transform !== undefined)
        return gather(endpoint, search, found, recorder)
      return settle(
        folder,
        () => {
          const action = whenReady(refuseBadPayload(program, request), () =>
            act(program, found.scope, meterOf(endpoint), recorder),
          )
          return whenReady(action, (made) => accepted([made]))
        },
        program.id,
      )
    })
  }

  /** One action. Without an expression or a long body there is no promise: most requests are decided in one turn. */
  function act(program: Program, scope: Scope, meter: Meter, recorder?: Recorder): Action | Promise<Action> {
    recorder?.onAction(program.id, scope.index)
    const draft = whenReady(withVars(program, scope, recorder), (inner) =>
      atPace(scope.request, () =>
        renderDraft(program, inner, meter, effectivePolicyOf(scope.request.endpoint), recorder),
      ),
    )
    return whenReady(draft, (rendered) => admitInTurn(rendered, scope, meter, recorder))
  }

  /** What the mapping's transform makes of the one action that is rendered: none, one or several. */
  async function actTransformed(
    program: Program,
    transform: NonNullable<Program['transform']>,
    scope: Scope,
    meter: Meter,
    recorder?: Recorder,
  ): Promise<{ readonly actions: readonly Action[]; readonly skipped?: string; readonly reply?: Reply }> {
    recorder?.onAction(program.id, scope.index)
    const inner = await withVars(program, scope, recorder)
    const endpointPolicy = effectivePolicyOf(scope.request.endpoint)
    const draft = await atPace(scope.request, () =>
      renderDraft(program, inner, meter, endpointPolicy, recorder),
    )
    const { drafts, ...rest } = await transformDraft(transform, draft, inner, meter)
    const maxActions = limitOf('maxActions', scope.request.endpoint)
    if (drafts.length > maxActions) throw tooMany(maxActions)
    const actions: Action[] = []
    for (const [position, { draft, change }] of drafts.entries()) {
      recorder?.onTransformed(position, change)
      actions.push(await admitInTurn(draft, scope, meter, recorder))
    }
    if (actions.length === 0) recorder?.onSkipped()
    return { actions, ...rest }
  }

  function admitInTurn(
    draft: Draft,
    { request }: Scope,
    meter: Meter,
    recorder?: Recorder,
  ): Action | Promise<Action> {
    const admitted = (): Action => {
      const admission = admissionTo(request.endpoint)
      const action = admit(draft, admission, meter)
      recorder?.onAdmitted(action, admission.endpointPolicy)
      return action
    }
    const isLong = (draft.segments?.length ?? 0) > manySegments
    return isLong ? nextTurn().then(admitted) : atPace(request, admitted)
  }

  /** Several actions, of one mapping or of more: all of them or, where one is refused, none. */
  async function gather(
    endpoint: string,
    search: Search,
    first: Found,
    recorder?: Recorder,
  ): Promise<Decision> {
    const meter = meterOf(endpoint)
    const maxActions = limitOf('maxActions', endpoint)
    const actions: Action[] = []
    const skipped = new Set<string>()
    let reply: Reply | undefined
    for (let found = first; found.candidate !== undefined; found = await search.next()) {
      const { scope } = found
      const { program } = found.candidate
      try {
        await refuseBadPayload(program, scope.request)
        const elements = await elementsOf(program, scope)
        if (elements?.length === 0) skipped.add(`forEach of "${program.id}" gave no elements`)
        if (actions.length + (elements?.length ?? 1) > maxActions) throw tooMany(maxActions)
        for (const [index, item] of elements?.entries() ?? [[undefined, undefined]]) {
          await takeTurn()
          const own = index === undefined ? scope : { ...scope, item, index }
          if (program.transform === undefined) actions.push(await act(program, own, meter, recorder))
          else {
            const made = await actTransformed(program, program.transform, own, meter, recorder)
            actions.push(...made.actions)
            if (made.skipped !== undefined) skipped.add(made.skipped)
            reply = oneReply(reply, made.reply, program.transform.module)
          }
          if (actions.length > maxActions) throw tooMany(maxActions)
        }
      } catch (error) {
        return refuse(error, folder, program.id)
      }
      if (!program.continues) break
    }
    const told = reply && { reply }
    if (actions.length > 0) return { ...accepted(actions), ...told }
    const mapping = first.candidate?.program.id ?? ''
    return { outcome: 'skipped', reason: [...skipped].join('; '), mapping, ...told }
  }

  return (request, recorder) => settle(folder, () => run(request, recorder))
}

function accepted(actions: readonly Action[]): Extract<Decision, { outcome: 'accepted' }> {
  return { outcome: 'accepted', actions: Object.freeze(actions), mapping: actions[0]?.mapping }
}

/** @throws RefusalError `PAYLOAD_SCHEMA`, or rejects with it */
function refuseBadPayload({ checkPayload }: Program, request: HookRequest): void | Promise<void> {
  if (checkPayload === undefined) return undefined
  return atPace(request, () => refuseDetails(checkPayload(request.payload)))
}

function refuseDetails(details: readonly FieldError[]): void {
  const [first] = details
  if (first === undefined) return
  const place = first.pointer === '' ? 'the payload' : first.pointer
  throw new RefusalError(
    'PAYLOAD_SCHEMA',
    `the payload does not satisfy its schema: ${place} ${first.message}`,
    details,
  )
}

/** What `forEach` gives: a single value is a list of one, and nothing is none. No list for a mapping without it. */
async function elementsOf({ forEach }: Program, scope: Scope): Promise<readonly unknown[] | undefined> {
  if (forEach === undefined) return undefined
  const given = await evaluateAt(['forEach'], forEach, scope)
  if (given === undefined || given === null) return []
  return Array.isArray(given) ? given : [given]
}

function tooMany(maxActions: number): RefusalError {
  return new RefusalError(
    'TOO_MANY_ACTIONS',
    `the request gives more than ${maxActions} actions (maxActions, of its endpoint or of hooks)`,
  )
}

function settle(
  folder: string,
  work: () => Decision | Promise<Decision>,
  mapping?: string,
): Decision | Promise<Decision> {
  try {
    const decision = work()
    return decision instanceof Promise ? decision.catch((error) => refuse(error, folder, mapping)) : decision
  } catch (error) {
    return refuse(error, folder, mapping)
  }
}

function explain(endpoint: string, found: Extract<Found, { candidate: undefined }>): string {
  const { covering, failures } = found
  if (covering === 0) return `endpoint "${endpoint}" has no mappings`
  const reason = `no mapping of endpoint "${endpoint}" matched (${covering} tried)`
  const told = failures.map(
    ({ mapping, error }) => `${error.clause} of "${mapping}" failed: ${error.message}`,
  )
  return [reason, ...told].join('; ')
}
