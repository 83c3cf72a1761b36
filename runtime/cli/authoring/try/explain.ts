/** `reveille explain`: shows why each mapping does or does not match a request, and where each field comes from. */

import path from 'node:path'
import type { CandidateTrace, Decision, Explanation } from '@reveille/engine'
import { trySurface } from '../../../http/index.ts'
import type { RequestRecord } from '../../../store/records.ts'
import { CommandFailure } from '../../command-failure.ts'
import { findConfiguration, placeFrom } from '../../configuration.ts'
import { type Io, paintFor } from '../../io.ts'
import { openAdmin } from '../../reading/admin-client.ts'
import { fetchOne } from '../../reading/records.ts'
import { withSnapshot } from '../compile.ts'
import { formatCandidates, formatExplanation, type Setting } from './explanation.ts'
import { formatReading, withoutCause } from './outcome.ts'
import { describeEndpoints, endpointIn, type RequestOptions, readRequest } from './request.ts'

export async function explain(subject: string, options: RequestOptions, io: Io): Promise<number> {
  return options.payload === undefined
    ? explainRecorded(subject, options, io)
    : explainTried(subject, options, io)
}

async function explainTried(given: string, options: RequestOptions, io: Io): Promise<number> {
  const read = await readRequest(options, io)
  return withSnapshot(options, io, async (snapshot) => {
    const endpoint = endpointIn(given, snapshot.settings.hooks.path)
    const received = { ...read, endpoint }
    const request = await trySurface.receive(received, snapshot)
    // The request is resolved once, because a transform may have effects.
    const explanation: Explanation =
      'code' in request
        ? { endpoint, decision: request, candidates: [], actions: [] }
        : await snapshot.explain(request)
    const { decision } = explanation
    const status = trySurface.statusOf(decision)
    if (options.json) {
      io.out(`${JSON.stringify({ ...explanation, decision: endOf(decision), status }, null, 2)}\n`)
    } else {
      const setting = settingFor(io, findConfiguration(options, io))
      const taken = 'code' in request ? undefined : request
      const lines = formatExplanation(explanation, status, setting, taken)
      const isUnknown = 'code' in decision && decision.code === 'NOT_FOUND'
      const advice = isUnknown ? ['', ...describeEndpoints(endpoint, snapshot)] : []
      io.out(`${[...lines, ...advice].join('\n')}\n`)
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

/** A request as the admin surface answers it. */
type Recorded = RequestRecord & {
  readonly trace?: {
    readonly candidates: readonly CandidateTrace[]
    readonly more: number
    readonly isForm?: true
  }
}

async function explainRecorded(id: string, options: RequestOptions, io: Io): Promise<number> {
  if (!/^[0-9a-f-]{4,36}$/i.test(id)) {
    const message = `Name the body to explain with --payload FILE, or give the id of a request instead of "${id}".`
    throw new CommandFailure(2, message)
  }
  const admin = await openAdmin(options, io)
  const record = (await fetchOne(admin, 'requests', id)) as unknown as Recorded
  if (options.json) {
    io.out(`${JSON.stringify(record, null, 2)}\n`)
    return record.trace ? 0 : 1
  }
  const { endpoint, outcome, status, reason, mapping, trace } = record
  const paint = paintFor(io)
  const about = reason ?? (mapping === undefined ? '' : `by ${mapping}`)
  io.out(`/${endpoint}  ${paint.bold(String(status))}  ${outcome}  ${about}`.trimEnd().concat('\n'))
  if (trace === undefined) {
    io.err(`${whyUntraced(record)}\n`)
    return 1
  }
  const more = trace.more > 0 ? [`… and ${trace.more} more`] : []
  const setting = settingFor(io, options.config)
  const lines = [...formatReading(trace), '', ...formatCandidates(trace.candidates, setting), ...more]
  io.out(`${lines.join('\n')}\n`)
  return 0
}

function whyUntraced({ endpoint, failure }: Recorded): string {
  const name = endpoint === '' ? '<endpoint>' : endpoint
  if (failure?.startsWith('TOKEN_') || failure === 'NOT_LOCAL')
    return 'No mapping was asked: its sender was not authenticated.'
  return failure !== undefined
    ? `No mapping was asked: its sender was not authenticated. With the request in a file,\n\`reveille doctor signature --endpoint ${name} --request FILE\` says why.`
    : 'It has no trace: only the last 20 ignored requests of each endpoint keep one, until the gateway stops.\n' +
        `With its body in a file, \`reveille explain ${name} --payload FILE\` says the same.`
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
