/**
 * `reveille try` shows what the gateway would make of a request, and `reveille explain` why. Nothing is sent, and nothing is stored. A stored
 * request is tried by a running gateway.
 */

import path from 'node:path'
import {
  type Action,
  type Configuration,
  type Decision,
  explainRequest,
  type HookRequest,
  inLargestUnit,
  lintConfiguration,
  type Snapshot,
  type Stop,
  type TryResult,
} from '@reveille/engine'
import { formatPlace } from '@reveille/engine/text'
import type { Answer } from '../../../api/routes/client.ts'
import { trySurface } from '../../../http/index.ts'
import type { RequestDryRun } from '../../../reload/request-dry-runs.ts'
import type { RequestRecord } from '../../../store/records.ts'
import { openClient } from '../../client.ts'
import { badUsage } from '../../command-failure.ts'
import { findConfiguration, formatDiagnostics, placeFrom } from '../../configuration.ts'
import { type CommandOptions, type Io, paintFor } from '../../io.ts'
import { formatSummary, print } from '../../print.ts'
import { generationQuery } from '../../records/filters.ts'
import { findOne } from '../../records/records.ts'
import { withSnapshot } from '../compile.ts'
import { isSuppressed } from '../lint/lint.ts'
import { describeEndpoints, describeSignature, endpointIn, readRequest } from './request.ts'
import {
  formatCandidates,
  formatExplanation,
  formatOutcome,
  formatReading,
  formatStops,
  frame,
  type Setting,
  type Stopped,
} from './text.ts'

export function tryEndpoint(subject: string, io: Io, options: CommandOptions): Promise<number> {
  return options.payload === undefined
    ? tryStored(subject, io, options)
    : tryGiven(subject, io, options, false)
}

export function explain(subject: string, io: Io, options: CommandOptions): Promise<number> {
  return options.payload === undefined
    ? explainStored(subject, io, options)
    : tryGiven(subject, io, options, true)
}

/** @returns 1 where the decision is an error */
async function tryGiven(
  given: string,
  io: Io,
  options: CommandOptions,
  isExplained: boolean,
): Promise<number> {
  if (options.generation !== undefined)
    throw badUsage('--generation is for a stored request: give its id, without --payload.')
  const read = await readRequest(io, options)
  return withSnapshot(io, async (snapshot, configuration) => {
    const received = { ...read, endpoint: endpointIn(given, snapshot.settings.hooks.path) }
    const dryRun = options.callOut ? 'call-out' : 'refuse'
    const tried = await explainRequest(received, snapshot, trySurface, { dryRun })
    const { endpoint, decision, explanation, status, request } = { ...received, ...tried }
    const stopped = shownStops(tried.stops, snapshot)
    const stops = stopped.length > 0 && { stops: stopped }
    // The traces show the actions without secrets; `try` shows them whole.
    const isAccepted = decision.outcome === 'accepted'
    const end = isAccepted ? { outcome: decision.outcome, mapping: decision.mapping } : withoutCause(decision)
    const answer = isExplained
      ? { ...explanation, decision: end, status, ...stops }
      : { endpoint, status, ...withoutCause(decision), ...stops }
    print(io, answer, () =>
      [
        ...(isExplained
          ? formatExplanation(explanation, status, settingFor(io, findConfiguration(io)), request)
          : formatTried(tried, endpoint, snapshot, io)),
        ...(isExplained && stops ? [''] : []),
        ...formatStops(stopped),
        ...(decision.outcome === 'ignored' && !isExplained
          ? ['', 'reveille explain, asked the same way, says why.']
          : []),
        ...adviceFor(decision, endpoint, snapshot),
      ].join('\n'),
    )
    if (!isExplained && !snapshot.settings.hooks.enabled)
      io.err('`hooks.enabled` is false: the gateway would answer 404 to everyone.\n')
    await warnOfFields(decision, request, configuration, io)
    return 'code' in decision ? 1 : 0
  })
}

