/** `reveille replay`: does requests again, and sends deliveries again that are parked. */

import { randomUUID } from 'node:crypto'
import type { Decision } from '@reveille/engine'
import type { Answer, Asked, ItemOf } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import { formatOutcome } from '../authoring/try/text.ts'
import { type Client, GatewayUnreachable, openClient, type Refused } from '../client.ts'
import { badUsage, failure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { counted, createBar, print, shortId, withShortIds } from '../print.ts'
import { type FilterQuery, queryOf } from '../records/filters.ts'
import { itemsText } from '../records/kinds.ts'
import { find } from '../records/records.ts'
import { readGivenFile, utf8Of } from '../request-file.ts'
import { orderAll, orderEach } from './orders.ts'

/** Finds what each id names before it replays the first one. @returns 1 where one of them could not be replayed */
export async function replay(names: readonly string[], io: Io, options: CommandOptions): Promise<number> {
  const { parked = false, channel, job, cancel, failed = false, outcome, dryRun, callOut } = options
  if (failed && outcome !== undefined && outcome !== 'failed')
    throw badUsage('--failed is the same as --outcome failed; give one of the two.')
  const chosen = { ...options, ...(failed && { outcome: 'failed' }) }
  const { channel: _channel, ...filter } = queryOf(io, chosen)
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
  if (job !== undefined) return followJob(job, io, options)
  if (cancel !== undefined) return cancelJob(cancel, io)
  if (isFiltered) return replayByFilter(filter, termsOf(options), io, options)
  const client = await openClient(io)
  if (parked) return orderAll('replay', client, channel === undefined ? {} : { channel }, io)
  return replayNamed(client, names, io, options)
}

const deliveryIsSentAsItIs =
  '--dry-run is for requests; a delivery is sent as it is. `reveille deliveries --state parked` lists those.'

async function replayNamed(client: Client, names: readonly string[], io: Io, options: CommandOptions) {
  const found = await Promise.all(names.map((name) => find(client, name, 'request', 'delivery')))
  const foundKinds = new Set(found.map(({ kind }) => kind))
  const ids = found.map(({ id }) => id)
  if (foundKinds.size > 1)
    throw badUsage('Some of these are requests and some are deliveries; replay them one after the other.')
  if (foundKinds.has('request')) return replayRequests(client, ids, io, options)
  if (!foundKinds.has('delivery'))
    throw failure(`${names[0]} names a ${found[0]?.kind}; requests and deliveries can be replayed.`)
  if (options.dryRun) throw badUsage(deliveryIsSentAsItIs)
  return orderEach('replay', client, ids, io)
}

type Replayed = Answer<'replayRequest'> | Refused

/** @returns 1 where one of them was refused, or failed again */
async function replayRequests(client: Client, ids: readonly string[], io: Io, options: CommandOptions) {
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

/** Between two looks at the job. Milliseconds. */
const lookMs = 500
/** Milliseconds that a gateway without an answer is asked again. */
const retryWindowMs = 300_000

/** @returns 1 where one of them failed again */
async function replayByFilter(
  filter: FilterQuery,
  terms: Partial<Asked<'replayRequests'>['body'] & object>,
  io: Io,
  options: CommandOptions,
): Promise<number> {
  const { wait } = options
  // With its key the order can be given again where its answer was lost.
  const body = { filter, ...terms, ...(!terms.dryRun && { key: randomUUID() }) }
  const ask = await createAsker(io)
  const begun = await ask((client) => client.ask('replayRequests', { body }))
  const { total } = begun
  if (!('job' in begun)) {
    return print(io, begun, () => (total === 0 ? noneText(filter) : previewText(total, begun.sample, io)))
  }
  const command = `\`reveille replay --job ${shortId(begun.job)}\``
  if (total === 0 || wait === false) {
    const text =
      total === 0 ? noneText(filter) : `${counted(total, 'request')}: ${command} shows how far they are`
    return print(io, begun, () => text)
  }
  if (io.columns !== undefined) {
    const what = `${counted(total, 'request')}. The gateway goes on when you press Ctrl-C; ${command} shows it again.`
    io.err(`${what}\n`)
  }
  return follow(begun.job, ask, io, options)
}

/** Requests that were accepted have not failed, although their runs may have. */
function noneText({ outcome }: FilterQuery): string {
  const none = 'No request matches.'
  return outcome === 'failed' ? `${none} Failed runs: \`reveille retry --failed\`.` : none
}

function previewText(total: number, sample: readonly ItemOf<'listRequests'>[], io: Io): string {
  const rest = total > sample.length ? `; the newest ${sample.length} are` : ''
  return `${counted(total, 'request')} would be replayed${rest}:\n${itemsText('requests', sample, io)}`
}

/** Shows a job by its id or the end of it. */
async function followJob(name: string, io: Io, options: CommandOptions): Promise<number> {
  const ask = await createAsker(io)
  return follow(await ask((client) => jobIdOf(client, name)), ask, io, options)
}

async function cancelJob(name: string, io: Io): Promise<number> {
  const client = await openClient(io)
  const job = await client.ask('cancelJob', { params: { id: await jobIdOf(client, name) } })
  return print(io, job, () => stateText(job))
}

/** The newest jobs are searched. @throws CommandFailure */
async function jobIdOf(client: Client, name: string): Promise<string> {
  const { items } = await client.ask('listJobs', { query: { limit: 500 } })
  const [found, other] = items.filter(({ id }) => id.endsWith(name.toLowerCase()))
  if (found === undefined || name.length < 4) throw failure(`No replay of many requests ends in ${name}.`)
  if (other !== undefined) throw failure(`More than one ends in ${name}; give more of it.`)
  return found.id
}

/** Looks at the job until it is over, also over restarts of the gateway. */
async function follow(id: string, ask: Asker, io: Io, { wait }: CommandOptions): Promise<number> {
  const bar = createBar(io)
  for (;;) {
    const job = await ask(
      (client) => client.ask('readJob', { params: { id } }),
      () => bar.say('No gateway answers; the replay goes on once one does …'),
    )
    const { state, total, done, failed, skipped, failures } = job
    if (state !== 'running' || wait === false) {
      bar.clear()
      const reasons = failures.map(({ request, reason = '' }) => [
        shortId(request),
        printable(withShortIds(reason)),
      ])
      if (!io.json) io.err(reasons.map((line) => `${line.join(': ')}\n`).join(''))
      return print(io, job, () => stateText(job), failed === 0 ? 0 : 1)
    }
    bar.show(done + failed + skipped, total, stateText(job))
    await io.pause(lookMs)
  }
}

function stateText({ state, total, done, failed, skipped }: Answer<'readJob'>): string {
  const open = total - done - failed - skipped
  const counts = [
    `${done} replayed`,
    failed > 0 && `${failed} failed again`,
    skipped > 0 && `${skipped} skipped`,
    open > 0 && (state === 'cancelled' ? `${open} not replayed` : `${open} to go`),
  ]
  const head = state === 'cancelled' ? `Cancelled: ${counted(total, 'request')}` : counted(total, 'request')
  return `${head}: ${counts.filter(Boolean).join(', ')}.`
}

/** Asks until a gateway answers. `onWait` is called while none does. */
type Asker = <Value>(ask: (client: Client) => Promise<Value>, onWait?: () => void) => Promise<Value>

/**
 * Where the gateway listens is looked up again once it does not answer, because its next process may listen elsewhere.
 * @throws CommandFailure where none answers to begin with
 */
async function createAsker(io: Io): Promise<Asker> {
  let client: Client | undefined = await openClient(io)
  await client.ask('readHealth')
  return async (ask, onWait) => {
    for (let waited = 0; ; waited += lookMs) {
      try {
        client ??= await openClient(io)
        return await ask(client)
      } catch (failure) {
        if (!(failure instanceof GatewayUnreachable) || waited >= retryWindowMs) throw failure
        client = undefined
        onWait?.()
        await io.pause(lookMs)
      }
    }
  }
}
