/** Follows the requests of each endpoint: when it was last seen, and which problems its requests show. */

import { providerRow, type Snapshot } from '@reveille/engine'
import { configuredName, endpointOption, isConfiguredName } from '../configured-names.ts'
import { runHeader } from '../guard/index.ts'
import {
  isRefusedByConfiguration,
  type RequestFacts,
  type RequestOutcome,
  reasonOf,
  statusOfOutcome,
} from '../http/index.ts'
import { type Ledger, type Problem, withoutFullStop } from './ledger.ts'

/** State of one endpoint, or of all that a pattern covers. Names that a sender made up share one of these. */
interface Endpoint {
  /** Milliseconds since the Unix epoch. */
  seenAt: number
  hour: Hour
}

/** Counts of one hour, which show whether a sender repeats itself, and why. */
interface Hour {
  readonly beganAt: number
  requests: number
  repeated: number
  echoes: number
  /** Answers with 5xx. */
  errors: number
  slowestMs: number
}

const hourMs = 3_600_000
/** Minimum number of repeated deliveries in an hour that are no accident, if they are also a tenth of all. */
const minRepeated = 3
const repeatedShare = 0.1
const minEchoes = 3
/** The fastest senders wait three seconds for an answer. Milliseconds. */
const slowMs = 2500
/** The name of the endpoints that only a catch-all covers. */
const elsewhere = ''

/** Refusals that any unauthenticated client gets. They say nothing about the sender that the endpoint is for. */
const ofUnauthenticated: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'UNAUTHORIZED',
  'TOO_MANY_TRIES',
  'RATE_LIMITED',
])
/** Reason why a sender without a signature was refused. */
const unsigned: ReadonlySet<string> = new Set(['TOKEN_MISSING', 'TOKEN_WRONG', 'NOT_LOCAL'])
/** Refusals of a body, which come after the check of the token or the signature; of a body that is too large, of the token alone. */
const ofBodies: ReadonlySet<string> = new Set([
  'BODY_TOO_LARGE',
  'UNSUPPORTED_ENCODING',
  'BAD_ENCODING',
  'INVALID_TEXT',
  'INVALID_JSON',
  'NESTED_TOO_DEEP',
  'TOO_MANY_FIELDS',
  'MULTIPART_BODY',
])
const ofTransforms: ReadonlySet<string> = new Set(['TRANSFORM_FAILED', 'TRANSFORM_TIMEOUT'])

export interface EndpointWatchOptions {
  readonly ledger: Ledger
  /** Called with the policy whose `expectEvery` covers a request that came. */
  readonly onExpected: (policy: string, at: number) => void
}

export function createEndpointWatch({ ledger, onExpected }: EndpointWatchOptions) {
  const endpoints = new Map<string, Endpoint>()

  /** The endpoint after one more request. */
  function counted(name: string, at: number, ms: number): Endpoint {
    const endpoint = endpoints.get(name) ?? { seenAt: at, hour: newHour(at) }
    endpoints.set(name, endpoint)
    endpoint.seenAt = at
    if (at - endpoint.hour.beganAt >= hourMs) endHour(name, endpoint, at)
    endpoint.hour.requests += 1
    endpoint.hour.slowestMs = Math.max(endpoint.hour.slowestMs, ms)
    return endpoint
  }

  function endHour(name: string, endpoint: Endpoint, at: number): void {
    if (endpoint.hour.repeated < minRepeated) ledger.resolve('DUPLICATES', name)
    if (endpoint.hour.echoes === 0) ledger.resolve('LOOP', `/${name}`)
    endpoint.hour = newHour(at)
  }

  function judgeMapping(context: RequestFacts, result: RequestOutcome): void {
    const problem = 'code' in result ? transformFailing(context, result) : undefined
    if (problem !== undefined) ledger.note(problem)
    for (const mapping of mappingsReached(result)) ledger.resolve('TRANSFORM_FAILING', mapping)
  }

  function judgeSender(context: RequestFacts, name: string, result: RequestOutcome, ms: number): void {
    // Such a refusal may precede the check of the signature.
    if (result.outcome === 'refused' && !isRefusedByConfiguration(result)) {
      const problem = name === elsewhere ? undefined : bodyRefused(context, name, result)
      if (problem !== undefined) ledger.note(problem)
      return
    }
    const { receivedAt: at, live, endpoint = '' } = context
    const { hour } = counted(name, at, ms)
    const expected = live.snapshot.effectivePolicyOf(endpoint)?.expectEvery
    if (expected !== undefined) onExpected(expected.policy, at)
    if (!context.isInternal)
      for (const code of ['SIGNATURE_REFUSED', 'TOKEN_REFUSED', 'BODY_REFUSED'] as const)
        ledger.resolve(code, name)
    const problem = problemWithin(hour, context, name, result)
    if (problem !== undefined) ledger.note(problem)
  }

  return {
    /** Once for each request, after its reply. `ms` is the time until then. */
    concluded(context: RequestFacts, result: RequestOutcome, ms: number): void {
      if (result.outcome === 'handshake') return
      const name = configuredName(context.live.snapshot, context.endpoint) ?? elsewhere
      if ('code' in result && (ofUnauthenticated.has(result.code) || result.failure !== undefined)) {
        if (result.failure !== undefined && name !== elsewhere)
          ledger.note(credentialsRefused(context.live.snapshot, name, result))
        return
      }
      judgeMapping(context, result)
      // A replay shows what a mapping does, and nothing of its sender.
      if (context.replay === undefined) judgeSender(context, name, result, ms)
    },
    /** When an authenticated request came last. Milliseconds since the Unix epoch. */
    seenAt: (name: string) => endpoints.get(name)?.seenAt || undefined,
    /** Ends the hours in which senders repeated themselves. */
    endHours(now: number): void {
      for (const [name, endpoint] of endpoints)
        if (now - endpoint.hour.beganAt >= hourMs) endHour(name, endpoint, now)
    },
    /** Forgets endpoints that the configuration no longer names. */
    keep(snapshot: Snapshot): void {
      for (const name of endpoints.keys())
        if (name !== elsewhere && !isConfiguredName(snapshot, name)) endpoints.delete(name)
    },
  }
}

