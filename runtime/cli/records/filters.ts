/** The options by which records are chosen: those of the query of a list, or of the body of an order about many. */

import { InvalidArgumentError, Option } from 'commander'
import { pageQuery } from '../../api/routes/declaration.ts'
import { routes } from '../../api/routes/index.ts'
import type { Properties } from '../../api/routes/schema.ts'
import { badUsage } from '../command-failure.ts'
import type { CommandOptions, Filter, FilterOptions, Io } from '../io.ts'

export type FilterQuery = Readonly<Record<string, string | number>>

/** The schema's properties that an option needs. */
interface OptionSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  /** In the words of a problem: `a time: …`. */
  readonly expects?: string
}

/** Not options of their own: the pages of a list, what `--generation` says too, and what takes a whole id. */
const others = new Set([...Object.keys(pageQuery), 'generationDigest', 'replayOf'])

/** The name of an option's value in the help. Default: as the option. */
const valueNames = { client: 'address', delivery: 'id', sessionKey: 'key' } as FilterOptions

/** The filters among the properties of a query or a body, by the names of their options. */
export function filtersOf(properties: Properties): ReadonlyMap<Filter, OptionSchema> {
  const own = Object.entries(properties as Readonly<Record<string, OptionSchema>>).filter(
    ([key, { type, enum: values }]) =>
      !others.has(key) && (values !== undefined || /string|integer/.test(`${type}`)),
  )
  return new Map(own.map(([key, said]) => [(key === 'deliveryId' ? 'delivery' : key) as Filter, said]))
}

export const requestFilters = filtersOf(routes.listRequests.query)

/** Every filter, for a command that lists any kind. The values of a state depend on that. */
export const allFilters = new Map<Filter, OptionSchema>([
  ...filtersOf(routes.listDeliveries.query),
  ...filtersOf(routes.listRuns.query),
  ['state', {}],
  ...requestFilters,
])

export function filterOptions(filters: ReadonlyMap<Filter, OptionSchema>): Option[] {
  return [...filters].map(([name, { description = 'Only these.', enum: values, expects = '' }]) => {
    const isTime = expects.startsWith('a time')
    const value = isTime ? 'when' : (valueNames[name] ?? name)
    const form = isTime ? ': 8h, 30m, 7d, 2026-01-31 or 2026-01-31T08:00' : ''
    const more = name === 'generation' ? ', or by the beginning of its digest' : form
    const about = description.replace(/^O/, 'o').replace(/\.$/, more)
    const option = new Option(`${flagOf(name)} <${value}>`, about)
    if (values) option.choices(values)
    if (name === 'generation') option.argParser((text) => generation(text))
    return option
  })
}

/** @throws InvalidArgumentError for what is neither a number nor the beginning of a digest, nor `live` where that is one */
export function generation(text: string, isLiveOne = false): string {
  if (/^([1-9]\d{0,8}|[\da-f]{8,64})$/.test(text) || (isLiveOne && text === 'live')) return text
  const live = isLiveOne ? ', or `live`' : ''
  throw new InvalidArgumentError(`It must be a number, or at least the first 8 digits of a digest${live}.`)
}

/** A number is that of the node that is asked; a digest names the same files on all nodes. */
export function generationQuery(
  text: string,
): { readonly generation: number } | { readonly generationDigest: string } {
  return /^\d{1,9}$/.test(text) ? { generation: Number(text) } : { generationDigest: text }
}

/** The given filters as the API names them. @throws CommandFailure (bad usage) for a time that cannot be read */
export function queryOf(io: Pick<Io, 'now'>, options: FilterOptions): FilterQuery {
  const query: Record<string, string | number> = {}
  for (const name of allFilters.keys()) {
    const value = options[name]
    if (value === undefined) continue
    if (name === 'generation') Object.assign(query, generationQuery(value))
    else if (name === 'since' || name === 'until')
      query[name] = new Date(momentOf(`--${name}`, value, io.now())).toISOString()
    else query[name === 'delivery' ? 'deliveryId' : name] = value
  }
  return query
}

/** `sessionKey` as the user writes it: `--session-key`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** @throws CommandFailure (bad usage) for a filter that is none of these */
export function refuseOther(
  options: CommandOptions,
  known: ReadonlyMap<Filter, unknown>,
  what: string,
): void {
  const other = [...allFilters.keys()].find((name) => options[name] !== undefined && !known.has(name))
  if (other !== undefined) throw badUsage(`${flagOf(other)} is not for ${what}.`)
}

type Milliseconds = Readonly<Record<string, number>>
export const unitMs: Milliseconds = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Above this a number counts milliseconds: as seconds it would be the year 5138. */
const maxSeconds = 100_000_000_000

/**
 * Reads `8h` as eight hours ago, a number as Unix seconds or milliseconds, and a date or a time without a zone as one of this machine's
 * clock, like those that lists show.
 * @throws CommandFailure (bad usage)
 */
export function momentOf(flag: string, text: string, now: number): number {
  const given = text.trim()
  const [, count, unit = ''] = /^(\d{1,6})\s?([smhdw])$/.exec(given) ?? []
  if (count !== undefined) return now - Number(count) * (unitMs[unit] ?? 0)
  if (/^\d{9,14}(\.\d{1,9})?$/.test(given))
    return Math.round(Number(given) * (Number(given) < maxSeconds ? 1000 : 1))
  const [, day, time = 'T00:00', zone = ''] =
    /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?(Z|[+-]\d\d:?\d\d)?$/i.exec(given) ?? []
  const at = day === undefined ? Number.NaN : Date.parse(`${day}${time.replace(' ', 'T')}${zone}`)
  if (!Number.isNaN(at)) return at
  throw badUsage(
    `${flag} takes a span such as 30m, 8h or 7d, or a time such as 2026-01-31 or 2026-01-31T08:00, and not "${text}".`,
  )
}
