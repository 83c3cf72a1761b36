/** Has the gateway do many requests again, and shows how far it is; the gateway goes on when this command ends. */

import { randomUUID } from 'node:crypto'
import { printable } from '../../observe/printable.ts'
import type { Page, ReplayJob, ReplayJobItem, RequestRecord } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import { type CommandOptions, type Io, wrapText } from '../io.ts'
import { pasted } from '../pasted.ts'
import { createBar } from '../progress-bar.ts'
import { type Admin, doneMs, GatewayUnreachable, openAdmin } from '../reading/admin-client.ts'
import { recordViews } from '../reading/record-views.ts'
import type { RequestFilterQuery } from '../reading/request-filters.ts'
import { formatTable, shortId, withShortIds } from '../table.ts'
import { type ReplayTerms, termsOf } from './replay-requests.ts'

interface FollowOptions extends CommandOptions {
  readonly wait?: boolean
}

type JobAnswer = ReplayJob & { readonly failures: readonly ReplayJobItem[] }

interface Preview {
  readonly total: number
  readonly sample: readonly RequestRecord[]
}

/** Between two looks at the job. Milliseconds. */
const lookMs = 500
/** How long a gateway that does not answer is asked again. Milliseconds. */
const retryWindowMs = 300_000

/** @returns 1 where one of them failed again */
export async function replayByFilter(
  filter: RequestFilterQuery,
  options: FollowOptions & ReplayTerms,
  io: Io,
): Promise<number> {
  const terms = termsOf(options)
  if (options.dryRun) return preview(filter, options, io)
  // With its key the order can be given again where its answer was lost.
  const body = { filter, key: randomUUID(), ...terms }
  const asker = await createAsker(options, io)
  const begun = (await asker((admin) =>
    admin.sendJson('POST', '/api/requests/replay', body, { ms: doneMs }),
  )) as { readonly job: string; readonly total: number }
  if (begun.total === 0) {
    io.out(options.json ? `${JSON.stringify(begun, null, 2)}\n` : 'No request matches.\n')
    return 0
  }
  if (options.wait === false) {
    const line = `${counted(begun.total, 'request')}: ${pasted(`replay --job ${shortId(begun.job)}`, io)} shows how far they are`
    io.out(options.json ? `${JSON.stringify(begun, null, 2)}\n` : `${line}\n`)
    return 0
  }
  if (io.columns !== undefined) {
    const command = pasted(`replay --job ${shortId(begun.job)}`, io)
    const what = `${counted(begun.total, 'request')}. The gateway goes on when you press Ctrl-C; ${command} shows it again.`
    io.err(`${wrapText(what, io)}\n`)
  }
  return follow(begun.job, asker, options, io)
}

async function preview(filter: RequestFilterQuery, options: CommandOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const order = { filter, dryRun: true }
  const found = (await admin.sendJson('POST', '/api/requests/replay', order, { ms: doneMs })) as Preview
  if (options.json) {
    io.out(`${JSON.stringify(found, null, 2)}\n`)
    return 0
  }
  const { total, sample } = found
  if (total === 0) io.out('No request matches.\n')
  else {
    const { header, row } = recordViews.requests
    const rows = sample.map((item) => row(item as never, io.now()))
    const rest = total > sample.length ? `; the newest ${sample.length} are` : ''
    io.out(`${counted(total, 'request')} would be replayed${rest}:\n${formatTable(header, rows, io.columns)}`)
  }
  return 0
}

/** Shows a job by its id or the end of it. */
export async function followJob(name: string, options: FollowOptions, io: Io): Promise<number> {
  const asker = await createAsker(options, io)
  const id = (await asker((admin) => jobIdOf(admin, name))) as string
  return follow(id, asker, options, io)
}

export async function cancelJob(name: string, options: CommandOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const job = (await admin.post(`/api/jobs/${await jobIdOf(admin, name)}/cancel`)) as JobAnswer
  io.out(options.json ? `${JSON.stringify(job, null, 2)}\n` : `${stateText(job)}\n`)
  return 0
}

/** The newest jobs are searched. @throws CommandFailure */
async function jobIdOf(admin: Admin, name: string): Promise<string> {
  const { items } = (await admin.get('/api/jobs', { limit: 500 })) as Page<ReplayJob>
  const [found, other] = items.filter(({ id }) => id.endsWith(name.toLowerCase()))
  if (found === undefined || name.length < 4)
    throw new CommandFailure(1, `No replay of many requests ends in ${name}.`)
  if (other !== undefined) throw new CommandFailure(1, `More than one ends in ${name}; give more of it.`)
  return found.id
}

/** Looks at the job until it is over, also over restarts of the gateway. */
async function follow(id: string, asker: Asker, options: FollowOptions, io: Io): Promise<number> {
  const bar = createBar(io)
  for (;;) {
    const job = (await asker(
      (admin) => admin.get(`/api/jobs/${id}`),
      () => bar.say('No gateway answers; the replay goes on once one does …'),
    )) as JobAnswer
    if (job.state !== 'running' || options.wait === false) {
      bar.clear()
      return report(job, options, io)
    }
    const { total, done, failed, skipped } = job
    bar.show(done + failed + skipped, total, stateText(job))
    await io.pause(lookMs)
  }
}

function report(job: JobAnswer, { json = false }: CommandOptions, io: Io): number {
  if (json) io.out(`${JSON.stringify(job, null, 2)}\n`)
  else {
    for (const { request, reason = '' } of job.failures)
      io.err(`${shortId(request)}: ${printable(withShortIds(reason))}\n`)
    io.out(`${stateText(job)}\n`)
  }
  return job.failed === 0 ? 0 : 1
}

function stateText({ state, total, done, failed, skipped }: ReplayJob): string {
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

/** Has something asked until a gateway answers. `onWait` is called while none does. */
type Asker = (ask: (admin: Admin) => Promise<unknown>, onWait?: () => void) => Promise<unknown>

/**
 * Where the gateway listens is looked up again once it does not answer, because its next process may listen elsewhere.
 * @throws CommandFailure where none answers to begin with
 */
async function createAsker(options: CommandOptions, io: Io): Promise<Asker> {
  let admin: Admin | undefined = await openAdmin(options, io)
  await admin.get('/api/health')
  return async (ask, onWait) => {
    for (let waited = 0; ; waited += lookMs) {
      try {
        admin ??= await openAdmin(options, io)
        return await ask(admin)
      } catch (failure) {
        if (!(failure instanceof GatewayUnreachable) || waited >= retryWindowMs) throw failure
        admin = undefined
        onWait?.()
        await io.pause(lookMs)
      }
    }
  }
}
