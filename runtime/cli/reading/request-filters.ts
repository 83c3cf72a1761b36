/** The options by which requests are chosen, and what the API is asked for by them. */

import { InvalidArgumentError, Option } from 'commander'
import { requestOutcomes } from '../../store/records.ts'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'

/** The filters as they are given. */
export interface RequestFilterOptions {
  readonly outcome?: string
  readonly endpoint?: string
  readonly code?: string
  readonly mapping?: string
  readonly client?: string
  readonly delivery?: string
  readonly generation?: GenerationFilter
  readonly node?: string
  readonly since?: string
  readonly until?: string
}

/** A number is that of the node that is asked; a digest names the same files on all nodes. */
type GenerationFilter = { readonly generation: number } | { readonly generationDigest: string }

/** @throws InvalidArgumentError */
function generationFilter(text: string): GenerationFilter {
  if (/^[1-9]\d{0,8}$/.test(text)) return { generation: Number(text) }
  if (/^[\da-f]{8,64}$/.test(text)) return { generationDigest: text }
  throw new InvalidArgumentError('It must be a number, or at least the first 8 digits of a digest.')
}

/** The filters as the API takes them, in queries and in bodies. */
export type RequestFilterQuery = Readonly<Record<string, string | number>>

export function requestFilterOptions(): Option[] {
  return [
    new Option('--outcome <outcome>', 'only these').choices(requestOutcomes),
    new Option('--endpoint <name>', 'only those to /hooks/<name>'),
    new Option('--code <code>', 'only those that ended with this error code, such as TRANSFORM_FAILED'),
    new Option('--mapping <id>', 'only those that this mapping decided'),
    new Option('--client <address>', 'only those of this sender'),
    new Option('--delivery <id>', "only those with the sender's own id, such as x-github-delivery"),
    new Option(
      '--generation <generation>',
      'only those that it decided: its number, or how its digest begins',
    ).argParser(generationFilter),
    new Option('--node <name>', 'only those that this node accepted'),
    new Option('--since <when>', 'only those since then: 8h, 30m, 7d, 2026-01-31 or 2026-01-31T08:00'),
    new Option('--until <when>', 'only those before then, written likewise'),
  ]
}

/** @throws CommandFailure (bad usage) for a time that cannot be read */
export function requestFilterQuery(
  {
    outcome,
    endpoint,
    code,
    mapping,
    client,
    delivery,
    generation,
    node,
    since,
    until,
  }: RequestFilterOptions,
  io: Pick<Io, 'now'>,
): RequestFilterQuery {
  const given = {
    outcome,
    endpoint,
    code,
    mapping,
    client,
    deliveryId: delivery,
    ...generation,
    node,
    since: since && isoOf('--since', since, io),
    until: until && isoOf('--until', until, io),
  }
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  )
}

function isoOf(flag: string, text: string, io: Pick<Io, 'now'>): string {
  return new Date(momentOf(flag, text, io.now())).toISOString()
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/**
 * Reads `8h` as eight hours ago, and a date or a time without a zone as one of this machine's clock, like those that lists show.
 * @throws CommandFailure (bad usage)
 */
export function momentOf(flag: string, text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})\s?([smhdw])$/.exec(text.trim()) ?? []
  if (count !== undefined) return now - Number(count) * (unitMs[unit] ?? 0)
  const [, day, time = 'T00:00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?(Z|[+-]\d\d:?\d\d)?$/i.exec(text.trim()) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${day}${time.replace(' ', 'T')}${zone}`)
  if (!Number.isNaN(at)) return at
  throw new CommandFailure(
    2,
    `${flag} takes a span such as 30m, 8h or 7d, or a time such as 2026-01-31 or 2026-01-31T08:00, and not "${text}".`,
  )
}
