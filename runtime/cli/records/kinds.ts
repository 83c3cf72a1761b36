/** The table of the kinds of records: how each is listed and shown, and which filters its list has. */

import { formatPlace } from '@reveille/engine/text'
import type { ItemOf, RouteName } from '../../api/routes/client.ts'
import type { RouteDeclaration } from '../../api/routes/declaration.ts'
import { routes } from '../../api/routes/index.ts'
import { cut } from '../../cut.ts'
import { changesText } from '../../observe/changes-text.ts'
import { printable } from '../../observe/printable.ts'
import { type Io, paintFor } from '../io.ts'
import { counted, errorsOf, formatTable, shortId, shortTime, withShortIds } from '../print.ts'
import { filtersOf } from './filters.ts'
import type { GenerationItem } from './generations.ts'

export interface Kind<Item = never> {
  /** Help of the list. */
  readonly about: string
  readonly list: RouteName
  readonly filters: ReturnType<typeof filtersOf>
  /** The columns of a list by their headers, each with the cell of an item. */
  readonly columns: Readonly<Record<string, (item: Item, io: Io) => unknown>>
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

const ID = ({ id }: { readonly id: string }) => shortId(id)
const TIME = ({ createdAt }: { readonly createdAt: number }, io: Io) => shortTime(createdAt, io.now())
const STATE = ({ state }: { readonly state: string }) => state

export const kinds = {
  requests: kind('listRequests', {
    about: 'what was received and how it ended',
    read: 'readRequest',
    columns: {
      TIME: ({ receivedAt }, io) => shortTime(receivedAt, io.now()),
      ID,
      ENDPOINT: ({ endpoint }) => endpoint,
      OUTCOME: ({ outcome }) => outcome,
      STATUS: ({ status }) => status,
      DETAIL: requestDetail,
    },
  }),
  runs: kind('listRuns', {
    about: 'agent turns: queued, running and ended',
    read: 'readRun',
    columns: {
      TIME,
      ID,
      ENDPOINT: ({ endpoint, kind }) => endpoint ?? kind,
      // The stage of a run whose agent has ended and whose reply is not delivered.
      STATE: ({ state, stage }) => (/^(ran|summarised)$/.test(stage) ? `${state}, ${stage}` : state),
      RUNNER: ({ runner }) => runner,
      SESSION: ({ sessionKey }) => sessionKey,
      DETAIL: (item) =>
        item.error ? preview(`${item.error.code}: ${item.error.message}`, errorLength) : runDetail(item),
    },
  }),
  events: kind('listEvents', {
    about: 'what the main session has read, or will read',
    read: 'readEvent',
    columns: {
      TIME,
      ID,
      ENDPOINT: ({ endpoint, origin }) => endpoint ?? (origin.runId ? `run ${shortId(origin.runId)}` : ''),
      STATE,
      MODE: ({ mode }) => mode,
      TEXT: ({ text }) => preview(text),
    },
  }),
  deliveries: kind('listDeliveries', {
    about: 'replies on their way to a channel, or there',
    read: 'readDelivery',
    columns: {
      TIME,
      ID,
      RUN: ({ runId = '' }) => shortId(runId),
      CHANNEL: ({ channel }) => channel,
      TO: ({ to }) => to,
      STATE,
      TRIES: ({ attempts }) => attempts,
      REASON: ({ code, reason }) => preview([code, reason].filter(Boolean).join(': '), errorLength),
    },
  }),
  sessions: kind('listSessions', {
    about: 'the conversations that are kept, the latest first',
    read: 'readSession',
    columns: {
      LAST: ({ lastAt }, io) => shortTime(lastAt, io.now()),
      TURNS: ({ turns }) => counted(turns, 'turn'),
      KEY: ({ key }) => key,
    },
  }),
  issues: kind('listIssues', {
    about: 'open problems, each once, with its cause and the next step',
    columns: {},
    text: issueText,
  }),
  generations: kind('listGenerations', {
    about: 'what went live and what was refused',
    columns: {
      NUMBER: ({ generation = '-' }) => generation,
      STATE,
      TIME: ({ at }, io) => shortTime(at, io.now()),
      BY: ({ by }) => by,
      MAPPINGS: ({ mappings }) => mappings,
      CHANGES: (item, io) => (item.state === 'rejected' ? refusalText(item, io) : changesText(item.changes)),
    },
  }),
  jobs: kind('listJobs', {
    about: 'replays of many requests',
    columns: {
      TIME,
      ID,
      STATE,
      TOTAL: ({ total }) => total,
      DONE: ({ done }) => done,
      FAILED: ({ failed }) => failed,
      SKIPPED: ({ skipped }) => skipped,
    },
  }),
  endpoints: kind('listEndpoints', {
    about: 'where requests may come to, with what is asked of senders',
    columns: {
      NAME: ({ name }) => name,
      AUTH: ({ policy }) => policy.auth,
      PROVIDER: ({ policy }) => policy.provider,
      LAST: ({ lastSeen }, io) => lastText(lastSeen, io),
      'SINCE THE START': ({ counts }) =>
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([outcome, count]) => `${count} ${outcome}`)
          .join(', '),
    },
  }),
  mappings: kind('listMappings', {
    about: 'the mappings that are live, in matching order',
    columns: {
      ID: ({ id }) => id,
      PATH: ({ path = '(all)' }) => path,
      ACTION: ({ action }) => action,
      HITS: ({ hits }) => hits,
      LAST: ({ lastMatch }, io) => lastText(lastMatch, io),
      PLACE: ({ place }) => place,
    },
  }),
} satisfies Readonly<Record<string, Kind>>

/** The list of some items for people. */
export function itemsText(name: KindName, items: readonly unknown[], io: Io): string {
  const { columns, text }: Kind = kinds[name]
  if (text) return items.map((item) => text(item as never, io)).join('\n')
  const rows = items.map((item) =>
    Object.values(columns).map((cell) => String(cell(item as never, io) ?? '')),
  )
  return formatTable(Object.keys(columns), rows, io.columns)
}

function lastText(at: number | undefined, io: Io): string {
  return at === undefined ? 'never' : shortTime(at, io.now())
}

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
