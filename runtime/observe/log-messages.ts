/** Words the pretty lines of the log: a label, a text and an aside for each event. */

import { asRecord } from '@reveille/kit'
import { printable as text } from './printable.ts'

export type Facts = Record<string, unknown>

/** The label (by default the level), what happened, and details in small print. */
export type Line = readonly [label: string | undefined, text: string, aside?: string]

/**
 * The lines by event name. In a text, `{name}` is a phrase below or a fact, `{name:form}` is the fact in that form, and a form may
 * take an argument: `{lines:count log line}`. An event that is not listed is shown by its message and facts.
 */
export const logMessages: Record<string, Line | ((facts: Facts) => Line) | undefined> = {
  __proto__: null as never,
  'gateway-listening': ({ admin }) => [
    'listening',
    '{address}',
    admin === false ? 'no admin surface: gateway.auth.token is not set' : '',
  ],
  'last-good-served': [
    'LAST GOOD',
    'broken since before the start: {files:list ,}',
    'served as generation {generation} had it; fix it, and it goes live by itself',
  ],
  'hooks-off': ['warning', 'hooks are off: every request to {path} is answered 404', '{hint}'],
  'tunnel-listening': ['listening', '{address} for a tunnel, which reaches hooks and nothing else'],
  'tunnel-open': ['tunnel', 'hooks can be reached from the internet at {address}'],
  'tunnel-ended': ['failed', 'the tunnel ended: {reason}', 'it is started again in {againInMs:took}'],
  'gateway-draining': ['draining', 'running turns have {graceMs:seconds} to end'],
  'store-unavailable': ['failed', 'the store cannot write: {reason}', 'requests are answered 503'],
  'store-available': ['healed', 'the store can write again'],
  'node-taken-over': [
    'took over',
    'from {node}, which is dead',
    '{tasks:count task} of it go on here or elsewhere',
  ],
  'node-expired': [
    'lost',
    'the other nodes took this one for dead, and have its {tasks:count task}',
    'it goes on as a new one',
  ],
  'store-stopped': ['failed', 'the store stopped, so the gateway does: start it again'],
  'log-lines-dropped': ['warning', '{lines:count log line} dropped, as nothing took them'],
  'gateway-stopped': ['stopped', 'what was accepted is kept for the next start'],
  // The engine has laid out the lines of a diagnostic; only what could steer the terminal is removed.
  diagnostic: ['', '{msg:lines}'],
  'request-accepted': ['accepted', '/{endpoint}{matched}{actions}', '{ms:took}  request {requestId:id}'],
  'request-ignored': ['ignored', '/{endpoint}  {reason}', 'request {requestId:id}'],
  'request-duplicate': ({ code }) => [
    'duplicate',
    code === undefined ? '/{endpoint}{matched}{actions}' : '/{endpoint}{matched}  {status} {code}  {reason}',
    'request {requestId:id}',
  ],
  'request-skipped': ['skipped', '/{endpoint}{matched}  {reason}', 'request {requestId:id}'],
  'request-handshake': ['handshake', '/{endpoint}  {reason}', '{status}  request {requestId:id}'],
  // The client is shown where a sender is not authenticated or sends too often.
  'request-refused': ({ failure, status }) => [
    'refused',
    '/{endpoint}  {status} {refusal}  {reason}',
    `${failure === undefined && status !== 429 ? '' : 'from {client}  '}request {requestId:id}`,
  ],
  'requests-suppressed': [
    'refused',
    '{count:count more request} within a minute, not listed one by one{reasons}',
    'from {clients:count client}  reveille requests sums them up',
  ],
  'request-failed': ['failed', '/{endpoint}{matched}  {status} {code}  {reason}', 'request {requestId:id}'],
  'reply-failed': ['failed', 'the reply could not be sent', 'request {requestId:id}'],
  'query-token-used': ['deprecated', '/{endpoint} took its token from the address', '{hint}'],
  'unknown-fields': [
    'warning',
    '/{endpoint} was sent {fields:count field} without effect: {problems:list ;}',
    'from {client}  request {requestId:id}',
  ],
  'old-token-used': ['old token', '/{endpoint} took token {position} of {list}', 'from {client}  {hint}'],
  'old-secret-used': [
    'old secret',
    '/{endpoint} was signed with secret {position} of {list}',
    'from {client}  {hint}',
  ],
  'subscription-confirmed': ['confirmed', '/{endpoint} is subscribed at {host}'],
  'subscription-not-confirmed': [
    'warning',
    '/{endpoint} is not subscribed  {reason}',
    'ask its provider for the confirmation again',
  ],
  'secret-stored': [
    'secret',
    '/{endpoint} was sent a {name} by {client}',
    'if you asked for it just now, make it the secret: "${file:{file}}"',
  ],
  'secret-replaced': [
    'warning',
    '/{endpoint} was sent another {name}, by {client}: anybody can send one until a secret is set',
    'if you asked for it just now, compare it with the first, {first}, and with what the provider shows; the last is "${file:{file}}"',
  ],
  'secret-not-stored': [
    'warning',
    '/{endpoint} was sent a {name} that could not be kept',
    'ask its provider to send it again',
  ],
  'request-body-read': ['body', 'read as it came, by {by}', '{bytes:count byte}  request {requestId:id}'],
  'request-replay-asked': ['replay', '{outcome}  asked by {by}', 'request {requestId:id} of {replayOf:id}'],
  'requests-forgotten': ['forgotten', '{count:count request}, asked by {by}'],
  'replay-job-begun': ['replay', '{total:count request}, asked by {by}', 'job {jobId:id}'],
  'replay-job-ended': [
    'replay',
    '{total:count request}: {done} replayed, {failed} failed again, {skipped} skipped',
    'job {jobId:id}',
  ],
  'replay-job-cancelled': ['replay', 'cancelled by {by}', 'job {jobId:id}'],
  'api-failed': ['api failed', '{code}', 'request {requestId:id}'],
  'run-succeeded': ['ran', '{sessionKey}  {runner}', '{ms:took}  run {runId:id}'],
  'run-failed': ['run failed', '{sessionKey}  {code}  {reason}', 'run {runId:id}'],
  'run-timed-out': ['timed out', '{sessionKey}  {reason}', 'run {runId:id}'],
  'run-retried': ['retry', '{sessionKey}  {code}  {reason}', 'in {inMs:seconds}  run {runId:id}'],
  'run-cancelled': ['cancelled', '{sessionKey}  {reason}', 'run {runId:id}'],
  'run-parked': ['run parked', '{sessionKey}  {code}  {reason}', 'run {runId:id}'],
  'run-cancel-asked': ['cancel', 'asked by {by}', 'run {runId:id}'],
  'run-resume-asked': ['resume', 'asked by {by}', 'run {runId:id}'],
  'run-retry-asked': ['retry', 'asked by {by}', 'run {runId:id}'],
  'run-held': ['held', '{sessionKey}  {code}  {reason}', 'run {runId:id}'],
  'runner-held': [
    'held',
    'no run of {runner} is performed  {code}  {reason}',
    'one is tried in {inMs:long}, the others follow it',
  ],
  'runner-opened': ['open', '{runner} answers again', 'after {heldMs:long}'],
  'run-interrupted': ['paused', '{sessionKey}  will be taken up again', 'run {runId:id}'],
  'summary-posted': ['summary', 'posted to the main session', 'event {eventId:id}'],
  'heartbeat-succeeded': ['heartbeat', 'main saw {events:count event}{waiting}', '{ms:took}  run {runId:id}'],
  'heartbeat-failed': ['heartbeat', 'failed  {code}  {reason}', 'again in {inMs:seconds}  run {runId:id}'],
  'heartbeat-cancelled': ['heartbeat', 'cancelled', 'run {runId:id}'],
  'heartbeat-postponed': ['heartbeat', 'waits: {reason}', 'again in {inMs:long}'],
  'session-compacted': [
    'compacted',
    '{sessionKey}  {turns:count turn} became a summary',
    '{ms:took}  run {runId:id}',
  ],
  'session-not-compacted': [
    'warning',
    '{sessionKey} could not be summarised, its oldest turns are left out  {code}  {reason}',
    'run {runId:id}',
  ],
  'budget-alarm': ['budget', '{percent} % of {key} is spent: {spent}', 'for {day} (UTC)'],
  'model-refused': ['warning', 'the runner {runner} does not take {model}, which is allowed  {reason}'],
  'snapshot-swapped': ({ rolledBack }) => [
    rolledBack ? 'rollback' : 'live',
    `generation {generation}${rolledBack ? ' serves again until the files change' : ''}, {mappings:count mapping}{changes}`,
    '{tookMs:took}  {digest:short}',
  ],
  'candidate-rejected': ({ rollbackTo, isAgain }) => [
    'rejected',
    `${rollbackTo === undefined ? 'the change' : 'generation {rollbackTo}'} ${isAgain ? 'still has {errors:count error}, as above' : 'has {errors:count error}'}; the live generation is unchanged`,
    '{tookMs:took}',
  ],
  'files-fixed': ['fixed', 'the files have no error any more; generation {generation} stays live'],
  // The output of a module is shown as it was printed.
  'transform-output': ({ requestId }) => [
    undefined,
    '{module}  {msg}',
    requestId === undefined ? '' : 'request {requestId:id}',
  ],
  'reload-asked': ({ outcome }) => [
    'reload',
    `{by}: ${reloadAnswers[String(outcome)] ?? 'refused, generation {generation} stays live'}`,
  ],
  'generations-damaged': ['damaged', 'of the generations that are kept: {found:list ;}'],
  'generations-not-kept': [
    'not kept',
    'generations cannot be written to the disk; the live generation is unchanged, and is tried again',
  ],
  'restart-required': ['restart', '{keys:list ,} changed; a restart will apply it'],
  'delivery-delivered': ['delivered', '{recipient}', '{ms:took}  delivery {deliveryId:id}'],
  'delivery-skipped': ['not sent', '{reason}', 'delivery {deliveryId:id}'],
  'delivery-parked': ['parked', '{recipient}  {code}  {reason}', 'delivery {deliveryId:id}'],
  'delivery-send-asked': ['send', '{recipient}  asked by {by}', 'delivery {deliveryId:id}'],
  'delivery-replay-asked': ['replay', '{recipient}  asked by {by}', 'delivery {deliveryId:id}'],
  'route-assumed': ['route', 'none is set, so replies to `last` go to {recipient}'],
  'token-guessing': [
    'guessing',
    '{client} guesses the gateway token',
    'it has to wait now; block it at your proxy or firewall',
  ],
  'admin-action': ['admin', '{action} by {by}', '{status}'],
  'route-set': ['route', '{recipient}, set by {by}'],
  'delivery-retried': [
    'retry',
    '{recipient}  {code}  {reason}',
    'in {inMs:seconds}  delivery {deliveryId:id}',
  ],
  'channel-held': [
    'held',
    '{channel} sends nothing  {code}  {reason}',
    'one delivery is tried in {inMs:long}, the others follow it',
  ],
  'channel-opened': ['open', '{channel} sends again', 'after {heldMs:long}'],
  'channel-checked': ['channel', '{channel} is good', '{detail}'],
  'channel-check-failed': ['warning', '{channel} is not good  {reason}'],
  'source-started': ['source', '{source} begins'],
  'source-working': ['source', '{source}  {detail}', '{times}'],
  'source-failing': ['failing', '{source}  {detail}'],
  'source-waiting': ['waiting', '{source}  {detail}'],
  'source-held-elsewhere': ['held', '{source}  {detail}'],
  'source-stopped': ['source', '{source} has ended'],
  'caught-up': [
    'caught up',
    '{source}  {caughtUp} that could not be delivered were taken, {known} were known',
  ],
  'source-abandoned': ['warning', '{source} did not end within {afterMs:seconds}, and is left alone'],
}

