/** `reveille try`: shows what the gateway would make of a request. Nothing is sent, and nothing is stored. */

import {
  type Action,
  type Decision,
  inLargestUnit,
  type Reply,
  type Snapshot,
  type TryResult,
  tryRequest,
} from '@reveille/engine'
import { trySurface } from '../../../http/index.ts'
import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { wrapWords } from '../../../observe/wrap-words.ts'
import { type Io, paintFor } from '../../io.ts'
import { programName } from '../../pasted.ts'
import { type Facts, formatFacts } from '../../print.ts'
import { withSnapshot } from '../compile.ts'
import { formatOutcome, formatReading, withoutCause } from './outcome.ts'
import {
  describeEndpoints,
  describeSignature,
  endpointIn,
  formatStops,
  type RequestOptions,
  readRequest,
} from './request.ts'
import { askDryRun, formatDryRun, refuseGeneration, shownStops } from './stored.ts'

export async function tryEndpoint(given: string, options: RequestOptions, io: Io): Promise<number> {
  if (options.payload === undefined) return tryStored(given, options, io)
  refuseGeneration(options)
  const read = await readRequest(options, io)
  return withSnapshot(options, io, async (snapshot) => {
    const endpoint = endpointIn(given, snapshot.settings.hooks.path)
    const received = { ...read, endpoint }
    const dryRun = options.callOut ? 'call-out' : 'refuse'
    const tried = await tryRequest(received, snapshot, trySurface, { dryRun })
    const { decision } = tried
    report(endpoint, tried, snapshot, options, io)
    return 'code' in decision ? 1 : 0
  })
}

/** Tries a stored request again, which a running gateway does. */
async function tryStored(id: string, options: RequestOptions, io: Io): Promise<number> {
  const { dryRun, endpoint } = await askDryRun(id, options, io)
  const { decision, explanation } = dryRun
  if (options.json) io.out(`${JSON.stringify({ endpoint, ...dryRun }, null, 2)}\n`)
  else {
    const prompts = explanation.actions.flatMap(({ prompt }) =>
      prompt === undefined ? [] : ['', ...frame('prompt', prompt, paintFor(io), io.columns)],
    )
    io.out(`${[...formatDryRun(endpoint, dryRun, options, io), ...prompts].join('\n')}\n`)
  }
  return 'code' in decision ? 1 : 0
}

function report(
  endpoint: string,
  { decision, status, request, stops }: TryResult,
  snapshot: Snapshot,
  options: RequestOptions,
  io: Io,
): void {
  const paint = paintFor(io)
  const stopped = shownStops(stops, snapshot)
  if (options.json) {
    const answer = {
      endpoint,
      status,
      ...withoutCause(decision),
      ...(stops.length > 0 && { stops: stopped }),
    }
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
  } else {
    const lines = [
      ...formatOutcome(endpoint, decision, status, paint),
      ...formatReading(request),
      ...describeSignature(endpoint, snapshot),
      ...(decision.outcome === 'accepted' ? formatActions(decision.actions, paint, io) : []),
      ...('reply' in decision && decision.reply ? formatReply(decision.reply, paint, io) : []),
      ...formatStops(stopped, io),
      ...adviceFor(decision, endpoint, snapshot, io),
    ]
    io.out(`${lines.join('\n')}\n`)
  }
  if (!snapshot.settings.hooks.enabled)
    io.err('`hooks.enabled` is false: the gateway would answer 404 to everyone.\n')
}

/** The reply that the sender would read in place of the gateway's own answer. */
function formatReply({ contentType, body }: Reply, paint: Paint, io: Io): string[] {
  return ['', ...frame(`reply, ${contentType}`, body, paint, io.columns)]
}

function formatActions(actions: readonly Action[], paint: Paint, io: Io): string[] {
  return actions.flatMap((action, index) => {
    const place = actions.length > 1 ? ` ${index + 1} of ${actions.length}` : ''
    const title = action.trusted ? 'prompt, without the boundary' : 'prompt'
    return [
      '',
      paint.bold(`${action.kind}${place}`),
      ...formatFacts(factsOf(action, actions.length > 1))
        .trimEnd()
        .split('\n'),
      ...frame(title, action.prompt, paint, io.columns),
    ]
  })
}

/** The fields of an action that neither its prompt nor its head shows. */
function factsOf(action: Action, isOneOfSeveral: boolean): Facts {
  const shown = ['kind', 'prompt', 'text', 'message', 'trusted', 'sessionKeyGiven']
  if (!isOneOfSeveral) shown.push('mapping')
  const facts = Object.fromEntries(Object.entries(action).filter(([name]) => !shown.includes(name)))
  return { ...facts, ...(action.dedupe && { dedupe: factsOfDedupe(action.dedupe) }) }
}

function factsOfDedupe({ key, windowMs, isGiven }: NonNullable<Action['dedupe']>): Facts {
  return { key, window: inLargestUnit(windowMs), ...(isGiven && { chosen: 'by the sender' }) }
}

function adviceFor(decision: Decision, endpoint: string, snapshot: Snapshot, io: Io): string[] {
  if (decision.outcome === 'ignored') return ['', `${programName(io)} explain, asked the same way, says why.`]
  const isUnknown = 'code' in decision && decision.code === 'NOT_FOUND'
  return isUnknown ? ['', ...describeEndpoints(endpoint, snapshot)] : []
}

/** Returns the lines of a text behind a bar, which a text from a payload cannot leave. */
function frame(title: string, text: string, paint: Paint, columns = Number.POSITIVE_INFINITY): string[] {
  const bar = paint.cyan('│')
  const lines = text
    .split(/\r?\n/)
    .map(printable)
    .flatMap((line) => wrapWords(line, Math.max(columns - 2, 20)))
  return [
    `${paint.cyan('╭')} ${paint.bold(title)}`,
    ...lines.map((line) => (line === '' ? bar : `${bar} ${line}`)),
    paint.cyan('╰'),
  ]
}
