/** The table of the kinds of records: how each is listed and shown, and which filters its list has. */

import { formatPlace } from '@reveille/engine/text'
import type { ItemOf, RouteName } from '../../api/routes/client.ts'
import type { RouteDeclaration } from '../../api/routes/declaration.ts'
import { routes } from '../../api/routes/index.ts'
import { cut } from '../../cut.ts'
import { changesText } from '../../observe/changes-text.ts'
import { printable } from '../../observe/printable.ts'
import { type Io, paintFor } from '../io.ts'
import { counted, errorsOf, shortId, shortTime, withShortIds } from '../print.ts'
import { filtersOf } from './filters.ts'
import type { GenerationItem } from './generations.ts'

export interface Kind<Item = never> {
  /** Help of the list. */
  readonly about: string
  readonly list: RouteName
  readonly filters: ReturnType<typeof filtersOf>
  /** The columns and the cells of a list. */
  readonly header: readonly string[]
  row(item: Item, io: Io): readonly unknown[]
  /** The route of one record. */
  readonly read?: RouteName
  /** Writes an item of a list in lines, where a row has no room for it. */
  text?(item: Item, io: Io): string
}

/** Ties the functions of a kind to the items of its list. */
function kind<Name extends RouteName>(list: Name, rest: Omit<Kind<ItemOf<Name>>, 'list' | 'filters'>): Kind {
  const { query = {} }: RouteDeclaration = routes[list]
  return { list, filters: filtersOf(query), ...rest } as unknown as Kind
}

export const kinds = {
  requests: kind('listRequests', {
    about: 'what was received and how it ended',
    read: 'readRequest',
    header: ['TIME', 'ID', 'ENDPOINT', 'OUTCOME', 'STATUS', 'DETAIL'],
    row: (item, io) => [
      shortTime(item.receivedAt, io.now()),
      shortId(item.id),
      item.endpoint,
      item.outcome,
      item.status,
      requestDetail(item),
    ],
  }),
  runs: kind('listRuns', {
    about: 'agent turns: queued, running and ended',
    read: 'readRun',
    header: ['TIME', 'ID', 'ENDPOINT', 'STATE', 'RUNNER', 'SESSION', 'DETAIL'],
    row: (item, io) => [
      shortTime(item.createdAt, io.now()),
      shortId(item.id),
      item.endpoint ?? item.kind,
      // The stage of a run whose agent has ended and whose reply is not delivered.
      /^(ran|summarised)$/.test(item.stage) ? `${item.state}, ${item.stage}` : item.state,
      item.runner,
      item.sessionKey,
      item.error ? preview(`${item.error.code}: ${item.error.message}`, errorLength) : runDetail(item),
    ],
  }),
  events: kind('listEvents', {
    about: 'what the main session has read, or will read',
    read: 'readEvent',
    header: ['TIME', 'ID', 'ENDPOINT', 'STATE', 'MODE', 'TEXT'],
    row: (item, io) => [
      shortTime(item.createdAt, io.now()),
      shortId(item.id),
      item.endpoint ?? (item.origin.runId ? `run ${shortId(item.origin.runId)}` : ''),
      item.state,
      item.mode,
      preview(item.text),
    ],
  }),
  deliveries: kind('listDeliveries', {
    about: 'replies on their way to a channel, or there',
    read: 'readDelivery',
    header: ['TIME', 'ID', 'RUN', 'CHANNEL', 'TO', 'STATE', 'TRIES', 'REASON'],
    row: (item, io) => [
      shortTime(item.createdAt, io.now()),
      shortId(item.id),
      shortId(item.runId ?? ''),
      item.channel,
      item.to,
      item.state,
      item.attempts,
      preview([item.code, item.reason].filter(Boolean).join(': '), errorLength),
    ],
  }),
  sessions: kind('listSessions', {
    about: 'the conversations that are kept, the latest first',
    read: 'readSession',
    header: ['LAST', 'TURNS', 'KEY'],
    row: ({ key, turns, lastAt }, io) => [shortTime(lastAt, io.now()), counted(turns, 'turn'), key],
  }),
  issues: kind('listIssues', {
    about: 'open problems, each once, with its cause and the next step',
    header: [],
    row: () => [],
    text: issueText,
  }),
  generations: kind('listGenerations', {
    about: 'what went live and what was refused',
    header: ['NUMBER', 'STATE', 'TIME', 'BY', 'MAPPINGS', 'CHANGES'],
    row: (item, io) => [
      item.generation ?? '-',
      item.state,
      shortTime(item.at, io.now()),
      item.by,
      item.mappings,
      item.state === 'rejected' ? refusalText(item, io) : changesText(item.changes),
    ],
  }),
  jobs: kind('listJobs', {
    about: 'replays of many requests',
    header: ['TIME', 'ID', 'STATE', 'TOTAL', 'DONE', 'FAILED', 'SKIPPED'],
    row: (item, io) => [
      shortTime(item.createdAt, io.now()),
      shortId(item.id),
      item.state,
      item.total,
      item.done,
      item.failed,
      item.skipped,
    ],
  }),
  endpoints: kind('listEndpoints', {
    about: 'where requests may come to, with what is asked of senders',
    header: ['NAME', 'AUTH', 'PROVIDER', 'LAST', 'SINCE THE START'],
    row: ({ name, policy, lastSeen, counts }, io) => [
      name,
      policy.auth,
      policy.provider,
      lastSeen === undefined ? 'never' : shortTime(lastSeen, io.now()),
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', '),
    ],
  }),
  mappings: kind('listMappings', {
    about: 'the mappings that are live, in matching order',
    header: ['ID', 'PATH', 'ACTION', 'HITS', 'LAST', 'PLACE'],
    row: ({ id, path, action, hits, lastMatch, place }, io) => [
      id,
      path ?? '(all)',
      action,
      hits,
      lastMatch === undefined ? 'never' : shortTime(lastMatch, io.now()),
      place,
    ],
  }),
} satisfies Readonly<Record<string, Kind>>