type Failed = Extract<RequestOutcome, { code: string }>

function mappingsReached(result: RequestOutcome): string[] {
  if ('code' in result) return []
  if (result.outcome === 'accepted') return result.actions.flatMap(({ action }) => action.mapping ?? [])
  return result.outcome === 'skipped' && result.mapping !== undefined ? [result.mapping] : []
}

/** Counts what a request adds to its sender's hour, and returns the problem that the hour shows by now. */
function problemWithin(
  hour: Hour,
  context: RequestFacts,
  name: string,
  result: RequestOutcome,
): Problem | undefined {
  if ('code' in result) {
    if (statusOfOutcome(result) >= 500) hour.errors += 1
    return undefined
  }
  if (name === elsewhere) return undefined
  if (result.outcome === 'duplicate') return duplicates(context, name, result, hour)
  return 'isLoop' in result && result.isLoop ? loop(context, name, hour) : undefined
}

function credentialsRefused(snapshot: Snapshot, subject: string, result: Failed): Problem {
  const reason = withoutFullStop(reasonOf(result))
  if (unsigned.has(result.failure ?? ''))
    return { code: 'TOKEN_REFUSED', subject, describe: () => describeToken(snapshot, subject, reason) }
  const describe = () =>
    result.failure === 'TIMESTAMP_OUTSIDE'
      ? describeClock(subject, reason)
      : describeSignature(snapshot, subject, reason)
  return { code: 'SIGNATURE_REFUSED', subject, describe }
}

function bodyRefused(
  { isInternal, isAuthenticated }: RequestFacts,
  subject: string,
  result: Failed,
): Problem | undefined {
  if (!ofBodies.has(result.code) || !isAuthenticated || isInternal) return undefined
  const describe = () => ({
    cause: `Requests to /${subject} are refused with ${result.code}: ${withoutFullStop(reasonOf(result))}.`,
    label:
      result.code === 'BODY_TOO_LARGE'
        ? `Raise \`maxBodyBytes\` of /${subject}, or have the sender send less`
        : 'Set the sender to JSON or a form',
    command: `reveille requests${endpointOption(subject)} --outcome refused`,
  })
  return { code: 'BODY_REFUSED', subject, describe }
}

function transformFailing(
  { requestId, endpoint = '', live: { snapshot } }: RequestFacts,
  result: Failed,
): Problem | undefined {
  const subject = result.mapping ?? configuredName(snapshot, endpoint)
  if (!ofTransforms.has(result.code) || subject === undefined) return undefined
  const filter = { outcome: 'failed', code: result.code, endpoint }
  const describe = () => ({
    cause: `Requests to /${endpoint} end with ${result.code}: ${withoutFullStop(reasonOf(result))}.`,
    label: 'Fix the transform, try it with this request, then replay those that failed',
    command: `reveille try ${requestId}`,
    action: { method: 'POST', path: '/api/requests/replay', body: { filter } } as const,
  })
  return { code: 'TRANSFORM_FAILING', subject, describe }
}

