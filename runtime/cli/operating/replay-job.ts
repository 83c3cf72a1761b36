/** Has the gateway do many requests again, and shows how far it is; the gateway goes on when this command ends. */

import { randomUUID } from 'node:crypto'
import type { Answer, Asked, ItemOf } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import { type Client, GatewayUnreachable, openClient } from '../client.ts'
import { failure } from '../command-failure.ts'
import { type CommandOptions, type Io, wrapText } from '../io.ts'
import { pasted } from '../pasted.ts'
import { counted, createBar, formatTable, print, shortId, withShortIds } from '../print.ts'
import type { FilterQuery } from '../records/filters.ts'
import { kinds } from '../records/kinds.ts'

/** Between two looks at the job. Milliseconds. */
const lookMs = 500
/** How long a gateway that does not answer is asked again. Milliseconds. */
const retryWindowMs = 300_000

/** @returns 1 where one of them failed again */
export async function replayByFilter(
  filter: FilterQuery,
  terms: Partial<Asked<'replayRequests'>['body'] & object>,
  options: CommandOptions,
  io: Io,
): Promise<number> {
  const { wait } = options
  // With its key the order can be given again where its answer was lost.
  const body = { filter, ...terms, ...(!terms.dryRun && { key: randomUUID() }) }
  const ask = await createAsker(io)
  const begun = await ask((client) => client.ask('replayRequests', { body }))
  const { total } = begun
  if (!('job' in begun)) {
    return print(io, begun, () => previewText(total, begun.sample, io))
  }
  const command = pasted(`replay --job ${shortId(begun.job)}`, io)
  if (total === 0 || wait === false) {
    const text =
      total === 0 ? 'No request matches.' : `${counted(total, 'request')}: ${command} shows how far they are`
    return print(io, begun, () => text)
  }
  if (io.columns !== undefined) {
    const what = `${counted(total, 'request')}. The gateway goes on when you press Ctrl-C; ${command} shows it again.`
    io.err(`${wrapText(what, io)}\n`)
  }
  return follow(begun.job, ask, options, io)
}

function previewText(total: number, sample: readonly ItemOf<'listRequests'>[], io: Io): string {
  if (total === 0) return 'No request matches.'
  const { header, row } = kinds.requests
  const rows = sample.map((item) => row(item as never, io).map(String))
  const rest = total > sample.length ? `; the newest ${sample.length} are` : ''
  return `${counted(total, 'request')} would be replayed${rest}:\n${formatTable(header, rows, io.columns)}`
}

/** Shows a job by its id or the end of it. */
export async function followJob(name: string, options: CommandOptions, io: Io): Promise<number> {
  const ask = await createAsker(io)
  return follow(await ask((client) => jobIdOf(client, name)), ask, options, io)
}

export async function cancelJob(name: string, io: Io): Promise<number> {
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
async function follow(id: string, ask: Asker, { wait }: CommandOptions, io: Io): Promise<number> {
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
