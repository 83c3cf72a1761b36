/** Words the pretty lines of the log: a label, a text and an aside for each event. */

import { printable as text } from './printable.ts'

export type Facts = Record<string, unknown>

/** The label (by default the level), what happened, and details in small print. */
export type Line = readonly [label: string | undefined, text: string, aside?: string]

/**
 * The lines of what a person at a terminal follows, by event name; any other event is shown by its message and facts. In a text, `{name}` is a phrase below or a fact, `{name:form}` is the fact in that form, and a form may
 * take an argument: `{lines:count log line}`.
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
    'broken since before the start: {files:list}',
    'served as generation {generation} had it; fix it, and it goes live by itself',
  ],
  'hooks-off': ['warning', 'hooks are off: every request to {path} is answered 404', '{hint}'],
  'tunnel-open': ['tunnel', 'hooks can be reached from the internet at {address}'],
  'gateway-draining': ['draining', 'running turns have {graceMs:seconds} to end'],
  'store-unavailable': ['failed', 'the store cannot write: {reason}', 'requests are answered 503'],
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
  'request-failed': ['failed', '/{endpoint}{matched}  {status} {code}  {reason}', 'request {requestId:id}'],
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
  'run-succeeded': ['ran', '{sessionKey}  {runner}', '{ms:took}  run {runId:id}'],
  'run-failed': ['run failed', '{sessionKey}  {code}  {reason}', 'run {runId:id}'],
  'run-timed-out': ['timed out', '{sessionKey}  {reason}', 'run {runId:id}'],
  'run-retried': ['retry', '{sessionKey}  {code}  {reason}', 'in {inMs:seconds}  run {runId:id}'],
  'run-cancelled': ['cancelled', '{sessionKey}  {reason}', 'run {runId:id}'],
  'run-parked': ['run parked', '{sessionKey}  {code}  {reason}', 'run {runId:id}'],
  'runner-held': [
    'held',
    'no run of {runner} is performed  {code}  {reason}',
    'one is tried in {inMs:long}, the others follow it',
  ],
  'runner-opened': ['open', '{runner} answers again', 'after {heldMs:long}'],
  'summary-posted': ['summary', 'posted to the main session', 'event {eventId:id}'],
  'heartbeat-succeeded': ['heartbeat', 'main saw {events:count event}{waiting}', '{ms:took}  run {runId:id}'],
  'heartbeat-failed': ['heartbeat', 'failed  {code}  {reason}', 'again in {inMs:seconds}  run {runId:id}'],
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
  'restart-required': ['restart', '{keys:list} changed; a restart will apply it'],
  'delivery-delivered': ['delivered', '{recipient}', '{ms:took}  delivery {deliveryId:id}'],
  'delivery-skipped': ['not sent', '{reason}', 'delivery {deliveryId:id}'],
  'delivery-parked': ['parked', '{recipient}  {code}  {reason}', 'delivery {deliveryId:id}'],
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

/** Phrases for several facts, or for a fact that may be absent. */
const phrases: Record<string, ((facts: Facts) => string) | undefined> = {
  matched: ({ mapping }) => (mapping ? ` matched ${text(mapping)}` : ''),
  changes: ({ changes }) => (changes ? `: ${text(changes)}` : ''),
  waiting: ({ waiting }) => (waiting ? `, ${text(waiting)} waiting` : ''),
  recipient: ({ channel, to }) => `${text(channel)}${to ? `:${text(to)}` : ''}`,
  actions: ({ actions }) =>
    Array.isArray(actions) && actions.length > 0 ? `  ${actions.map(action).join(', ')}` : '',
  /** Shows the reason in the place of `UNAUTHORIZED`, and beside any other code. */
  refusal({ code, failure }) {
    if (failure === undefined) return text(code)
    return code === 'TOO_MANY_TRIES' ? `${text(code)}, ${text(failure)}` : text(failure)
  },
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
  list: (given) => [given].flat().map(text).join(', '),
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