/** Requests that a mapping makes the same by a key of its own are meant to be, and are no sender's repetitions. */
function duplicates(
  { deliveryId }: RequestFacts,
  subject: string,
  result: Extract<RequestOutcome, { outcome: 'duplicate'; actions: unknown }>,
  hour: Hour,
): Problem | undefined {
  const isSenders = result.actions.some(({ action: { dedupe } }) =>
    deliveryId === undefined ? dedupe?.isGiven : dedupe?.isGiven || dedupe?.key.includes(deliveryId),
  )
  if (!isSenders) return undefined
  hour.repeated += 1
  const { repeated, requests, errors, slowestMs } = hour
  if (repeated < minRepeated || repeated < requests * repeatedShare) return undefined
  const describe = () => ({
    cause: `The sender to /${subject} repeats deliveries (${repeated} of ${requests} requests within an hour)${whyRepeated(errors, slowestMs)}`,
    label:
      errors > 0
        ? 'See which requests failed, and fix that'
        : 'See which requests were repeated, and what the sender reports about its deliveries',
    command: `reveille requests${endpointOption(subject)} --outcome ${errors > 0 ? 'failed' : 'duplicate'}`,
  })
  return { code: 'DUPLICATES', subject, describe }
}

function loop(context: RequestFacts, subject: string, hour: Hour): Problem | undefined {
  const isOfRun = context.headers[runHeader] !== undefined
  hour.echoes += 1
  const { echoes } = hour
  const { bots } = context.live.snapshot.effectivePolicyOf(context.endpoint ?? '') ?? {}
  // Where the policy names the bots, their echoes are expected.
  if (!isOfRun && (bots !== undefined || echoes < minEchoes)) return undefined
  const describe = () => ({
    ...(isOfRun
      ? {
          cause: `A run of this gateway posts to /${subject}, and its requests are ignored so that no loop begins.`,
          label: 'See which requests these are, and have the program of the run post elsewhere',
        }
      : {
          cause: `What this gateway delivers comes back to /${subject} (${echoes} times within an hour), and is ignored so that no loop begins.`,
          label: `Name the bot in endpoints.${subject}.bots, to ignore what it writes`,
        }),
    command: `reveille explain ${context.requestId}`,
  })
  return { code: 'LOOP', subject: `/${subject}`, describe }
}

function newHour(beganAt: number): Hour {
  return { beganAt, requests: 0, repeated: 0, echoes: 0, errors: 0, slowestMs: 0 }
}

function whyRepeated(errors: number, slowestMs: number): string {
  if (errors > 0) return `: ${errors} were answered with an error of the server.`
  if (slowestMs >= slowMs) return `: answers took up to ${(slowestMs / 1000).toFixed(1)} s.`
  return ', although they were answered at once and without an error.'
}

function describeSignature({ policyOf }: Snapshot, name: string, reason: string) {
  const { verify } = policyOf(name) ?? {}
  const { provider = 'the sender' } = verify ?? {}
  const header = verify?.hmac?.header ?? headerOf(provider)
  const shown = header === undefined ? provider : `${provider}, header ${header}`
  return {
    cause: `Requests to /${name} are refused (${shown}): ${reason}.`,
    label: 'Save one of these requests as the sender shows it, and find out what differs',
    command: `reveille doctor signature --endpoint ${name} --request sent.http`,
  }
}

/** The signature is right, so that the secret is, too. */
function describeClock(name: string, reason: string) {
  return {
    cause: `Requests to /${name} are refused: ${reason}.`,
    label:
      'Compare this clock with the right time (`timedatectl` says whether it is synchronised); if it is right, the sender repeats old deliveries',
    command: 'date -u',
  }
}

function headerOf(provider: string): string | undefined {
  for (const scheme of providerRow(provider)?.schemes ?? []) {
    if (scheme.family === 'token') return scheme.header
    if ('signature' in scheme && 'headers' in scheme.signature) return scheme.signature.headers[0]
  }
  return undefined
}

function describeToken({ effectivePolicyOf }: Snapshot, name: string, reason: string) {
  const { verify } = effectivePolicyOf(name) ?? {}
  const isUnset = verify !== undefined && verify.value.verifier === undefined && verify.value.name !== ''
  return {
    cause: `Requests to /${name} are refused: ${reason}${isUnset ? `, and /${name} takes a token because it has no secret of ${verify.value.name}` : ''}.`,
    ...(isUnset
      ? {
          label: `Set endpoints.${verify.policy}.verify.secret to the secret that ${verify.value.name} signs with`,
          command: 'reveille doctor',
        }
      : {
          label: 'See who sends these, and give the sender the token as "Authorization: Bearer"',
          command: `reveille requests${endpointOption(name)} --outcome refused`,
        }),
  }
}
