/** Opens issues for requests that the configuration refuses although their senders did nothing wrong. */

import { configuredName, endpointOption } from '../configured-names.ts'
import { isRefusedByConfiguration, type RequestFacts, type RequestOutcome, reasonOf } from '../http/index.ts'
import { pagesOf } from '../store/pages.ts'
import type { Reader, RequestFilters, RequestRecord } from '../store/port.ts'
import { type Ledger, withoutFullStop } from './ledger.ts'

export interface RefusalWatchOptions {
  readonly ledger: Ledger
  readonly read: Pick<Reader, 'requests'>
}

/** Number of requests read at a time. */
const pageSize = 500
/** Maximum number of replays of a request, newest first, that are searched for one that was accepted. */
const maxReplays = 20
/** A transform refuses on purpose. */
const isDeliberate = (code: string | undefined) => code === 'TRANSFORM_REFUSED'

/** From this many duplicates with different bodies in an hour on, they are not just retries with an attempt counter. */
const minDiffering = 5
const hourMs = 3_600_000

export function createRefusalWatch({ ledger, read }: RefusalWatchOptions) {
  /** Counts by mapping, of which the configuration limits the number. */
  const differingByMapping = new Map<string, { readonly beganAt: number; count: number }>()

  /** Called for each completed request of a sender. */
  function onConcluded(context: RequestFacts, result: RequestOutcome): void {
    const { endpoint = '', live } = context
    if ('hasOtherBody' in result && result.hasOtherBody && result.mapping !== undefined)
      countDiffering(result.mapping, context)
    if ('code' in result && isRefusedByConfiguration(result) && !isDeliberate(result.code)) {
      const { mapping, code, details } = result
      const at = details?.[0]?.pointer
      const name = configuredName(live.snapshot, endpoint)
      if (mapping === undefined && name === undefined) return
      const subject = mapping ?? `/${name}`
      const option = mapping === undefined ? endpointOption(name ?? '') : ` --mapping ${mapping}`
      ledger.note({
        code: 'MAPPING_REFUSES',
        subject,
        describe: () => ({
          cause: `Requests to /${endpoint} are refused with ${code}${at ? ` at ${at}` : ''}: ${withoutFullStop(reasonOf(result))}.`,
          label:
            live.snapshot.settings.history.bodies === 'none'
              ? 'Fix the mapping; with `history.bodies: none` nothing is kept that could be replayed'
              : `Fix ${mapping === undefined ? 'the configuration' : 'the mapping'}, then replay the refused requests`,
          command: `reveille replay --outcome refused${option}`,
          action: { method: 'POST', path: '/api/requests/replay', body: { filter: filterOf(subject) } },
        }),
      })
    } else if (result.outcome === 'accepted' && live.snapshot.settings.history.bodies === 'none') {
      // Nothing can be replayed, so only an accepted request shows that the problem is fixed.
      ledger.resolve('MAPPING_REFUSES', result.mapping ?? `/${configuredName(live.snapshot, endpoint)}`)
    }
  }

  /** Opens an issue when a `dedupe.key` that several events share drops all but the first. */
  function countDiffering(mapping: string, { endpoint = '', receivedAt, requestId }: RequestFacts): void {
    const last = differingByMapping.get(mapping)
    const window =
      last !== undefined && receivedAt - last.beganAt < hourMs ? last : { beganAt: receivedAt, count: 0 }
    differingByMapping.set(mapping, window)
    window.count += 1
    if (window.count < minDiffering) return
    ledger.note({
      code: 'DEDUPE_TOO_COARSE',
      subject: mapping,
      describe: () => ({
        cause: `The mapping "${mapping}" dropped ${window.count} requests to /${endpoint} within an hour as duplicates, although their bodies differ: its \`dedupe.key\` gives different events one value.`,
        label: `Make \`dedupe.key\` differ between events; ${requestId} is the latest one dropped`,
        command: `reveille requests --mapping ${mapping} --outcome duplicate`,
      }),
    })
  }

  /** Resolves the issues that have nothing left to replay. */
  async function sweep(): Promise<void> {
    for (const { code, subject } of ledger.open())
      if (code === 'MAPPING_REFUSES' && (await isAllReplayed(subject))) ledger.resolve(code, subject)
  }

  /** Starts with the newest, which a job replays last, so one page shows that a job has not finished. */
  async function isAllReplayed(subject: string): Promise<boolean> {
    let seen = 0
    const list = (page: object) => read.requests({ ...filterOf(subject), ...page })
    for await (const requests of pagesOf(list, pageSize))
      for (const request of requests) {
        if (request.replayOf !== undefined || request.bodyKept !== true || isDeliberate(request.code))
          continue
        seen += 1
        if (!(await wasReplayed(request))) return false
      }
    return seen > 0
  }

  async function wasReplayed({ id }: RequestRecord): Promise<boolean> {
    const { items } = await read.requests({ replayOf: id, limit: maxReplays })
    return items.some(({ outcome }) => outcome !== 'refused' && outcome !== 'failed')
  }

  return { concluded: onConcluded, sweep }
}

function filterOf(subject: string): RequestFilters {
  if (subject.startsWith('/') && subject.includes(':')) return { outcome: 'refused' }
  const by = subject.startsWith('/') ? { endpoint: subject.slice(1) } : { mapping: subject }
  return { outcome: 'refused', ...by }
}
