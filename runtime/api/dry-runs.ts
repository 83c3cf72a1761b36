/** Handles the routes by which requests are tried and explained, and mappings are written for them. */

import type { ReceivedRequest } from '@reveille/engine'
import { restoreRequest } from '../http/index.ts'
import { bodyNotKept, isSendersFault } from '../replay/index.ts'
import type { RequestRecord } from '../store/port.ts'
import { missing, refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { generationNumber } from './requests.ts'
import type { dryRunRoutes } from './routes/dry-runs.ts'

export function createDryRunHandlers(options: AdminOptions): Handlers<typeof dryRunRoutes> {
  const { requestDryRuns, now } = options
  const { read } = options.store
  return {
    async explainRequest({ params: { id }, query: { generation } }) {
      const record = (await read.request(id)) ?? missing('request')
      const { trace, endpoint } = record
      if (generation === undefined && trace) return { by: 'stored', explanation: { endpoint, ...trace } }
      const received = restoreRequest(record)
      if (received === undefined) return refuseBodiless(record)
      const { by, ...dryRun } = await dryRunBy(generation ?? 'live', received, options)
      return { by: String(by), ...dryRun }
    },

    async writeTest({ params: { id }, reply }) {
      const record = (await read.request(id)) ?? missing('request')
      const received = restoreRequest(record)
      if (received === undefined) return refuseBodiless(record)
      const written = await requestDryRuns.testEntry(record, received)
      if ('problem' in written) return refuse('NOT_REPLAYABLE', { sentence: written.problem })
      return reply
        .type('text/yaml; charset=utf-8')
        .header('x-content-type-options', 'nosniff')
        .send(written.yaml)
    },

    async tryRequest({ body }) {
      const { endpoint, payload, headers = {}, query = {}, mapping, callOut = false, withTest = false } = body
      const received = {
        endpoint,
        headers: inLowerCase(headers),
        query: Object.assign(Object.create(null), query),
        body: Buffer.from(payload),
        now: now(),
      }
      const answer = await requestDryRuns.run(received, {
        callsOut: callOut,
        withTest,
        ...(mapping !== undefined && { by: { mapping } }),
      })
      if (!answer.ok)
        return answer.why === 'NOT_COMPILED' ? { diagnostics: answer.diagnostics } : refuse('NOT_FOUND')
      const { ok: _ok, ...dryRun } = answer
      return dryRun
    },

    async listSamples({ params }) {
      return { items: requestDryRuns.samples(params.name) }
    },

    listPaths: ({ params: { name } }) => requestDryRuns.fieldPaths(name),
  }
}

function inLowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const folded: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) folded[name.toLowerCase()] = value
  return folded
}

/** Reason why a request can neither be explained again nor be tried. */
function refuseBodiless(record: RequestRecord): never {
  const { outcome, failure } = record
  if (failure !== undefined) {
    const sentence = 'No mapping was asked: its sender was not authenticated.'
    return refuse('NOT_REPLAYABLE', { sentence })
  }
  if (outcome === 'handshake' || isSendersFault(record)) {
    const sentence = 'No mapping was asked, and the body of such a request is never kept.'
    return refuse('NOT_REPLAYABLE', { sentence })
  }
  return refuse('BODY_NOT_KEPT', { sentence: bodyNotKept(record) })
}

/**
 * Says what comes of a request by what is `live`, or by the generation that is named by its number or the beginning of its digest.
 * @throws RequestError
 */
export async function dryRunBy(
  named: string,
  received: ReceivedRequest,
  options: Pick<AdminOptions, 'archive' | 'node' | 'requestDryRuns'>,
  callsOut = false,
) {
  const by = named === 'live' ? ('live' as const) : generationNumber(named, options)
  if (by === undefined) return refuseUnkept(named, options)
  const answer = await options.requestDryRuns.run(received, { by, callsOut })
  if (answer.ok) {
    const { ok: _ok, ...dryRun } = answer
    return { by, ...dryRun }
  }
  if (answer.why === 'GENERATION_NOT_KEPT') return refuseUnkept(named, options)
  const [first] = answer.diagnostics
  const sentence = `Generation ${named} does not compile any more: ${first?.message ?? 'its files have mistakes'}`
  return refuse('WRONG_STATE', { sentence })
}

/** Each node of a cluster keeps generations of its own, by numbers of its own. */
function refuseUnkept(generation: string, { node }: Pick<AdminOptions, 'node'>): never {
  const where = node === undefined ? '' : ` on the node ${node}`
  return refuse('NOT_FOUND', { sentence: `Generation ${generation} is not kept${where}.` })
}
