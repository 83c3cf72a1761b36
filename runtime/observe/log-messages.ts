/** Words the pretty lines of the log: a label, a text and an aside for each event. */

import { printable as text } from './printable.ts'

export type Facts = Record<string, unknown>

/** The label (by default the level), what happened, and details in small print. */
export type Line = readonly [label: string | undefined, text: string, aside?: string]

/** By event name. An event that is not listed is shown by its message and facts. */
export const logMessages: Record<string, ((facts: Facts) => Line) | undefined> = {
  __proto__: null as never,
  'gateway-listening': (f) => [
    'listening',
    text(f['address']),
    f['admin'] === false ? 'no admin surface: gateway.auth.token is not set' : '',
  ],
  'last-good-served': (f) => [
    'LAST GOOD',
    `broken since before the start: ${[f['files']].flat().map(text).join(', ')}`,
    `served as generation ${text(f['generation'])} had it; mend it, and it goes live by itself`,
  ],
  'hooks-off': (f) => [
    'warning',
    `hooks are off: every request to ${text(f['path'])} is answered 404`,
    text(f['hint']),
  ],
  'gateway-draining': (f) => ['draining', `running turns have ${seconds(f['graceMs'])} to end`],
  'store-unavailable': (f) => [
    'failed',
    `the store cannot write: ${text(f['reason'])}`,
    'requests are answered 503',
  ],
  'store-available': () => ['healed', 'the store can write again'],
  'store-stopped': () => ['failed', 'the store stopped, so the gateway does: start it again'],
  'log-lines-dropped': (f) => ['warning', `${count(f['lines'], 'log line')} dropped, as nothing took them`],
  'gateway-stopped': () => ['stopped', 'what was accepted is kept for the next start'],
  // The engine has laid out the lines of a diagnostic; only what could steer the terminal is removed.
  diagnostic: (f) => ['', String(f['msg']).split('\n').map(text).join('\n')],
  'request-accepted': (f) => [
    'accepted',
    `${endpoint(f)}${mapping(f)}${actions(f)}`,
    `${took(f['ms'])}  request ${id(f['requestId'])}`,
  ],
  'request-ignored': (f) => [
    'ignored',
    `${endpoint(f)}  ${text(f['reason'])}`,
    `request ${id(f['requestId'])}`,
  ],
  'request-duplicate': (f) => [
    'duplicate',
    f['code'] === undefined
      ? `${endpoint(f)}${mapping(f)}${actions(f)}`
      : `${endpoint(f)}${mapping(f)}  ${text(f['status'])} ${text(f['code'])}  ${text(f['reason'])}`,
    `request ${id(f['requestId'])}`,
  ],
  'request-skipped': (f) => [
    'skipped',
    `${endpoint(f)}${mapping(f)}  ${text(f['reason'])}`,
    `request ${id(f['requestId'])}`,
  ],
  'request-handshake': (f) => [
    'handshake',
    `${endpoint(f)}  ${text(f['reason'])}`,
    `${text(f['status'])}  request ${id(f['requestId'])}`,
  ],
  // The client is shown where a sender is not authenticated or sends too often.
  'request-refused': (f) => [
    'refused',
    `${endpoint(f)}  ${text(f['status'])} ${refusalCode(f)}  ${text(f['reason'])}`,
    `${f['failure'] === undefined && f['status'] !== 429 ? '' : `from ${text(f['client'])}  `}request ${id(f['requestId'])}`,
  ],
  'requests-untold': (f) => [
    'refused',
    `${count(f['count'], 'more request')} within a minute, not told one by one${reasons(f)}`,
    `from ${count(f['clients'], 'client')}  reveille requests sums them up`,
  ],
  'request-failed': (f) => [
    'failed',
    `${endpoint(f)}${mapping(f)}  ${text(f['status'])} ${text(f['code'])}  ${text(f['reason'])}`,
    `request ${id(f['requestId'])}`,
  ],
  'reply-failed': (f) => ['failed', 'the reply could not be sent', `request ${id(f['requestId'])}`],
  'query-token-used': (f) => [
    'deprecated',
    `${endpoint(f)} took its token from the address`,
    text(f['hint']),
  ],
  'unknown-fields': (f) => [
    'warning',
    `${endpoint(f)} was sent ${count(f['fields'], 'field')} without effect: ${[f['problems']].flat().map(text).join('; ')}`,
    `from ${text(f['client'])}  request ${id(f['requestId'])}`,
  ],
  'old-token-used': (f) => [
    'old token',
    `${endpoint(f)} took token ${text(f['position'])} of ${text(f['list'])}`,
    `from ${text(f['client'])}  ${text(f['hint'])}`,
  ],
  'old-secret-used': (f) => [
    'old secret',
    `${endpoint(f)} was signed with secret ${text(f['position'])} of ${text(f['list'])}`,
    `from ${text(f['client'])}  ${text(f['hint'])}`,
  ],
  'subscription-confirmed': (f) => ['confirmed', `${endpoint(f)} is subscribed at ${text(f['host'])}`],
  'subscription-not-confirmed': (f) => [
    'warning',
    `${endpoint(f)} is not subscribed  ${text(f['reason'])}`,
    'ask its provider for the confirmation once more',
  ],
  'entrusted-kept': (f) => [
    'entrusted',
    `${endpoint(f)} was sent a ${text(f['name'])}`,
    `if you asked for it just now, make it the secret: "\${file:${text(f['file'])}}"`,
  ],
  'entrusted-not-kept': (f) => [
    'warning',
    `${endpoint(f)} was sent a ${text(f['name'])} that could not be kept`,
    'ask its provider to send it once more',
  ],
  'api-failed': (f) => ['api failed', text(f['code']), `request ${id(f['requestId'])}`],
  'run-succeeded': (f) => [
    'ran',
    `${text(f['sessionKey'])}  ${text(f['runner'])}`,
    `${took(f['ms'])}  run ${id(f['runId'])}`,
  ],
  'run-failed': (f) => [
    'run failed',
    `${text(f['sessionKey'])}  ${text(f['code'])}  ${text(f['reason'])}`,
    `run ${id(f['runId'])}`,
  ],
  'run-timed-out': (f) => [
    'timed out',
    `${text(f['sessionKey'])}  ${text(f['reason'])}`,
    `run ${id(f['runId'])}`,
  ],
  'run-retried': (f) => [
    'retry',
    `${text(f['sessionKey'])}  ${text(f['code'])}  ${text(f['reason'])}`,
    `in ${seconds(f['inMs'])}  run ${id(f['runId'])}`,
  ],
  'run-cancelled': (f) => [
    'cancelled',
    `${text(f['sessionKey'])}  ${text(f['reason'])}`,
    `run ${id(f['runId'])}`,
  ],
  'run-parked': (f) => [
    'run parked',
    `${text(f['sessionKey'])}  ${text(f['code'])}  ${text(f['reason'])}`,
    `run ${id(f['runId'])}`,
  ],
  'run-cancel-asked': (f) => ['cancel', `asked over the ${text(f['by'])}`, `run ${id(f['runId'])}`],
  'run-resume-asked': (f) => ['resume', `asked over the ${text(f['by'])}`, `run ${id(f['runId'])}`],
  'run-interrupted': (f) => [
    'paused',
    `${text(f['sessionKey'])}  will be taken up again`,
    `run ${id(f['runId'])}`,
  ],
  'summary-posted': (f) => ['summary', 'posted to the main session', `event ${id(f['eventId'])}`],
  'heartbeat-succeeded': (f) => [
    'heartbeat',
    `main saw ${count(f['events'], 'event')}${waiting(f)}`,
    `${took(f['ms'])}  run ${id(f['runId'])}`,
  ],
  'heartbeat-failed': (f) => [
    'heartbeat',
    `failed  ${text(f['code'])}  ${text(f['reason'])}`,
    `again in ${seconds(f['inMs'])}  run ${id(f['runId'])}`,
  ],
  'heartbeat-cancelled': (f) => ['heartbeat', 'cancelled', `run ${id(f['runId'])}`],
  'heartbeat-postponed': (f) => ['heartbeat', `waits: ${text(f['reason'])}`, `again in ${long(f['inMs'])}`],
  'session-compacted': (f) => [
    'compacted',
    `${text(f['sessionKey'])}  ${count(f['turns'], 'turn')} became a summary`,
    `${took(f['ms'])}  run ${id(f['runId'])}`,
  ],
  'session-not-compacted': (f) => [
    'warning',
    `${text(f['sessionKey'])} could not be summarised, its oldest turns are left out  ${text(f['code'])}  ${text(f['reason'])}`,
    `run ${id(f['runId'])}`,
  ],
  'model-refused': (f) => [
    'warning',
    `the runner ${text(f['runner'])} does not take ${text(f['model'])}, which is allowed  ${text(f['reason'])}`,
  ],
  'snapshot-swapped': (f) => [
    f['rolledBack'] ? 'rollback' : 'live',
    `generation ${text(f['generation'])}${f['rolledBack'] ? ' serves again until the files change' : ''}, ${count(f['mappings'], 'mapping')}${changes(f)}`,
    `${took(f['tookMs'])}  ${text(f['digest']).slice(0, 12)}`,
  ],
  'candidate-rejected': (f) => [
    'rejected',
    `${f['rollbackTo'] === undefined ? 'the change' : `generation ${text(f['rollbackTo'])}`} ${f['isAgain'] ? 'still ' : ''}has ${count(f['errors'], 'error')}${f['isAgain'] ? ', told above' : ''}; what was live goes on serving`,
    took(f['tookMs']),
  ],
  'files-mended': (f) => [
    'mended',
    `the files have no error any more; generation ${text(f['generation'])} goes on serving`,
  ],
  // The output of a module is shown as it was printed.
  'transform-output': (f) => [
    undefined,
    `${text(f['module'])}  ${text(f['msg'])}`,
    f['requestId'] === undefined ? '' : `request ${id(f['requestId'])}`,
  ],
  'reload-asked': (f) => ['reload', `${text(f['by'])}: ${reloadAnswer(f)}`],
  'generations-damaged': (f) => [
    'damaged',
    `of the generations that are kept: ${Array.isArray(f['found']) ? f['found'].map(text).join('; ') : ''}`,
  ],
  'generations-not-kept': () => [
    'not kept',
    'generations cannot be written to the disk; what is live goes on serving, and is tried again',
  ],
  'restart-required': (f) => [
    'restart',
    `${Array.isArray(f['keys']) ? f['keys'].map(text).join(', ') : ''} changed; a restart will apply it`,
  ],
  'delivery-delivered': (f) => ['delivered', address(f), `${took(f['ms'])}  delivery ${id(f['deliveryId'])}`],
  'delivery-skipped': (f) => ['not sent', text(f['reason']), `delivery ${id(f['deliveryId'])}`],
  'delivery-parked': (f) => [
    'parked',
    `${address(f)}  ${text(f['code'])}  ${text(f['reason'])}`,
    `delivery ${id(f['deliveryId'])}`,
  ],
  'delivery-send-asked': (f) => [
    'send',
    `${address(f)}  asked over the ${text(f['by'])}`,
    `delivery ${id(f['deliveryId'])}`,
  ],
  'delivery-replay-asked': (f) => [
    'replay',
    `${address(f)}  asked over the ${text(f['by'])}`,
    `delivery ${id(f['deliveryId'])}`,
  ],
  'route-assumed': (f) => ['route', `none is set, so replies to \`last\` go to ${address(f)}`],
  'route-set': (f) => ['route', `${address(f)}, set over the ${text(f['by'])}`],
  'delivery-retried': (f) => [
    'retry',
    `${address(f)}  ${text(f['code'])}  ${text(f['reason'])}`,
    `in ${seconds(f['inMs'])}  delivery ${id(f['deliveryId'])}`,
  ],
  'channel-held': (f) => [
    'held',
    `${text(f['channel'])} sends nothing  ${text(f['code'])}  ${text(f['reason'])}`,
    `one delivery is tried in ${long(f['inMs'])}, the others follow it`,
  ],
  'channel-opened': (f) => ['open', `${text(f['channel'])} sends again`, `after ${long(f['heldMs'])}`],
  'channel-checked': (f) => ['channel', `${text(f['channel'])} is good`, text(f['detail'] ?? '')],
  'channel-check-failed': (f) => ['warning', `${text(f['channel'])} is not good  ${text(f['reason'] ?? '')}`],
  'source-started': (f) => ['source', `${text(f['source'])} begins`],
  'source-working': (f) => ['source', `${text(f['source'])}  ${text(f['detail'])}`, times(f)],
  'source-failed': (f) => ['failing', `${text(f['source'])}  ${text(f['detail'])}`],
  'source-waiting': (f) => ['waiting', `${text(f['source'])}  ${text(f['detail'])}`],
  'source-held-elsewhere': (f) => ['held', `${text(f['source'])}  ${text(f['detail'])}`],
  'source-stopped': (f) => ['source', `${text(f['source'])} has ended`],
  'source-abandoned': (f) => [
    'warning',
    `${text(f['source'])} did not end within ${seconds(f['afterMs'])}, and is left alone`,
  ],
}

