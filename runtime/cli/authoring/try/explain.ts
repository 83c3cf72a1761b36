/** `reveille explain`: shows why each mapping does or does not match a request, and where each field comes from. */

import { type CandidateTrace, type Decision, explainRequest } from '@reveille/engine'
import { trySurface } from '../../../http/index.ts'
import type { RequestDryRun } from '../../../reload/request-dry-runs.ts'
import type { RequestRecord, RequestTrace } from '../../../store/records.ts'
import { openClient } from '../../client.ts'
import { findConfiguration } from '../../configuration.ts'
import { type Io, paintFor } from '../../io.ts'
import { findOne } from '../../records/records.ts'
import { withSnapshot } from '../compile.ts'
import { formatCandidates, formatExplanation } from './explanation.ts'
import { formatReading, withoutCause } from './outcome.ts'
import { describeEndpoints, endpointIn, formatStops, type RequestOptions, readRequest } from './request.ts'
import {
  askDryRun,
  formatDryRun,
  refuseGeneration,
  refuseOtherThanId,
  settingFor,
  shownStops,
} from './stored.ts'

export async function explain(subject: string, options: RequestOptions, io: Io): Promise<number> {
  return options.payload === undefined
    ? explainRecorded(subject, options, io)
    : explainTried(subject, options, io)
}

async function explainTried(given: string, options: RequestOptions, io: Io): Promise<number> {
  refuseGeneration(options)
  const read = await readRequest(options, io)
  return withSnapshot(options, io, async (snapshot) => {
    const endpoint = endpointIn(given, snapshot.settings.hooks.path)
    const dryRun = options.callOut ? 'call-out' : 'refuse'
    const received = { ...read, endpoint }
    const { explanation, status, request, stops } = await explainRequest(received, snapshot, trySurface, {
      dryRun,
    })
    const { decision } = explanation
    const stopped = shownStops(stops, snapshot)
    if (options.json) {
      const answer = {
        ...explanation,
        decision: endOf(decision),
        status,
        ...(stops.length > 0 && { stops: stopped }),
      }
      io.out(`${JSON.stringify(answer, null, 2)}\n`)
    } else {
      const setting = settingFor(io, findConfiguration(options, io))
      const lines = formatExplanation(explanation, status, setting, request)
      const isUnknown = 'code' in decision && decision.code === 'NOT_FOUND'
      const advice = isUnknown ? ['', ...describeEndpoints(endpoint, snapshot)] : []
      const stopLines = stops.length > 0 ? ['', ...formatStops(stopped, io)] : []
      io.out(`${[...lines, ...stopLines, ...advice].join('\n')}\n`)
    }
    return 'code' in decision ? 1 : 0
  })
}

/** The decision without its actions, which the traces show without secrets; `try` shows them whole. */
function endOf(decision: Decision): object {
  return decision.outcome === 'accepted'
    ? { outcome: decision.outcome, mapping: decision.mapping }
    : withoutCause(decision)
}

/** What the gateway answers about a stored request: what it noted then, or what it finds now. */
type Explained =
  | { readonly by: 'stored'; readonly explanation: StoredTrace }
  | ({ readonly by: string } & RequestDryRun)

type StoredTrace = Omit<RequestTrace, 'candidates'> & { readonly candidates: readonly CandidateTrace[] }

async function explainRecorded(id: string, options: RequestOptions, io: Io): Promise<number> {
  refuseOtherThanId(id)
  // Transforms that may call out are no reading, so that it is a replay that stores nothing.
  if (options.callOut) {
    const { dryRun, endpoint } = await askDryRun(id, options, io)
    return reportRequestDryRun(endpoint, dryRun, options, io)
  }
  const client = await openClient(options, io)
  const params = { id: await findOne(client, 'request', id) }
  const record = (await client.ask('readRequest', { params })) as unknown as RequestRecord
  if (record.failure !== undefined) {
    const { trace: _trace, ...facts } = record
    io.out(options.json ? `${JSON.stringify(facts, null, 2)}\n` : `${headOf(record, io)}\n`)
    if (!options.json) io.err(`${whyUntraced(record)}\n`)
    return 1
  }
  const { generation } = options
  const query = { ...(generation !== undefined && { generation }) }
  const explained = (await client.ask('explainRequest', { params, query })) as unknown as Explained
  if ('stops' in explained) return reportRequestDryRun(record.endpoint, explained, options, io)
  if (options.json) {
    io.out(`${JSON.stringify({ ...record, trace: explained.explanation }, null, 2)}\n`)
    return 0
  }
  const { candidates, more, isForm } = explained.explanation
  const rest = more > 0 ? [`… and ${more} more`] : []
  const setting = settingFor(io, options.config)
  const reading = formatReading({ ...(isForm && { isForm }) })
  io.out(
    `${[headOf(record, io), ...reading, '', ...formatCandidates(candidates, setting), ...rest].join('\n')}\n`,
  )
  return 0
}

function reportRequestDryRun(
  endpoint: string,
  dryRun: RequestDryRun,
  options: RequestOptions,
  io: Io,
): number {
  if (options.json) io.out(`${JSON.stringify({ endpoint, ...dryRun }, null, 2)}\n`)
  else io.out(`${formatDryRun(endpoint, dryRun, options, io).join('\n')}\n`)
  return 'code' in dryRun.decision ? 1 : 0
}

function headOf({ endpoint, outcome, status, reason, mapping }: RequestRecord, io: Io): string {
  const about = reason ?? (mapping === undefined ? '' : `by ${mapping}`)
  return `/${endpoint}  ${paintFor(io).bold(String(status))}  ${outcome}  ${about}`.trimEnd()
}

function whyUntraced({ endpoint, failure, mapping, code }: RequestRecord): string {
  if (failure === undefined)
    return mapping === undefined
      ? `No mapping was asked: the request was refused before that${code === undefined ? '' : ` (${code})`}.`
      : `No trace was stored with it; the mapping "${mapping}" decided.`
  const name = endpoint === '' ? '<endpoint>' : endpoint
  if (failure?.startsWith('TOKEN_') || failure === 'NOT_LOCAL')
    return 'No mapping was asked: its sender was not authenticated.'
  return `No mapping was asked: its sender was not authenticated. With the request in a file,\n\`reveille doctor signature --endpoint ${name} --request FILE\` says why.`
}
