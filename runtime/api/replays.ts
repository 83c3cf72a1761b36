/** Handles the routes that do requests again: one at once, or many by a job. */

import { type FieldError, redacted } from '@reveille/engine'
import type { FastifyReply } from 'fastify'
import type { Unreplayable } from '../replay/index.ts'
import type { Id, RequestRecord } from '../store/port.ts'
import { dryRunBy } from './dry-runs.ts'
import { missing, refuse } from './errors.ts'
import { type Handlers, hasLeft } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { maskedBody, maxRedactedBytes } from './request-bodies.ts'
import { refuseNoFilter, shownRequest, storeFilters } from './requests.ts'
import type { replayRoutes } from './routes/replays.ts'

/** Maximum number of requests that a dry run shows, and of failures that a job shows. */
const maxShown = 20

export function createReplayHandlers(options: AdminOptions) {
  const { store, log, now, replays, replayJobs } = options
  const { read } = store

  return {
    async replayRequest({ params: { id }, body, by: asker }) {
      const { dryRun = false, deliverAgain = false, payload, generation, generationDigest, callOut } = body
      if (!dryRun) {
        const details = onlyForDryRuns({ generation, generationDigest, callOut })
        if (details.length > 0) return refuse('INVALID_FIELD', { details })
      }
      const edited = payload === undefined ? undefined : editedOf(payload)
      if (edited === null) {
        const details = [{ pointer: '/payload', message: 'must be a text, an object or a list' }]
        return refuse('INVALID_FIELD', { details })
      }
      if (edited !== undefined && (await lacksSecret(options, id, edited.bytes))) {
        const details = [
          { pointer: '/payload', message: `must not have ${redacted} in the place of a secret` },
        ]
        const sentence =
          `Secrets are shown as ${redacted}, and this payload has that where the original has one: ` +
          'write the secret, or edit the body as it came, which `?raw=true` and `--raw` give.'
        return refuse('INVALID_FIELD', { sentence, details })
      }
      if (dryRun) {
        const restored = await replays.restore(id, edited)
        if (!restored.ok) return refuseReplay(restored)
        const named = generationDigest ?? generation?.toString() ?? 'live'
        const received = { ...restored.received, now: now() }
        const { by: _by, ...dry } = await dryRunBy(named, received, options, callOut)
        return dry
      }
      const answer = await replays.perform(id, { edited, deliverAgain, by: asker })
      if (!answer.ok) return refuseReplay(answer)
      const { requestId, replayOf, outcome, status } = answer
      log.info({
        event: 'request-replay-asked',
        requestId,
        replayOf,
        outcome,
        status,
        deliverAgain,
        by: asker,
      })
      return answer
    },

    async replayRequests({ body, by, reply }) {
      const { filter: given, dryRun = false, deliverAgain, key } = body
      const filter = storeFilters(given, options, '/filter')
      if (Object.keys(filter).length === 0) return refuseNoFilter()
      const ids = await replayJobs.choose(filter, () => !hasLeft(reply))
      if (hasLeft(reply)) return reply
      if (dryRun) return preview(read, ids)
      const terms = { ...(deliverAgain && { deliverAgain }), ...(key !== undefined && { key }) }
      const job = await replayJobs.begin(ids, filter, terms, by)
      const { total = ids.length } = (await read.job(job)) ?? {}
      reply.code(202)
      return { ok: true, job, total }
    },

    listJobs: ({ query }) => read.jobs(query),

    async readJob({ params: { id } }) {
      return (await jobOf(read, id)) ?? missing('job')
    },

    async cancelJob({ params: { id }, by }) {
      const result = await store.command({ type: 'job-cancel', job: id, at: now() })
      if (!result.ok) {
        if (result.why === 'unknown') return missing('job')
        return refuse('WRONG_STATE', { sentence: `The job cannot be cancelled: ${result.reason}.` })
      }
      log.info({ event: 'replay-job-cancelled', jobId: id, by })
      return (await jobOf(read, id)) ?? missing('job')
    },
  } satisfies Partial<Handlers<typeof replayRoutes>>
}

type Read = AdminOptions['store']['read']

/** True if an edited body was made of one that is shown without its secrets, and still lacks one. */
async function lacksSecret({ store, mask }: AdminOptions, id: Id, edited: Buffer): Promise<boolean> {
  if (!edited.includes(redacted)) return false
  const body = (await store.read.request(id))?.body
  if (body === undefined || body.byteLength > maxRedactedBytes) return false
  return !maskedBody(body, mask).equals(body)
}

async function preview(read: Read, ids: readonly Id[]) {
  const records = await Promise.all(
    ids
      .slice(-maxShown)
      .reverse()
      .map((id) => read.request(id)),
  )
  const sample = records.filter((record) => record !== undefined).map(asItem)
  return { ok: true as const, total: ids.length, sample }
}

async function jobOf(read: Read, id: string) {
  const job = await read.job(id)
  if (job === undefined) return undefined
  const failures = await Promise.all(
    (['failed', 'skipped'] as const).map((state) =>
      read.jobItems(id, { state, limit: maxShown, newestFirst: true }),
    ),
  )
  return { ...job, failures: failures.flatMap(({ items }) => items).slice(0, maxShown) }
}

/** As lists show it. */
function asItem({ trace: _trace, ...record }: RequestRecord) {
  return shownRequest(record)
}

/** Null where the payload cannot be a body. */
function editedOf(payload: unknown) {
  if (typeof payload === 'string') return { bytes: Buffer.from(payload), isJson: false }
  if (typeof payload !== 'object' || payload === null) return null
  return { bytes: Buffer.from(JSON.stringify(payload)), isJson: true }
}

function onlyForDryRuns(given: Readonly<Record<string, unknown>>): FieldError[] {
  return Object.entries(given)
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([name]) => ({ pointer: `/${name}`, message: 'is for a dry run: add dryRun: true' }))
}

export function refuseReplay({ code, sentence }: Unreplayable): FastifyReply {
  if (code === 'REPLAYED') return refuse('WRONG_STATE', { sentence })
  return refuse(code, { sentence })
}
