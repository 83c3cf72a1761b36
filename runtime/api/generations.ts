/** Handles the routes that list generations, reload the files, and roll back to a generation that is kept. */

import type { GenerationRecord, ReloadResult } from '@reveille/engine'
import type { FastifyReply } from 'fastify'
import { queryRefused, refuse } from './errors.ts'
import { createGenerationFiles } from './generation-files.ts'
import type { Call, Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { pageIn } from './pages.ts'
import type { gatewayRoutes } from './routes/gateway.ts'

/** Default number of stored requests that a dry run examines. */
const usualRequests = 100

export function createGenerationHandlers(options: AdminOptions) {
  const { reloader, archive } = options
  const files = createGenerationFiles(options)
  /** The refusal of the files as they are now; a later reload without errors ends it. */
  let currentRefusal: GenerationRecord | undefined
  reloader.subscribe((event) => {
    if (event.type === 'snapshot-swapped' || event.type === 'content-unchanged') currentRefusal = undefined
    else if (event.type === 'candidate-rejected' && event.rollbackTo === undefined)
      currentRefusal = archive.list().find(({ state }) => state === 'rejected')
  })

  return {
    async listGenerations({ query }) {
      const page = pageIn(archive.list(), query, cursorOf)
      return { ...page, items: itemsOf(archive, page.items, currentRefusal) }
    },

    async readGeneration({ params }) {
      const number = numberOf(params)
      const record = archive.list().find(({ generation }) => generation === number)
      const kept = await keptAs(archive, number)
      const [item] = record === undefined ? [] : itemsOf(archive, [record], currentRefusal)
      return item === undefined || kept === undefined
        ? missing(params)
        : { ...item, files: [...kept.sources.keys()] }
    },

    async readGenerationFile({ params, query }) {
      const kept = await keptAs(archive, numberOf(params))
      if (kept === undefined) return missing(params)
      const file = await files.find(kept, query.path)
      const { number } = params
      const sentence = `Generation ${number} has no such file; GET /api/generations/${number} names them.`
      return file ?? refuse('NOT_FOUND', { sentence })
    },

    async compareGenerations({ params, query }) {
      const to = numberOf(params)
      const [before, after] = [await keptAs(archive, query.with), await keptAs(archive, to)]
      if (to === undefined || after === undefined) return missing(params)
      if (before === undefined) return missing({ number: String(query.with) })
      return { from: query.with, to, files: await files.compare(before, after) }
    },

    async reload({ query, by, reply }) {
      return (
        (await preview(options, query, reply)) ??
        answer(reply, await reloader.reload({ endsRollback: true, by }))
      )
    },

    async rollBack({ params, query, by, reply }) {
      const number = numberOf(params)
      if (number === undefined) return missing(params)
      const tried = await preview(options, query, reply, number)
      if (tried) return hasCode(tried.reload, 'GENERATION_NOT_KEPT') ? missing(params) : tried
      const result = await reloader.rollback(number, by)
      if (hasCode(result, 'GENERATION_NOT_KEPT')) return missing(params)
      // The archive is on the disk before the reply, as the gateway may be stopped right after it.
      await archive.saved()
      return answer(reply, result)
    },
  } satisfies Partial<Handlers<typeof gatewayRoutes>>

  function missing({ number }: NumberParameter): FastifyReply {
    const numbers = archive.list().flatMap(({ generation }) => generation ?? [])
    const problem = /^\d{1,15}$/.test(number)
      ? `Generation ${number} is not kept`
      : 'A generation is a number'
    return refuse('NOT_FOUND', { sentence: `${problem}; kept are ${numbers.join(', ')}.` })
  }
}

type DryRunQuery = Call<typeof gatewayRoutes.reload>['query']

/** Carries out the dry run that the query asks for, if any: of a reload, or of a rollback to `source`. */
async function preview(
  { isDraining, dryRun }: AdminOptions,
  { dryRun: isDry = false, ...terms }: DryRunQuery,
  reply: FastifyReply,
  source?: number,
) {
  if (!isDry && Object.keys(terms).length > 0) return refuseOfDryRun(terms)
  if (isDraining()) return refuse('DRAINING')
  if (!isDry) return undefined
  const { limit = usualRequests, callOut = false } = terms
  const tried = await dryRun(limit, { callsOut: callOut, ...(source !== undefined && { source }) })
  reply.code(tried.reload.ok ? 200 : 409)
  return tried
}

function itemsOf(
  archive: AdminOptions['archive'],
  records: readonly GenerationRecord[],
  currentRefusal: GenerationRecord | undefined,
) {
  const isHeld = archive.rollback() !== undefined
  return records.map((record) => ({
    ...record,
    ...(isHeld && record.state === 'live' && { rolledBack: true }),
    ...(record === currentRefusal && { isCurrent: true }),
  }))
}

function refuseOfDryRun(given: object): never {
  const message = 'is for a dry run: add dryRun=true'
  const details = Object.keys(given).map((name) => ({ pointer: `/${name}`, message }))
  return refuse('INVALID_FIELD', { sentence: queryRefused, details })
}

/** A refused candidate is a conflict with what the files say; the body has its diagnostics. */
function answer(reply: FastifyReply, result: ReloadResult): ReloadResult | FastifyReply {
  if (hasCode(result, 'RELOADER_CLOSED')) return refuse('DRAINING')
  reply.code(result.ok ? 200 : 409)
  return result
}

function hasCode(result: ReloadResult, code: string): boolean {
  return !result.ok && result.diagnostics.some((diagnostic) => diagnostic.code === code)
}

interface NumberParameter {
  readonly number: string
}

function numberOf({ number }: NumberParameter): number | undefined {
  return /^\d{1,15}$/.test(number) ? Number(number) : undefined
}

async function keptAs({ read }: AdminOptions['archive'], number: number | undefined) {
  return number === undefined ? undefined : read(number)
}

/** Records have no ids. New ones are added in front, so that a cursor keeps its place. */
function cursorOf({ generation, digest = '', at }: GenerationRecord): string {
  return `${at}-${generation ?? digest.slice(0, 12)}`
}