/** The line of an event, or undefined if the event is not listed. */
export function lineOf(facts: Facts): Line | undefined {
  const message = logMessages[String(facts['event'])]
  if (message === undefined) return undefined
  const [label, what, aside = ''] = typeof message === 'function' ? message(facts) : message
  return [label, filled(what, facts), filled(aside, facts)]
}

function filled(template: string, facts: Facts): string {
  return template.replaceAll(
    /\{(\w+)(?::(\w+) ?([^{}]*))?\}/g,
    (_all, name, form = 'text', argument = '') => {
      const phrase = phrases[name]
      return phrase === undefined ? (forms[form]?.(facts[name], argument) ?? '') : phrase(facts)
    },
  )
}

const reloadAnswers: Record<string, string | undefined> = {
  live: 'generation {generation} is live',
  unchanged: 'nothing to change, generation {generation} stays live',
}

/** Phrases for several facts, or for a fact that may be absent. */
const phrases: Record<string, ((facts: Facts) => string) | undefined> = {
  matched: ({ mapping }) => (mapping ? ` matched ${text(mapping)}` : ''),
  changes: ({ changes }) => (changes ? `: ${text(changes)}` : ''),
  waiting: ({ waiting }) => (waiting ? `, ${text(waiting)} waiting` : ''),
  recipient: ({ channel, to }) => `${text(channel)}${to ? `:${text(to)}` : ''}`,
  actions: ({ actions }) =>
    Array.isArray(actions) && actions.length > 0 ? `  ${actions.map(action).join(', ')}` : '',
  /** `watchEnds 2026-01-31T12:00:00.000Z`. */
  times: ({ times }) =>
    pairs(times)
      .map(([name, at]) => `${text(name)} ${text(at)}`)
      .join('  '),
  /** The most frequent ones first. */
  reasons({ reasons }) {
    const sorted = pairs(reasons).sort(([, a], [, b]) => Number(b) - Number(a))
    return sorted.length === 0
      ? ''
      : `: ${sorted.map(([code, times]) => `${text(times)} ${text(code)}`).join(', ')}`
  },
  /** Shows the reason in the place of `UNAUTHORIZED`, and beside any other code. */
  refusal({ code, failure }) {
    if (failure === undefined) return text(code)
    return code === 'TOO_MANY_TRIES' ? `${text(code)}, ${text(failure)}` : text(failure)
  },
}

