/** Registers the routes that list generations, reload the files, and roll back to a generation that is kept. */

import type { GenerationRecord, ReloadResult } from '@reveille/engine'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuse, refuseCursor, refuseQuery } from './errors.ts'
import type { AdminOptions } from './options.ts'
import { getRoute, pageKeys, postRoute, queryOf } from './routes.ts'

/** How many stored requests a dry run looks at by default. */
const usualRequests = 100
const mostRequests = 10_000
/** More than an archive keeps. */
const usualPage = 50

export function registerGenerations(api: FastifyInstance, options: AdminOptions): void {
  const { reloader, archive, isDraining, dryRun } = options
  /** The refusal of the files as they are now; a later reload without errors ends it. */
  let standing: GenerationRecord | undefined
  reloader.subscribe((event) => {
    if (event.type === 'snapshot-swapped' || event.type === 'content-unchanged') standing = undefined
    else if (event.type === 'candidate-rejected' && event.rollbackTo === undefined)
      standing = archive.list().find(({ state }) => state === 'rejected')
  })

  function itemsOf(records: readonly GenerationRecord[]): readonly object[] {
    const isHeld = archive.rollback() !== undefined
    return records.map((record) => ({
      ...record,
      ...(isHeld && record.state === 'live' && { rolledBack: true }),
      ...(record === standing && { stands: true }),
    }))
  }

  getRoute(api, '/generations', queryOf(pageKeys), async (request, reply) => {
    const { limit = usualPage, cursor } = request.query as { limit?: number; cursor?: string }
    const records = archive.list()
    const start = cursor === undefined ? 0 : records.findIndex((record) => cursorOf(record) === cursor) + 1
    if (cursor !== undefined && start === 0) return refuseCursor(reply)
    const last = records[start + limit - 1]
    const next = last && start + limit < records.length ? { next: cursorOf(last) } : {}
    return { items: itemsOf(records.slice(start, start + limit)), ...next }
  })

  getRoute(api, '/generations/:number', {}, async (request, reply) => {
    const number = numberOf(request)
    const record = archive.list().find(({ generation }) => generation === number)
    const files = number === undefined ? undefined : await archive.filesOf(number)
    if (record === undefined || files === undefined) return missing(reply, request)
    const [item] = itemsOf([record])
    return { ...item, files }
  })

  postRoute(api, '/reload', reloadQuery, async (request, reply) => {
    const { dryRun: isDry = false, limit } = request.query as { dryRun?: boolean; limit?: number }
    if (limit !== undefined && !isDry) {
      return refuseQuery(reply, [{ pointer: '/limit', message: 'is for a dry run: add dryRun=true' }])
    }
    if (isDraining()) return refuse(reply, 'DRAINING')
    if (!isDry) return answer(reply, await reloader.reload({ endsRollback: true }))
    const tried = await dryRun(limit ?? usualRequests)
    return reply.code(tried.reload.ok ? 200 : 409).send(tried)
  })

  postRoute(api, '/generations/:number/rollback', {}, async (request, reply) => {
    const number = numberOf(request)
    if (isDraining()) return refuse(reply, 'DRAINING')
    if (number === undefined) return missing(reply, request)
    const result = await reloader.rollback(number)
    if (hasCode(result, 'GENERATION_NOT_KEPT')) return missing(reply, request)
    // The archive is on the disk before the reply, as the gateway may be stopped right after it.
    await archive.saved()
    return answer(reply, result)
  })

  function missing(reply: FastifyReply, { params }: FastifyRequest): FastifyReply {
    const numbers = archive.list().flatMap(({ generation }) => generation ?? [])
    const { number } = params as { number: string }
    const asked = /^\d{1,15}$/.test(number) ? `Generation ${number} is not kept` : 'A generation is a number'
    return refuse(reply, 'NOT_FOUND', { sentence: `${asked}; kept are ${numbers.join(', ')}.` })
  }
}

/** A refused candidate is a conflict with what the files say; the body has its diagnostics. */
function answer(reply: FastifyReply, result: ReloadResult): FastifyReply {
  if (hasCode(result, 'RELOADER_CLOSED')) return refuse(reply, 'DRAINING')
  return reply.code(result.ok ? 200 : 409).send(result)
}

function hasCode(result: ReloadResult, code: string): boolean {
  return !result.ok && result.diagnostics.some((diagnostic) => diagnostic.code === code)
}

function numberOf({ params }: FastifyRequest): number | undefined {
  const { number } = params as { number: string }
  return /^\d{1,15}$/.test(number) ? Number(number) : undefined
}

/** Records have no ids. New ones are added in front, so that a cursor keeps its place. */
function cursorOf({ generation, digest = '', at }: GenerationRecord): string {
  return `${at}-${generation ?? digest.slice(0, 12)}`
}

const reloadQuery = queryOf({
  dryRun: { type: 'boolean' },
  limit: { type: 'integer', minimum: 1, maximum: mostRequests },
})