function formatTried(
  { decision, status, request }: TryResult,
  endpoint: string,
  snapshot: Snapshot,
  io: Io,
): string[] {
  const { contentType, body } = ('reply' in decision && decision.reply) || {}
  return [
    ...formatOutcome(endpoint, decision, status, paintFor(io)),
    ...formatReading(request),
    ...describeSignature(endpoint, snapshot),
    ...(decision.outcome === 'accepted' ? formatActions(decision.actions, io) : []),
    ...(body === undefined ? [] : ['', ...frame(`reply, ${contentType}`, body, io)]),
  ]
}

const ofFields: ReadonlySet<string> = new Set(['UNKNOWN_FIELD', 'OTHER_PAYLOAD', 'LIST_FIELD'])

/** Lint with this payload as a sample: a field that it lacks renders as nothing. */
async function warnOfFields(
  decision: Decision,
  request: HookRequest | undefined,
  configuration: Configuration,
  io: Io,
): Promise<void> {
  if (request === undefined || !('mapping' in decision)) return
  const { endpoint, payload } = request
  const mappings = configuration.mappings.filter(({ id }) => id === decision.mapping)
  const samples = [{ endpoint, payload }]
  const findings = await lintConfiguration({ configuration: { ...configuration, mappings }, samples })
  const ownFindings = findings.filter((finding) => ofFields.has(finding.code) && !isSuppressed(finding))
  if (ownFindings.length > 0) io.err(`${formatDiagnostics(ownFindings, io)}\n`)
}

/** JSON has no form for an error. */
function withoutCause(decision: Decision): object {
  if (!('code' in decision)) return decision
  const { cause: _cause, ...rest } = decision
  return rest
}

function shownStops(stops: readonly Stop[], { settings }: Snapshot): Stopped[] {
  const folder = path.dirname(settings.file)
  return stops.map(({ module, target, place }) => ({
    module,
    target,
    ...(place && { place: formatPlace(place, folder) }),
  }))
}

function adviceFor(decision: Decision, endpoint: string, snapshot: Snapshot): string[] {
  const isUnknown = 'code' in decision && decision.code === 'NOT_FOUND'
  return isUnknown ? ['', ...describeEndpoints(endpoint, snapshot)] : []
}

function formatActions(actions: readonly Action[], io: Io): string[] {
  return actions.flatMap((action, index) => {
    const place = actions.length > 1 ? ` ${index + 1} of ${actions.length}` : ''
    const facts = formatSummary(factsOf(action, actions.length > 1), io.now())
      .trimEnd()
      .split('\n')
    const title = action.trusted ? 'prompt, without the boundary' : 'prompt'
    return ['', paintFor(io).bold(`${action.kind}${place}`), ...facts, ...frame(title, action.prompt, io)]
  })
}

/** The fields of an action that neither its prompt nor its head shows. */
function factsOf(action: Action, isOneOfSeveral: boolean): object {
  const shown = ['kind', 'prompt', 'text', 'message', 'trusted', 'sessionKeyGiven']
  if (!isOneOfSeveral) shown.push('mapping')
  const facts = Object.fromEntries(Object.entries(action).filter(([name]) => !shown.includes(name)))
  if (action.dedupe === undefined) return facts
  const { key, windowMs, isGiven } = action.dedupe
  return {
    ...facts,
    dedupe: { key, window: inLargestUnit(windowMs), ...(isGiven && { chosen: 'by the sender' }) },
  }
}

/** Tries a stored request again, which a running gateway does. */
async function tryStored(id: string, io: Io, options: CommandOptions): Promise<number> {
  const dryRun = await askDryRun(id, io, options)
  const prompts = dryRun.explanation.actions.flatMap(({ prompt }) =>
    prompt === undefined ? [] : ['', ...frame('prompt', prompt, io)],
  )
  return reportDryRun(dryRun, io, prompts)
}

