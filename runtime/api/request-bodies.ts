/** Handles the routes that show the body of a request and that forget requests. */

import { isUtf8 } from 'node:buffer'
import { bodyNotKept } from '../replay/index.ts'
import { pagesOf } from '../store/pages.ts'
import type { Id, RequestRecord } from '../store/port.ts'
import { missing, refuse } from './errors.ts'
import { type Handlers, hasLeft } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { refuseNoFilter, storeFilters } from './requests.ts'
import type { replayRoutes } from './routes/replays.ts'

/** Secrets are looked for in the main thread, so that a longer body is answered raw alone. Bytes. */
export const maxRedactedBytes = 4 * 1024 * 1024
/** As many as the store erases at a time. */
const stride = 500

export function createRequestBodyHandlers(options: AdminOptions) {
  const { store, log, now, mask } = options
  const { read } = store

  return {
    async readRequestBody({ params: { id }, query: { raw = false }, by, reply }) {
      const record = (await read.request(id)) ?? missing('request')
      const { body, endpoint } = record
      if (body === undefined) return refuse('BODY_NOT_KEPT', { sentence: bodyNotKept(record) })
      if (!raw && body.length > maxRedactedBytes)
        return refuse('BODY_TOO_LARGE', {
          sentence:
            `The body has ${body.length} bytes, and secrets are redacted in at most ${maxRedactedBytes}: ` +
            'ask for it as it came, by `?raw=true` or `--raw`.',
        })
      if (raw) log.info({ event: 'request-body-read', requestId: id, endpoint, bytes: body.length, by })
      // The type that the sender gave, or one that a browser guesses, could make a page of it.
      return reply
        .type('application/octet-stream')
        .header('content-disposition', `attachment; filename="${id}.body"`)
        .header('content-security-policy', "sandbox; default-src 'none'")
        .send(raw ? Buffer.from(body) : maskedBody(body, mask))
    },

    async forgetRequests({ body: { ids, filter: given, dryRun = false }, by, reply }) {
      if ((ids === undefined) === (given === undefined)) {
        const details = [{ pointer: '/ids', message: 'or /filter must be given, and not both' }]
        return refuse('INVALID_FIELD', { details })
      }
      const filter = given && storeFilters(given, options, '/filter')
      if (filter && Object.keys(filter).length === 0) return refuseNoFilter()
      const chosen = filter ? pagesOf((page) => read.requests({ ...filter, ...page })) : [named(ids ?? [])]
      const replays = new Set<Id>()
      let [total, forgotten] = [0, 0]
      const refused: { readonly id: Id; readonly reason: string }[] = []
      for await (const page of chosen) {
        if (hasLeft(reply)) return reply
        const all = await withReplays(page, replays)
        total += all.length
        if (dryRun) continue
        for (let from = 0; from < all.length; from += stride) {
          const requests = all.slice(from, from + stride)
          const result = await store.command({ type: 'forget', requests, at: now(), by })
          forgotten += result.done ?? 0
          refused.push(...(result.refused ?? []))
        }
      }
      if (dryRun) return { ok: true, total }
      log.info({ event: 'requests-forgotten', count: forgotten, refused: refused.length, by })
      return { ok: true, forgotten, refused: refused.slice(0, stride) }
    },
  } satisfies Partial<Handlers<typeof replayRoutes>>

  /** Replays hold the same content as their original. `seen` are those of earlier pages, which come once. */
  async function withReplays(
    page: readonly Pick<RequestRecord, 'id' | 'replayOf'>[],
    seen: Set<Id>,
  ): Promise<readonly Id[]> {
    const all = new Set(page.map(({ id }) => id).filter((id) => !seen.has(id)))
    for (const { id, replayOf } of page) if (replayOf !== undefined) seen.add(id)
    for (const id of await read.replaysOf(page.map(({ id }) => id))) {
      if (!seen.has(id)) all.add(id)
      seen.add(id)
    }
    return [...all]
  }
}

function named(ids: readonly Id[]): readonly Pick<RequestRecord, 'id' | 'replayOf'>[] {
  return ids.map((id) => ({ id: id.toLowerCase() }))
}

/** Bytes that are not UTF-8 are searched one by one, so that the others stay unchanged. */
export function maskedBody(body: Uint8Array, { text }: AdminOptions['mask']): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const encoding = isUtf8(bytes) ? 'utf8' : 'latin1'
  return Buffer.from(text(bytes.toString(encoding)), encoding)
}
