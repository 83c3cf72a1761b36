/**
 * Owns the ladder: the order in which a request is checked, each rung with its exit. What a rung below lets
 * pass, no rung above checks again; nothing above `readBody` runs for a stranger.
 */

import type { Action, HookRequest, Refusal, Snapshot, Timers } from '@reveille/engine'
import type { MintId } from '../store/id.ts'
import type { Id, Store } from '../store/port.ts'
import { firstRunOf } from '../store/tasks.ts'
import type { Door, Entrance, FoundToken } from './auth/doors.ts'
import { type Handshakes, payloadIn } from './auth/handshakes.ts'
import { isOfThisMachine } from './auth/local.ts'
import { presentedToken, withoutToken, withoutTokens } from './auth/presented-token.ts'
import { type Proof, proofIn } from './auth/proof.ts'
import type { SenderWarnings } from './auth/sender-warnings.ts'
import type { VerifySignature } from './auth/signature.ts'
import { isWrongTry } from './auth/trust-failure.ts'
import { overRate, type TurnAway } from './auth/turn-away.ts'
import { digestOfBody } from './body/body-digest.ts'
import { decodeFor, decodeJson, maxBytesFor } from './body/decode.ts'
import { decompress } from './body/decompress.ts'
import { type Fields, parseFields } from './body/fields.ts'
import { readBody } from './body/read-body.ts'
import type { Throttle } from './clients/throttle.ts'
import { composeEntry, endingAs } from './entry.ts'
import { isErrorCode } from './errors.ts'
import { type Accepted, type Ending, type Exchange, refused } from './exchange.ts'
import { type Receive, type Receiver, sourceAway, sourceOf } from './receiving.ts'
import type { OutcomeWaits, Waiting } from './reply/outcome-waits.ts'
import { waitSecondsOf } from './reply/prefer.ts'

export interface LadderOptions {
  readonly store: Store
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Monotonic, in milliseconds. */
  readonly clock: () => number
  readonly timers: Timers
  readonly mintId: MintId
  readonly isDraining: () => boolean
  readonly doorOf: (snapshot: Snapshot) => Door
  /** Whether nobody can reach the gateway but from this machine. */
  readonly isBoundToLoopback: boolean
  readonly throttle: Throttle
  readonly turnAway: TurnAway
  readonly handshakes: Handshakes
  readonly verifySignature: VerifySignature
  readonly warnings: SenderWarnings
  readonly receiverOf: (endpoint: string) => Receiver | undefined
  readonly receive: Receive
  /** Why the request is our own doing, in one sentence; undefined where it is not. */
  readonly loopIn: (request: HookRequest) => string | undefined | Promise<string | undefined>
  /** Whether the main session lives in another system, which hears of every event at once. */
  readonly relaysEvents: () => boolean
  readonly waits: OutcomeWaits
  /** Nothing matched the request; told before it is answered. */
  readonly onIgnored: (id: Id, snapshot: Snapshot, request: HookRequest) => void
}

/** What a request has proven, or that it is one of ours and need not. */
type Passed = Exclude<Proof, { kind: 'none' }> | { readonly kind: 'ours'; readonly token?: never }

/** @throws RequestError, StoreError, UnavailableError, SenderGone; any other error is a fault of ours */
export type Climb = (exchange: Exchange) => Promise<Ending>