export type KindName = keyof typeof kinds

function requestDetail(item: ItemOf<'listRequests'>): string {
  const { outcome, reason, mapping, actions, replayOf } = item
  const isMade = outcome === 'accepted' || reason === undefined
  return [
    replayOf && `replay of ${shortId(replayOf)}`,
    ...(isMade ? [mapping, ...actions.map(actionDetail)] : []),
    reason === undefined ? '' : reasonDetail(item),
  ]
    .filter(Boolean)
    .join('  ')
}

function actionDetail({ kind, id, duplicateOf }: ItemOf<'listRequests'>['actions'][number]): string {
  return `${kind} ${shortId(id)}${duplicateOf === undefined ? '' : ' (came before)'}`
}

/** Refusals that one sender repeated within a minute are one record with a count. */
function reasonDetail({ reason = '', code, failure, count = 1 }: ItemOf<'listRequests'>): string {
  const codes = [code === 'TOO_MANY_TRIES' ? code : undefined, failure].filter(Boolean).join(', ')
  const text = codes === '' ? withShortIds(reason) : `${codes}: ${reason}`
  return count > 1 ? `${text} (${counted(count, 'request')})` : text
}

/** A coalesced group shows its number of messages, and that of its requests where they are fewer. */
function runDetail({ mapping = '', coalesce }: ItemOf<'listRuns'>): string {
  const { count = 1, requests } = coalesce ?? {}
  if (count === 1) return mapping
  if (count === requests) return `${mapping} (${counted(count, 'request')})`
  const of = requests === undefined ? '' : ` of ${counted(requests, 'request')}`
  return `${mapping} (${counted(count, 'message')}${of})`
}

/** UTF-16 units. The beginning of a search path, or of what a program printed, will do. */
const errorLength = 200

/** Shortens texts in lists, which are there to choose from: 500 texts as long as a mail are no list. */
function preview(text: string, length = 100): string {
  const short = cut(text, length)
  return short === text ? text : `${short.trimEnd()}…`
}

const colours = {
  'losing-events': 'red',
  failing: 'red',
  degraded: 'yellow',
  suspicious: 'dim',
} as const

function issueText(issue: ItemOf<'listIssues'>, io: Io): string {
  const { key, severity, state, count, first, last, cause, next, mutedUntil } = issue
  const paint = paintFor(io)
  const [since, latest, until] = [first, last, mutedUntil ?? 0].map((at) => shortTime(at, io.now()))
  const ended = state === 'open' ? '' : `  ${state}${mutedUntil === undefined ? '' : ` until ${until}`}`
  return [
    `${paint[state === 'open' ? colours[severity] : 'dim'](severity)}  ${paint.bold(printable(key))}${ended}`,
    `  ${count > 1 ? `${count} times since ${since}, last ${latest}` : since}`,
    `  ${printable(cause)}`,
    `  → ${printable(next.label)}${next.command ? ':' : ''}`,
    ...(next.command ? [`    ${printable(next.command)}`] : []),
    '',
  ].join('\n')
}

/** The number of errors, and the place of the first one. */
function refusalText(item: GenerationItem, io: Io): string {
  const first = item.diagnostics.find(({ severity }) => severity === 'error')
  const where = first?.place ? ` ${formatPlace(first.place, io.cwd)}` : ''
  return first === undefined ? errorsOf(item) : `${errorsOf(item)}:${where} ${first.code}`
}
