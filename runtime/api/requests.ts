/** Handles the routes that list and show requests. */

import { RequestError } from '../http/errors.ts'
import { shownOfDigest } from '../http/index.ts'
import type { RequestHead, RequestRecord } from '../store/port.ts'
import { missing, refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import type { requestRoutes } from './routes/requests.ts'

/** Maximum number of replays listed for a request. */
const maxReplays = 20

export function createRequestHandlers(options: AdminOptions): Handlers<typeof requestRoutes> {
  const { read } = options.store
  return {
    async listRequests({ query }) {
      const page = await read.requests(storeFilters(query, options))
      return { ...page, items: page.items.map(shownRequest) }
    },
    async readRequest({ params: { id } }) {
      const request = (await read.request(id)) ?? missing('request')
      const { items } = await read.requests({ replayOf: id, limit: maxReplays })
      return {
        ...shownRequest(request),
        ...(request.head && shownHead(request.head)),
        ...(items.length > 0 && { replays: items.map((replay) => replay.id) }),
      }
    },
  }
}

/** Credentials are not in what is kept. */
function shownHead({ headers, query }: RequestHead) {
  const present = (fields: RequestHead['query']) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    )
  return { headers: present(headers), query: present(query) }
}

interface GivenFilters {
  readonly generation?: number
  readonly generationDigest?: string
  readonly since?: string
  readonly until?: string
}

/**
 * Reads the times among filters, and what they say about a generation: its number counts on this node alone, and a digest may be
 * shortened. `within` is the pointer of their object. @throws RequestError `INVALID_FIELD`
 */
export function storeFilters<Of extends GivenFilters>(
  { since, until, generation, generationDigest, ...filters }: Of,
  { archive, node }: Pick<AdminOptions, 'archive' | 'node'>,
  within = '',
) {
  const known = archive
    .list()
    .find(({ generation: number, digest }) =>
      generationDigest === undefined
        ? node !== undefined && generation !== undefined && number === generation
        : digest?.startsWith(generationDigest),
    )
  const digest = known?.digest?.slice(0, shownOfDigest) ?? generationDigest?.slice(0, shownOfDigest)
  return {
    ...filters,
    ...(digest !== undefined && { generationDigest: digest }),
    ...(generation !== undefined &&
      (digest === undefined || generationDigest !== undefined) && { generation }),
    ...(since !== undefined && { since: instantOf(since, `${within}/since`) }),
    ...(until !== undefined && { until: instantOf(until, `${within}/until`) }),
  }
}

/**
 * Returns this node's number of a generation that is named by its number or by the beginning of its digest; the digest names the same files on
 * all nodes. Undefined for a digest that is not kept here.
 */
export function generationNumber(named: string, { archive }: Pick<AdminOptions, 'archive'>) {
  // One digest in forty begins with eight digits.
  const isDigest = named.length >= minDigestLength
  const found = isDigest && archive.list().find(({ digest }) => digest?.startsWith(named))
  if (found) return found.generation
  return /^[1-9]\d{0,8}$/.test(named) ? Number(named) : undefined
}

const minDigestLength = 8

/** A time without a zone is UTC. */
export function instantOf(text: string, pointer: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const isZoned = /[zZ]$|T.*[+-]\d\d:?\d\d$/i.test(text)
  const iso = text.replace(' ', 'T').toUpperCase()
  const at = Date.parse(iso.includes('T') && !isZoned ? `${iso}Z` : iso)
  if (!Number.isNaN(at)) return at
  throw new RequestError('INVALID_FIELD', { details: [{ pointer, message: 'must be a time that there is' }] })
}

export function refuseNoFilter(): never {
  const details = [{ pointer: '/filter', message: 'must have at least one filter' }]
  return refuse('INVALID_FIELD', {
    sentence: 'Without a filter this would concern every request.',
    details,
  })
}

/** The raw body and its head are no part of a record that is shown. */
export function shownRequest({ body, bodyKept = false, head: _head, ...record }: RequestRecord) {
  return { ...record, bodyKept: bodyKept || body !== undefined }
}
