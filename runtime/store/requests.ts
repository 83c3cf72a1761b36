/** The record of a request once its actions are decided, and its trace within a size limit. */

import type { Acceptance, Dedupe, Id, RequestRecord, RequestTrace } from './port.ts'

type Outcome = Acceptance['actions'][number]

/** Returns what changes of a request with an action that was a duplicate, joined a run or was busy: each names what it became. */
export function changesBy(
  outcomes: readonly Outcome[],
  request: Pick<RequestRecord, 'actions' | 'mapping'>,
): Partial<RequestRecord> {
  const actions = request.actions.map((action, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return action
    return 'original' in outcome
      ? { ...action, id: outcome.original, duplicateOf: outcome.request }
      : { ...action, id: outcome.id }
  })
  const seen = outcomes.filter((outcome) => 'original' in outcome)
  if (seen.length < outcomes.length) return { actions }
  const duplicate = { actions, outcome: 'duplicate' } as const
  const originals = nameRequests([...new Set(seen.map((outcome) => outcome.request))])
  return seen.some(({ outcome }) => outcome === 'conflict')
    ? {
        ...duplicate,
        status: 409,
        code: 'IDEMPOTENCY_CONFLICT',
        reason: `its key came before with another body, in ${originals}`,
      }
    : { ...duplicate, status: 200, reason: whyDuplicate(request, seen, originals) }
}

function whyDuplicate(
  { mapping }: Pick<RequestRecord, 'mapping'>,
  seen: readonly Outcome[],
  originals: string,
): string {
  const differs = seen.some((outcome) => 'hasOtherBody' in outcome && outcome.hasOtherBody)
  if (!differs) return `it came before, in ${originals}`
  const owner = mapping === undefined ? '' : ` of mapping "${mapping}"`
  return `its \`dedupe.key\`${owner} has the value that it had in ${originals}, but the bodies differ`
}

/** A reason is one line, so it names only this many requests. */
const maxNamed = 3

function nameRequests(ids: readonly Id[]): string {
  const more = ids.length - maxNamed
  const named = ids.slice(0, maxNamed).join(', ')
  return `request${ids.length > 1 ? 's' : ''} ${named}${more > 0 ? ` and ${more} more` : ''}`
}

/** Maximum size of a stored trace, in bytes of JSON. */
const maxTraceBytes = 16_384

/** Makes the JSON of a trace. Candidates go from its end until it is short enough. */
export function encodeTrace(trace: RequestTrace): string {
  const whole = JSON.stringify(trace)
  if (whole.length * 3 <= maxTraceBytes || Buffer.byteLength(whole) <= maxTraceBytes) return whole
  const { candidates, more } = trace
  const cutTo = (count: number) =>
    JSON.stringify({
      ...trace,
      candidates: candidates.slice(0, count),
      more: more + candidates.length - count,
      cut: true,
    })
  let left = maxTraceBytes - Buffer.byteLength(cutTo(0))
  let count = 0
  for (const candidate of candidates) {
    // A comma separates them, and `more` never has more digits than it has for none.
    left -= Buffer.byteLength(JSON.stringify(candidate)) + 1
    if (left < 0) break
    count += 1
  }
  return cutTo(count)
}

/** Returns the outcome of an action whose key was seen before. `digest` is that of the original's body. */
export function repetitionOf(
  { bodyDigest, isGiven }: Dedupe,
  before: { readonly digest: string | null; readonly original: Id; readonly request: Id },
): Extract<Outcome, { readonly original: Id }> {
  const { digest, original, request } = before
  const differs = bodyDigest !== undefined && digest !== null && digest !== bodyDigest
  const outcome = differs && isGiven ? 'conflict' : 'duplicate'
  return { outcome, original, request, ...(differs && !isGiven && { hasOtherBody: true }) }
}