export function createLadder(options: LadderOptions): Climb {
  const { store, now, mintId, timers, throttle, turnAway, handshakes, warnings } = options

  return async function climb(exchange) {
    const { incoming, outgoing, endpoint, isOurs } = exchange
    const { headers } = incoming
    const { snapshot } = exchange.live
    const { hooks, sources } = snapshot.settings

    if (!hooks.enabled) return refused('NOT_FOUND')
    const entrance = options.doorOf(snapshot).entranceOf(endpoint)
    const { rate, verify } = entrance
    const query = parseFields(exchange.query)
    const proof: Passed | Ending = isOurs ? { kind: 'ours' } : await passDoor(exchange, entrance, query)
    if ('outcome' in proof) return proof
    const receiver = endpoint === undefined || isOurs ? undefined : options.receiverOf(endpoint)
    if (endpoint === undefined || !(receiver || snapshot.covers(endpoint))) return refused('NOT_FOUND')
    if (proof.token) warnOfToken(exchange, proof.token)
    const atEndpoint =
      proof.kind === 'signature' ? undefined : await overRate(throttle.takeOfEndpoint(rate), 'endpoint', rate)
    if (atEndpoint) return atEndpoint
    if (options.isDraining()) return refused('DRAINING')
    const { full, fullOfEvents } = store.health()
    if (full || (fullOfEvents && endpoint === 'wake')) return refused('BACKLOG')

    const maxBytes = maxBytesFor(snapshot, endpoint)
    const limits = { maxBytes, timeoutMs: hooks.bodyTimeoutMs, timers }
    const sent = await readBody(incoming, outgoing, limits)
    exchange.body = sent
    if (proof.kind === 'signature' && verify) {
      const refusal =
        (await options.verifySignature(exchange, verify, sent)) ??
        (await overRate(throttle.takeOfEndpoint(rate), 'endpoint', rate))
      if (refusal) return refusal
    }
    const encoding = headers['content-encoding']
    const body = encoding === undefined ? sent : await decompress(sent, encoding, maxBytes)
    exchange.body = body
    exchange.timings.read = elapsed(exchange)

    const decoding = receiver ? decodeJson(body) : decodeFor(endpoint, body, headers['content-type'])
    if (verify?.value.handshakes && !isOurs) {
      const payload = await payloadIn(body, decoding)
      const received = { query, payload, isTrusted: proof.kind !== 'open' }
      const ending = await handshakes.ofSender(exchange, entrance, received)
      if (ending) return ending
    }
    if (receiver) return options.receive(exchange, receiver, (await decoding).payload)
    const request: HookRequest = {
      endpoint,
      headers: withoutTokens(headers, verify?.value.tokenHeaders ?? []),
      query: hooks.allowQueryToken ? withoutToken(query) : query,
      ...(await decoding),
      rawBody: body,
      now: exchange.receivedAt,
      id: exchange.requestId,
    }
    const found = options.loopIn(request)
    const loop = found instanceof Promise ? await found : found
    if (loop !== undefined) return { outcome: 'ignored', reason: loop }
    const decided = snapshot.resolve(request)
    const decision = decided instanceof Promise ? await decided : decided
    exchange.timings.resolve = elapsed(exchange)
    if ('code' in decision) return refusedBy(decision)
    const source = decision.outcome === 'ignored' && !isOurs ? sourceOf(endpoint, sources) : undefined
    if (source !== undefined) return sourceAway(source)
    if (decision.outcome === 'ignored') options.onIgnored(exchange.requestId, snapshot, request)
    if (decision.outcome !== 'accepted') return decision

    const placed = decision.actions.map((action) => ({ id: idOf(action) ?? mintId(), action }))
    if (decision.warnings) warnings.ofUnknownFields(exchange, decision.warnings)
    const ending: Accepted = {
      outcome: 'accepted',
      placed,
      mapping: decision.mapping,
      ...(decision.warnings && { warnings: decision.warnings }),
      ...(decision.reply && { reply: decision.reply }),
    }
    if (decision.actions.some(({ dedupe }) => dedupe?.isGiven)) exchange.bodyDigest = await digestOfBody(body)
    return accept(exchange, ending)
  }

  /** What a sender proves before a byte of its body is read, or how its request ends here. */
  async function passDoor(
    exchange: Exchange,
    entrance: Entrance,
    query: Readonly<Fields>,
  ): Promise<Passed | Ending> {
    const { incoming, client } = exchange
    const { headers } = incoming
    const { auth, rate, verify } = entrance
    const { hooks } = exchange.live.snapshot.settings
    if (incoming.method !== 'POST') return handshakes.ofMethod(exchange, entrance)
    const fromClient = await overRate(throttle.takeOfClient(client, rate), 'client', rate)
    if (fromClient) return fromClient

    const taken = auth === 'both' ? verify?.value.tokenHeaders : undefined
    const given = presentedToken(headers, query, hooks.allowQueryToken, taken)
    exchange.deprecated = given?.deprecated === true && auth !== 'signature'
    const isLocal = () => options.isBoundToLoopback && isOfThisMachine(incoming, client)
    const proof = proofIn(entrance, headers, given, isLocal)
    if (proof.kind === 'none') {
      const refusal = await turnAway(exchange, proof)
      // Whoever guesses, or has guessed too often, is not listened to.
      const isHeard = refusal.code === 'UNAUTHORIZED' && !isWrongTry(proof)
      return isHeard ? handshakes.ofStranger(exchange, entrance, query, refusal) : refusal
    }
    if (proof.kind === 'token') throttle.right(client)
    return proof
  }

  /** @throws StoreError */
  async function accept(exchange: Exchange, ending: Accepted): Promise<Ending> {
    const waiting = beginWaiting(exchange, ending)
    const accepting = store.accept(composeEntry(exchange, ending, now(), options.relaysEvents))
    if (waiting) accepting.catch(waiting.cut)
    const kept = endingAs(await accepting, ending)
    if (waiting === undefined || kept.outcome === 'accepted') return waiting ? { ...kept, waiting } : kept
    waiting.cut()
    const [first] = 'placed' in kept ? kept.placed : []
    // What it repeats may be over by now, or have been for days.
    return first
      ? { ...kept, waiting: options.waits.join(first.id, waiting.seconds, exchange.outgoing) }
      : kept
  }

  function warnOfToken(exchange: Exchange, { list, index }: FoundToken): void {
    if (exchange.deprecated) warnings.ofQueryToken(exchange)
    if (index > 0) warnings.ofOldToken(exchange, list, index)
  }

  /** Before the commit, after which the run may be over at any moment. */
  function beginWaiting(
    { endpoint, incoming, outgoing }: Exchange,
    { placed: [first] }: Accepted,
  ): Waiting | undefined {
    const { prefer } = incoming.headers
    if (prefer === undefined || endpoint !== 'agent' || first === undefined) return undefined
    const seconds = waitSecondsOf(prefer)
    return seconds === undefined ? undefined : options.waits.begin(first.id, seconds, outgoing)
  }

  function elapsed({ startedAt }: Exchange): number {
    return hundredths(options.clock() - startedAt)
  }
}

/** A session that nobody named carries the id of its first run, so that the next one can be told to wait for it. */
function idOf(action: Action): string | undefined {
  return action.kind === 'agent' && !action.sessionKeyGiven ? firstRunOf(action.sessionKey) : undefined
}

export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}

function refusedBy({ outcome, code, status, message, details, mapping, told, cause }: Refusal): Ending {
  if (!isErrorCode(code)) {
    const fault = new Error('The engine refused with a code that the table of errors lacks.', { cause })
    return { outcome: 'failed', code: 'INTERNAL', mapping, told, fault }
  }
  const refusal = { outcome, code, sentence: message, details, mapping, told }
  // The author's word about what a trusted sender sent: it is kept with its body, unlike what a stranger is refused.
  if (code === 'TRANSFORM_REFUSED') return { ...refusal, ...(status && { status }), outcome: 'failed' }
  return outcome === 'failed' ? { ...refusal, fault: cause } : refusal
}