/** The times that a source reports: `watchEnds 2026-01-31T12:00:00.000Z`. */
function times({ times: given }: Facts): string {
  const named = Object.entries((given as Facts | undefined) ?? {})
  return named.map(([name, at]) => `${text(name)} ${text(at)}`).join('  ')
}

/** Shows the reason in the place of `UNAUTHORIZED`, and beside any other code. */
function refusalCode({ code, failure }: Facts): string {
  if (failure === undefined) return text(code)
  return code === 'TOO_MANY_TRIES' ? `${text(code)}, ${text(failure)}` : text(failure)
}

function endpoint(facts: Facts): string {
  return `/${text(facts['endpoint'])}`
}

function mapping(facts: Facts): string {
  return facts['mapping'] ? ` matched ${text(facts['mapping'])}` : ''
}

function actions(facts: Facts): string {
  const list = facts['actions']
  if (!Array.isArray(list) || list.length === 0) return ''
  return `  ${list.map(action).join(', ')}`
}

/** An action with its disposition, if it is no run of its own. */
function action({ kind, id: of, became, request }: Facts): string {
  const duplicate = ` (came before, in request ${id(request)})`
  const coalesceStatus = { joined: ' (joined)', busy: ' (busy: cancelled)', duplicate }[String(became)] ?? ''
  return `${text(kind)} ${id(of)}${coalesceStatus}`
}

