/** `reveille replay`: does requests again, and sends deliveries again that are parked. */

import type { Decision } from '@reveille/engine'
import type { Answer, Asked } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import { formatOutcome } from '../authoring/try/text.ts'
import { type Client, openClient, type Refused } from '../client.ts'
import { badUsage, failure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { print, shortId, withShortIds } from '../print.ts'
import { queryOf } from '../records/filters.ts'
import { find } from '../records/records.ts'
import { readGivenFile, utf8Of } from '../request-file.ts'
import { orderAll, orderEach } from './orders.ts'
import { cancelJob, followJob, replayByFilter } from './replay-job.ts'

/** Finds what each id names before it replays the first one. @returns 1 where one of them could not be replayed */
export async function replay(names: readonly string[], options: CommandOptions, io: Io): Promise<number> {
  const { parked = false, channel, job, cancel, failed = false, outcome, dryRun, callOut } = options
  if (failed && outcome !== undefined && outcome !== 'failed')
    throw badUsage('--failed is the same as --outcome failed; give one of the two.')
  const chosen = { ...options, ...(failed && { outcome: 'failed' }) }
  const { channel: _channel, ...filter } = queryOf(chosen, io)
  const isFiltered = Object.keys(filter).length > 0
  const ways = [names.length > 0, isFiltered, parked, job !== undefined, cancel !== undefined]
  if (ways.filter(Boolean).length !== 1)
    throw badUsage(
      'Name what to replay: ids, or requests by --failed, --endpoint, --since and the like, or --parked for deliveries.',
    )
  if (channel !== undefined && !parked) throw badUsage('--channel goes with --parked.')
  if (options.payload !== undefined && names.length !== 1) throw badUsage('--payload goes with one request.')
  if (callOut && !dryRun) throw badUsage('--call-out goes with --dry-run; a replay uses the network anyway.')
  if (parked && dryRun) throw badUsage(deliveryIsSentAsItIs)
  if (job !== undefined) return followJob(job, options, io)
  if (cancel !== undefined) return cancelJob(cancel, io)
  if (isFiltered) return replayByFilter(filter, termsOf(options), options, io)
  const client = await openClient(io)
  if (parked) return orderAll('replay', client, channel === undefined ? {} : { channel }, io)
  return replayNamed(client, names, options, io)
}

const deliveryIsSentAsItIs = '--dry-run is for requests; a delivery is sent as it is.'

async function replayNamed(client: Client, names: readonly string[], options: CommandOptions, io: Io) {
  const found = await Promise.all(names.map((name) => find(client, name, 'request', 'delivery')))
  const kinds = new Set(found.map(({ kind }) => kind))
  const ids = found.map(({ id }) => id)
  if (kinds.size > 1)
    throw badUsage('Some of these are requests and some are deliveries; replay them one after the other.')
  if (kinds.has('request')) return replayRequests(client, ids, options, io)
  if (!kinds.has('delivery'))
    throw failure(`${names[0]} names a ${found[0]?.kind}; requests and deliveries can be replayed.`)
  if (options.dryRun) throw badUsage(deliveryIsSentAsItIs)
  return orderEach('replay', client, ids, io)
}

type Replayed = Answer<'replayRequest'> | Refused

/** @returns 1 where one of them was refused, or failed again */
async function replayRequests(client: Client, ids: readonly string[], options: CommandOptions, io: Io) {
  const { payload } = options
  const body: Asked<'replayRequest'>['body'] = {
    ...termsOf(options),
    ...(payload !== undefined && { payload: await textOf(payload, io) }),
  }
  const items: object[] = []
  let isGood = true
  for (const id of new Set(ids)) {
    const answer = await client.order('replayRequest', { params: { id }, body })
    items.push({ request: id, ...answer })
    isGood &&= isDone(answer)
    if (io.json) continue
    const line = `${shortId(id)}: ${replayedText(answer, io)}\n`
    if ('decision' in answer || isDone(answer)) io.out(line)
    else io.err(line)
  }
  if (io.json) print(io, { items })
  return isGood ? 0 : 1
}

/** The terms as the API takes them. */
function termsOf({ dryRun, callOut, deliverAgain }: CommandOptions) {
  return {
    ...(dryRun && { dryRun: true }),
    ...(callOut && { callOut: true }),
    ...(deliverAgain && { deliverAgain: true }),
  }
}

/** The file is a body, and stands for the body of the request as it is. */
async function textOf(file: string, io: Io): Promise<string> {
  const bytes = file === '-' ? ((await io.input?.()) ?? new Uint8Array()) : await readGivenFile(file, io)
  const text = utf8Of(bytes)
  if (text === undefined) throw badUsage(`${file} is not valid UTF-8.`)
  return text
}

function isDone(answer: Replayed): boolean {
  if ('decision' in answer) return !('code' in answer.decision)
  return answer.ok && answer.outcome !== 'failed' && answer.outcome !== 'refused'
}

function replayedText(answer: Replayed, io: Io): string {
  if ('decision' in answer) {
    const { endpoint, actions } = answer.explanation
    const decision = { ...answer.decision, actions } as unknown as Decision
    const stops = answer.stops.map(({ module, target }) => `  ${module} was kept from calling ${target}`)
    const outcome = formatOutcome(endpoint, decision, answer.status, paintFor(io))
    return ['would be', ...outcome, ...stops.map(printable)].join('\n')
  }
  if (!answer.ok) return printable(answer.error)
  const { requestId, outcome, code, reason, mapping, actions } = answer
  const made = actions.map(({ kind, id, became }) =>
    [kind, shortId(id), became && `(${became})`].filter(Boolean).join(' '),
  )
  const facts = [code, mapping, ...made, reason && withShortIds(reason)].filter(Boolean).join('  ')
  return `${outcome} as ${shortId(requestId)}  ${printable(facts)}`.trimEnd()
}
