/** Owns the way of one request through the engine: match, render, admit, decide. */

import { admit, type Randomness } from './admit.ts'
import { parseBodyDraft } from './body-draft.ts'
import type { Decision, HookRequest } from './decision.ts'
import type { Draft } from './draft.ts'
import { createSearch, type Found } from './match.ts'
import { createMeter } from './output.ts'
import type { Candidates } from './program.ts'
import { refuse } from './refusal.ts'
import { renderDraft } from './render.ts'
import type { Rules } from './rules.ts'
import { createScope } from './scope.ts'

export interface ResolveParts {
  /** The mappings that may match, in matching order. */
  readonly candidates: (request: HookRequest) => Candidates
  readonly rules: Rules
  readonly maxRenderedBytes: number
  readonly randomness: Randomness
}

/** Never throws and never rejects: whatever goes wrong is a decision. */
export function createResolve(parts: ResolveParts): (request: HookRequest) => Decision | Promise<Decision> {
  const { candidates, rules, maxRenderedBytes, randomness } = parts

  function accept(draft: Draft): Decision {
    const actions = Object.freeze([admit(draft, rules, randomness)])
    return { outcome: 'accepted', actions, mapping: draft.mapping }
  }

  function run(request: HookRequest): Decision | Promise<Decision> {
    const { endpoint } = request
    if (endpoint === 'wake' || endpoint === 'agent') return accept(parseBodyDraft(endpoint, request.payload))

    const decide = (found: Found): Decision | Promise<Decision> => {
      if (found.candidate === undefined) return { outcome: 'ignored', reason: explain(endpoint, found) }
      const { program } = found.candidate
      const { scope } = found
      return settle(() => {
        const draft = renderDraft(program, scope, createMeter(maxRenderedBytes))
        return draft instanceof Promise ? draft.then(accept) : accept(draft)
      }, program.id)
    }
    const found = createSearch(candidates(request), createScope(request)).next()
    return found instanceof Promise ? found.then(decide) : decide(found)
  }

  return (request) => settle(() => run(request))
}

function settle(work: () => Decision | Promise<Decision>, mapping?: string): Decision | Promise<Decision> {
  try {
    const decision = work()
    return decision instanceof Promise ? decision.catch((error) => refuse(error, mapping)) : decision
  } catch (error) {
    return refuse(error, mapping)
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