function changes(facts: Facts): string {
  return facts['changes'] ? `: ${text(facts['changes'])}` : ''
}

/** The most frequent ones first. */
function reasons({ reasons: given }: Facts): string {
  if (typeof given !== 'object' || given === null) return ''
  const list = Object.entries(given).sort(([, a], [, b]) => Number(b) - Number(a))
  return `: ${list.map(([code, times]) => `${text(times)} ${text(code)}`).join(', ')}`
}

function reloadAnswer({ outcome, generation }: Facts): string {
  switch (outcome) {
    case 'live':
      return `generation ${text(generation)} is live`
    case 'unchanged':
      return `nothing to change, generation ${text(generation)} goes on serving`
    default:
      return `refused, generation ${text(generation)} goes on serving`
  }
}

function address(facts: Facts): string {
  return `${text(facts['channel'])}${facts['to'] ? `:${text(facts['to'])}` : ''}`
}

function waiting(facts: Facts): string {
  return facts['waiting'] ? `, ${text(facts['waiting'])} waiting` : ''
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

/** A long duration in minutes or hours. */
function long(value: unknown): string {
  const minutes = Math.round(Number(value) / 60_000)
  if (minutes < 2) return seconds(value)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

function count(value: unknown, noun: string): string {
  const number = Array.isArray(value) ? value.length : Number(value ?? 0)
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