function pairs(facts: unknown): [string, unknown][] {
  return Object.entries(asRecord(facts) ?? {})
}

/** An action with its disposition, if it is no run of its own. */
function action({ kind, id: of, became, request }: Facts): string {
  const duplicate = ` (came before, in request ${id(request)})`
  const disposition = { joined: ' (joined)', busy: ' (busy: cancelled)', duplicate }[String(became)] ?? ''
  return `${text(kind)} ${id(of)}${disposition}`
}

/** The ways to write one fact. */
const forms: Record<string, ((fact: unknown, argument: string) => string) | undefined> = {
  text,
  id,
  took,
  seconds,
  short: (digest) => text(digest).slice(0, 12),
  lines: (given) => String(given).split('\n').map(text).join('\n'),
  /** A list, or one text. The argument separates its parts. */
  list: (given, separator) => [given].flat().map(text).join(`${separator} `),
  /** A number, or the length of a list. The argument is a noun. */
  count(given, noun) {
    const number = Array.isArray(given) ? given.length : Number(given ?? 0)
    return `${number} ${noun}${number === 1 ? '' : 's'}`
  },
  /** A long duration in minutes or hours. */
  long(ms) {
    const minutes = Math.round(Number(ms) / 60_000)
    if (minutes < 2) return seconds(ms)
    return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  },
}

/** The end of a UUIDv7 is random and enough to recognise it; its start is the time, which the line has already. */
function id(value: unknown): string {
  return text(value).slice(-6)
}

/** A duration with the precision of its measurement: turns and deliveries are timed in whole milliseconds. */
function took(value: unknown): string {
  if (value === undefined) return ''
  const ms = Number(value)
  if (ms >= 1000) return seconds(ms)
  return `${ms < 10 && !Number.isInteger(ms) ? ms.toFixed(1) : Math.round(ms)} ms`
}

function seconds(value: unknown): string {
  const number = Number(value) / 1000
  return `${number < 10 ? number.toFixed(1) : Math.round(number)} s`
}