/** @throws CommandFailure where the gateway cannot try it, such as without its body */
async function askDryRun(id: string, io: Io, options: CommandOptions): Promise<RequestDryRun> {
  refuseOtherThanId(id)
  const client = await openClient(io)
  const { generation = 'live', callOut } = options
  const by = generation === 'live' ? {} : generationQuery(generation)
  const params = { id: await findOne(client, 'request', id) }
  const body = { dryRun: true, ...by, ...(callOut && { callOut }) }
  return (await client.ask('replayRequest', { params, body })) as RequestDryRun
}

/** @throws CommandFailure for what is no id */
function refuseOtherThanId(text: string): void {
  if (/^[0-9a-f-]{4,36}$/i.test(text)) return
  const message = `Name the body with --payload FILE (- reads standard input), or give the id of a request instead of "${text}".`
  throw badUsage(message)
}

function reportDryRun(dryRun: RequestDryRun, io: Io, more: readonly string[] = []): number {
  const { decision, status, explanation, stops } = dryRun
  const { isForm, endpoint, actions } = explanation
  // The line of the outcome names the mappings of the actions.
  const tried = { ...explanation, decision: { ...decision, actions } }
  const lines = () => [
    ...formatExplanation(tried as never, status, settingFor(io, io.config), isForm && { isForm }),
    ...(stops.length > 0 ? ['', ...formatStops(stops)] : []),
    ...more,
  ]
  return print(io, { endpoint, ...dryRun }, () => lines().join('\n'), 'code' in decision ? 1 : 0)
}

async function explainStored(id: string, io: Io, options: CommandOptions): Promise<number> {
  refuseOtherThanId(id)
  // Transforms that may call out are no reading, so that it is a replay that stores nothing.
  if (options.callOut) return reportDryRun(await askDryRun(id, io, options), io)
  const client = await openClient(io)
  const params = { id: await findOne(client, 'request', id) }
  const record = (await client.ask('readRequest', { params })) as RequestRecord
  if (record.failure !== undefined) {
    const { trace: _trace, ...facts } = record
    print(io, facts, () => headOf(record, io))
    if (!io.json) io.err(`${whyUntraced(record)}\n`)
    return 1
  }
  const { generation } = options
  const query = generation === undefined ? {} : { generation }
  const explained = await client.ask('explainRequest', { params, query })
  if (isDryRun(explained)) return reportDryRun(explained, io)
  const trace = explained.explanation as Pick<RequestDryRun['explanation'], 'candidates' | 'isForm'> & {
    readonly more: number
  }
  return print(io, { ...record, trace }, () =>
    [
      headOf(record, io),
      ...formatReading(trace),
      '',
      ...formatCandidates(trace.candidates, settingFor(io, io.config)),
      ...(trace.more > 0 ? [`… and ${trace.more} more`] : []),
    ].join('\n'),
  )
}

/** True for a dry run; a stored explanation has no stops. */
function isDryRun(
  explained: Answer<'explainRequest'>,
): explained is Answer<'explainRequest'> & RequestDryRun {
  return explained.stops !== undefined
}

function headOf({ endpoint, outcome, status, reason, mapping }: RequestRecord, io: Io): string {
  const about = reason ?? (mapping === undefined ? '' : `by ${mapping}`)
  return `/${endpoint}  ${paintFor(io).bold(String(status))}  ${outcome}  ${about}`.trimEnd()
}

function whyUntraced({ endpoint, failure }: RequestRecord): string {
  const why = 'No mapping was asked: its sender was not authenticated.'
  if (failure?.startsWith('TOKEN_') || failure === 'NOT_LOCAL') return why
  const name = endpoint === '' ? '<endpoint>' : endpoint
  return `${why} With the request in a file,\n\`reveille doctor signature --endpoint ${name} --request FILE\` says why.`
}

/** Places are relative to the folder of the configuration, which is not known for a gateway elsewhere. */
function settingFor(io: Io, configuration: string | undefined): Setting {
  const folder = configuration === undefined ? undefined : path.dirname(path.resolve(io.cwd, configuration))
  return {
    paint: paintFor(io),
    columns: io.columns,
    placeOf: (place) => (folder === undefined ? place : placeFrom(place, folder, io)),
  }
}
