/** Follows the requests of each endpoint: when it was last seen, and which problems its requests show. */

import { providerRow, type Snapshot } from '@reveille/engine'
import { runHeader } from '../guard/index.ts'
import {
  isRefusedByConfiguration,
  type RequestFacts,
  type RequestOutcome,
  reasonOf,
  statusOfOutcome,
} from '../http/index.ts'
import { onceForEach } from '../once-for-each.ts'
import { configuredName, endpointOption, isConfiguredName } from './configured-names.ts'
import { type Ledger, withoutStop } from './ledger.ts'

/** What is known of one endpoint, or of all that a pattern covers. Names that a sender made up share one of these. */
interface Endpoint {
  /** Milliseconds since the Unix epoch. */
  seenAt: number
  hour: Hour
}

/** What came within an hour, by which it is judged whether a sender repeats itself, and why. */
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
/** So many repeated deliveries in an hour are no accident, if they are also a tenth of all. */
const minRepeated = 3
const repeatedShare = 0.1
const minEchoes = 3
/** The fastest senders wait three seconds for an answer. Milliseconds. */
const slowMs = 2500
/** The name of the endpoints that only a catch-all covers. */
const elsewhere = ''

/** Refusals that any stranger gets. They say nothing about the sender that the endpoint is for. */
const ofStrangers: ReadonlySet<string> = new Set([
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'UNAUTHORIZED',
  'TOO_MANY_TRIES',
  'RATE_LIMITED',
])
/** Why a sender without a signature was refused. */
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

  function endpointOf(name: string, at: number): Endpoint {
    const known = endpoints.get(name)
    if (known !== undefined) return known
    const created = { seenAt: at, hour: newHour(at) }
    endpoints.set(name, created)
    return created
  }

  /** Once for each request, after its reply. `ms` is the time until then. */
  function concluded(context: RequestFacts, result: RequestOutcome, ms: number): void {
    const { outcome } = result
    if (outcome === 'handshake') return
    const { snapshot } = context.live
    const name = configuredName(snapshot, context.endpoint) ?? elsewhere
    if ('code' in result && (ofStrangers.has(result.code) || result.failure !== undefined)) {
      if (result.failure !== undefined && name !== elsewhere) noteRefused(context, name, result)
      return
    }
    judgeMapping(context, result)
    // A replay shows what a mapping does, and nothing of its sender.
    if (context.replay === undefined) judgeSender(context, name, result, ms)
  }

  function judgeMapping(context: RequestFacts, result: RequestOutcome): void {
    if ('code' in result) {
      if (ofTransforms.has(result.code)) noteTransform(context, result)
    } else if (result.outcome === 'accepted') {
      for (const { action } of result.actions) if (action.mapping !== undefined) matched(action.mapping)
    } else if (result.outcome === 'skipped' && result.mapping !== undefined) matched(result.mapping)
  }

  function judgeSender(context: RequestFacts, name: string, result: RequestOutcome, ms: number): void {
    // Such a refusal may precede the check of the signature.
    if (result.outcome === 'refused' && !isRefusedByConfiguration(result)) {
      noteBody(context, name, result)
      return
    }
    const { snapshot } = context.live
    const at = context.receivedAt
    const endpoint = endpointOf(name, at)
    endpoint.seenAt = at
    if (at - endpoint.hour.beganAt >= hourMs) endHour(name, endpoint, at)
    const { hour } = endpoint
    hour.requests += 1
    if (ms > hour.slowestMs) hour.slowestMs = ms
    if (expectsAny(snapshot)) noteExpected(context, at)
    if (ledger.hasOpen() && !context.isInternal) {
      ledger.resolve('SIGNATURE_REFUSED', name)
      ledger.resolve('TOKEN_REFUSED', name)
      ledger.resolve('BODY_REFUSED', name)
    }
    if ('code' in result) {
      if (statusOfOutcome(result) >= 500) hour.errors += 1
    } else if (name === elsewhere) return
    else if (result.outcome === 'duplicate') noteRepeated(context, name, result, hour)
    else if ('isLoop' in result && result.isLoop) noteLoop(context, name, hour)
  }

  function matched(mapping: string): void {
    if (ledger.hasOpen()) ledger.resolve('TRANSFORM_FAILING', mapping)
  }

  function noteExpected({ live: { snapshot }, endpoint = '' }: RequestFacts, at: number): void {
    const expected = snapshot.effectivePolicyOf(endpoint)?.expectEvery
    if (expected !== undefined) onExpected(expected.policy, at)
  }

  function endHour(name: string, endpoint: Endpoint, at: number): void {
    if (endpoint.hour.repeated < minRepeated) ledger.resolve('DUPLICATES', name)
    if (endpoint.hour.echoes === 0) ledger.resolve('LOOP', `/${name}`)
    endpoint.hour = newHour(at)
  }

  function noteRefused(
    { live: { snapshot } }: RequestFacts,
    subject: string,
    result: Extract<RequestOutcome, { code: string }>,
  ): void {
    const code = unsigned.has(result.failure ?? '') ? 'TOKEN_REFUSED' : 'SIGNATURE_REFUSED'
    const describe = code === 'TOKEN_REFUSED' ? describeToken : describeSignature
    const reason = withoutStop(reasonOf(result))
    ledger.note({
      code,
      subject,
      describe: () =>
        result.failure === 'TIMESTAMP_OUTSIDE'
          ? describeClock(subject, reason)
          : describe(snapshot, subject, reason),
    })
  }

  function noteBody(
    { isInternal, isAuthenticated }: RequestFacts,
    subject: string,
    result: Extract<RequestOutcome, { code: string }>,
  ): void {
    if (!ofBodies.has(result.code) || !isAuthenticated || isInternal || subject === elsewhere) return
    ledger.note({
      code: 'BODY_REFUSED',
      subject,
      describe: () => ({
        cause: `Requests to /${subject} are refused with ${result.code}: ${withoutStop(reasonOf(result))}.`,
        next: {
          label:
            result.code === 'BODY_TOO_LARGE'
              ? `Raise \`maxBodyBytes\` of /${subject}, or let the sender send less`
              : 'Let the sender send JSON, or a form',
          command: `reveille requests${endpointOption(subject)} --outcome refused`,
        },
      }),
    })
  }

  function noteTransform(
    { requestId, endpoint = '', live: { snapshot } }: RequestFacts,
    result: Extract<RequestOutcome, { code: string }>,
  ): void {
    const subject = result.mapping ?? configuredName(snapshot, endpoint)
    if (subject === undefined) return
    ledger.note({
      code: 'TRANSFORM_FAILING',
      subject,
      describe: () => ({
        cause: `Requests to /${endpoint} end with ${result.code}: ${withoutStop(reasonOf(result))}.`,
        next: {
          label: 'Fix the transform, try it with this request, then replay those that failed',
          command: `reveille try ${requestId}`,
          action: {
            method: 'POST',
            path: '/api/requests/replay',
            body: { filter: { outcome: 'failed', code: result.code, endpoint } },
          },
        },
      }),
    })
  }

  /** Requests that a mapping makes the same by a key of its own are meant to be, and are no sender's repetitions. */
  function noteRepeated(
    { deliveryId }: RequestFacts,
    subject: string,
    result: Extract<RequestOutcome, { outcome: 'duplicate'; actions: unknown }>,
    hour: Hour,
  ): void {
    const isSenders = result.actions.some(({ action: { dedupe } }) =>
      deliveryId === undefined ? dedupe?.isGiven : dedupe?.isGiven || dedupe?.key.includes(deliveryId),
    )
    if (!isSenders) return
    hour.repeated += 1
    if (hour.repeated < minRepeated || hour.repeated < hour.requests * repeatedShare) return
    const { repeated, requests, errors, slowestMs } = hour
    ledger.note({
      code: 'DUPLICATES',
      subject,
      describe: () => ({
        cause: `The sender to /${subject} repeats deliveries (${repeated} of ${requests} requests within an hour)${whyRepeated(errors, slowestMs)}`,
        next: {
          label:
            errors > 0
              ? 'See which requests failed, and mend that'
              : 'See which requests were repeated, and what the sender says about its deliveries',
          command: `reveille requests${endpointOption(subject)} --outcome ${errors > 0 ? 'failed' : 'duplicate'}`,
        },
      }),
    })
  }

  function noteLoop(context: RequestFacts, subject: string, hour: Hour): void {
    const isOfRun = context.headers[runHeader] !== undefined
    hour.echoes += 1
    const { bots } = context.live.snapshot.effectivePolicyOf(context.endpoint ?? '') ?? {}
    // Where the policy names the bots, their echoes are expected.
    if (!isOfRun && (bots !== undefined || hour.echoes < minEchoes)) return
    ledger.note({
      code: 'LOOP',
      subject: `/${subject}`,
      describe: () => ({
        cause: isOfRun
          ? `A run of this gateway posts to /${subject}, and its requests are ignored so that no loop begins.`
          : `What this gateway delivers comes back to /${subject} (${hour.echoes} times within an hour), and is ignored so that no loop begins.`,
        next: isOfRun
          ? {
              label: 'See which requests these are, and have the program of the run post elsewhere',
              command: `reveille explain ${context.requestId}`,
            }
          : {
              label: `Name the bot in endpoints.${subject}.bots, so that what it writes starts nothing`,
              command: `reveille explain ${context.requestId}`,
            },
      }),
    })
  }

  return {
    concluded,
    /** When an authenticated request came last. Milliseconds since the Unix epoch. */
    seenAt: (name: string) => endpoints.get(name)?.seenAt || undefined,
    /** Whether the hour is over in which a sender repeated itself. */
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

function newHour(beganAt: number): Hour {
  return { beganAt, requests: 0, repeated: 0, echoes: 0, errors: 0, slowestMs: 0 }
}

const expecting = onceForEach(({ endpoints }: Snapshot) => ({
  any: Object.values(endpoints).some(({ expectEvery }) => expectEvery !== undefined),
}))
function expectsAny(snapshot: Snapshot): boolean {
  return expecting(snapshot).any
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
    next: {
      label: 'Save one of these requests as the sender shows it, and find out what differs',
      command: `reveille doctor signature --endpoint ${name} --request sent.http`,
    },
  }
}

/** The signature is right, so that the secret is, too. */
function describeClock(name: string, reason: string) {
  return {
    cause: `Requests to /${name} are refused: ${reason}.`,
    next: {
      label:
        'Compare this clock with the right time (`timedatectl` says whether it is synchronised); if it is right, the sender repeats old deliveries',
      command: 'date -u',
    },
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
    next: isUnset
      ? {
          label: `Set endpoints.${verify.policy}.verify.secret to the secret that ${verify.value.name} signs with`,
          command: 'reveille doctor',
        }
      : {
          label: 'See who sends these, and give the sender the token as "Authorization: Bearer"',
          command: `reveille requests${endpointOption(name)} --outcome refused`,
        },
  }
}
