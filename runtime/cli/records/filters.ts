/** The options by which records are chosen, once for all commands, and what the API is asked for by them. */

import { InvalidArgumentError, Option } from 'commander'
import { requestOutcomes } from '../../store/records.ts'
import { CommandFailure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'

/** Each filter by its name in options: its flag, and what it says. */
const filters = {
  outcome: ['--outcome <outcome>', 'only these'],
  state: ['--state <state>', 'only these'],
  endpoint: ['--endpoint <name>', 'only those of requests to /hooks/<name>'],
  code: ['--code <code>', 'only those that ended with this error code, such as TRANSFORM_FAILED'],
  mapping: ['--mapping <id>', 'only those that this mapping decided'],
  client: ['--client <address>', 'only those of this sender'],
  delivery: ['--delivery <id>', "only those with the sender's own id, such as x-github-delivery"],
  generation: [
    '--generation <generation>',
    'only those that it decided: its number, or how its digest begins',
  ],
  node: ['--node <name>', 'only those that this node accepted'],
  sessionKey: ['--session-key <key>', 'only those of one session'],
  kind: ['--kind <kind>', 'only these'],
  channel: ['--channel <name>', 'only those to this channel'],
  runner: ['--runner <name>', 'only those of this runner'],
  since: ['--since <when>', 'only those since then: 8h, 30m, 7d, 2026-01-31 or 2026-01-31T08:00'],
  until: ['--until <when>', 'only those before then, written likewise'],
} as const satisfies Readonly<Record<string, readonly [string, string]>>

export type Filter = keyof typeof filters
export type FilterOptions = { readonly [Name in Filter]?: string }
export type FilterQuery = Readonly<Record<string, string | number>>

/** The filters of requests, in lists and wherever many are meant. */
export const requestFilters = [
  'outcome',
  'endpoint',
  'code',
  'mapping',
  'client',
  'delivery',
  'generation',
  'node',
  'since',
  'until',
] as const satisfies readonly Filter[]

/** Makes the options of these filters. `states`: the values of `--state`. */
export function filterOptions(names: readonly Filter[], states?: readonly string[]): Option[] {
  return names.map((name) => {
    const option = new Option(filters[name][0], filters[name][1])
    if (name === 'outcome') option.choices(requestOutcomes)
    if (name === 'state' && states) option.choices(states)
    if (name === 'kind') option.choices(['run', 'heartbeat'])
    if (name === 'generation') option.argParser((text) => generation(text))
    return option
  })
}

/** Every filter, for a command that lists any kind. */
export const allFilters = Object.keys(filters) as Filter[]

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
export function queryOf(options: FilterOptions, io: Pick<Io, 'now'>): FilterQuery {
  const query: Record<string, string | number> = {}
  for (const name of allFilters) {
    const given = options[name]
    if (given === undefined) continue
    if (name === 'generation') Object.assign(query, generationQuery(given))
    else if (name === 'since' || name === 'until')
      query[name] = new Date(momentOf(`--${name}`, given, io.now())).toISOString()
    else query[name === 'delivery' ? 'deliveryId' : name] = given
  }
  return query
}

/** `sessionKey` as the user writes it: `--session-key`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** @throws CommandFailure (bad usage) for a filter that is none of these */
export function refuseOther(
  options: CommandOptions & FilterOptions,
  known: readonly Filter[],
  what: string,
): void {
  const other = allFilters.find((name) => options[name] !== undefined && !known.includes(name))
  if (other !== undefined) throw new CommandFailure(2, `${flagOf(other)} is not for ${what}.`)
}

export const unitMs: Readonly<Record<string, number>> = {
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
function momentOf(flag: string, text: string, now: number): number {
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
