/** `reveille status`: shows whether a running gateway can accept requests, and what waits in it. */

import type { Answer } from '../../api/routes/client.ts'
import { cut } from '../../cut.ts'
import { type Client, openClient } from '../client.ts'
import type { Io } from '../io.ts'
import {
  commandLine,
  counted,
  errorsOf,
  formatFacts,
  print,
  shortId,
  shortTime,
  withCommandLines,
} from '../print.ts'
import type { GenerationItem } from '../records/generations.ts'
import {
  addressText,
  budgetText,
  channelText,
  databaseText,
  heartbeatText,
  lastGoodText,
  nextSteps,
  nodeLines,
  sourceLines,
} from '../status-text.ts'

/** The size of one page; a larger count is shown as `500+`. */
const pageOfCount = 500

export async function status(io: Io): Promise<number> {
  const client = await openClient(io)
  const probe = await client.probe('/readyz')
  const ready = probe.status === 200
  const reason = probe.body?.['reason'] as string | undefined
  const isReadable = ready || (await client.probe('/api/status', true)).status !== 503
  if (!isReadable) return reportUnreadable(client, reason, io)
  const found = { ready, reason, httpStatus: probe.status, ...(await look(client)) }
  const text = () => formatFacts(factsOf(found, client.address, io), io.columns)
  return print(io, jsonOf(found, client.address), text, ready ? 0 : 1)
}

async function look(client: Client) {
  const [main, worst, generations, latest, route, runs, events, deliveries] = await Promise.all([
    client.ask('readStatus'),
    worstIssueOf(client),
    client.ask('listGenerations', { query: { limit: pageOfCount } }),
    client.ask('listRequests', { query: { limit: 1 } }),
    client.ask('readRoute'),
    countsOf(client, 'listRuns', ['queued', 'running', 'parked']),
    countsOf(client, 'listEvents', ['pending']),
    countsOf(client, 'listDeliveries', ['pending', 'parked']),
  ])
  const live = generations.items.find(({ state }) => state === 'live')
  const refused = generations.items.find(({ isCurrent }) => isCurrent)
  return { main, worst, live, refused, request: latest.items[0], route, runs, events, deliveries }
}

type Look = Awaited<ReturnType<typeof look>> & {
  readonly ready: boolean
  readonly reason: string | undefined
  /** Of `/readyz`. */
  readonly httpStatus: number
}

function jsonOf(
  { ready, reason, main, worst, live, refused, route, request, ...counts }: Look,
  address: string,
) {
  const { heartbeat, day, budgets, issues, backlog: _backlog, ...rest } = main
  const { httpStatus: _httpStatus, ...others } = counts
  return {
    address,
    ready,
    reason,
    issues: { open: issues ?? null, worst: worst ?? null },
    generation: live ? withoutLists(live) : null,
    refused: refused ? withoutLists(refused) : null,
    route: route.route,
    standIn: route.standIn,
    main: heartbeat,
    budgets: { day, items: budgets },
    ...rest,
    ...others,
    latestRequest: request ?? null,
  }
}

function factsOf(found: Look, gateway: string, io: Io): Record<string, unknown> {
  const { ready, reason, httpStatus, main, worst, live, route, runs, events, deliveries, request } = found
  const { channels = [], sources = [], nodes = [], hooks, publicUrl, lastGood, database, log } = main
  const now = io.now()
  const dropped = log?.droppedLines ?? 0
  return {
    worst: worst && worstText(worst),
    issues: main.issues && issuesText(main.issues, io),
    gateway,
    ready: ready ? 'yes' : `no: ${reason ?? `it answered ${httpStatus}`}`,
    generation: live && generationText(live, now),
    files: withCommandLines(filesText(found, now), io),
    'last good': lastGood ? lastGoodText(lastGood) : undefined,
    hooks:
      hooks?.enabled === false
        ? `off: every request to ${hooks.path} is answered 404; write \`enabled: true\` under \`hooks:\``
        : undefined,
    tunnel: publicUrl ? `${publicUrl}${hooks.path}` : undefined,
    route: routeText(route),
    main: main.heartbeat && heartbeatText(main.heartbeat, now),
    runs: countsText(runs),
    parked:
      runs.parked.count > 0
        ? `${commandLine('runs --state parked', io)} says why, ${commandLine('resume --all', io)} queues them again`
        : undefined,
    budgets: main.budgets.map(budgetText),
    events: countsText(events),
    deliveries: countsText(deliveries),
    channels: channels.map((each) => withCommandLines(channelText(each, now), io)),
    nodes: nodes.length > 1 || database ? nodeLines(nodes, now) : undefined,
    database: database ? databaseText(database) : undefined,
    sources: Object.fromEntries(
      sources.map((each) => [each.source, sourceLines(each, now).map((line) => withCommandLines(line, io))]),
    ),
    next: nextSteps(channels, io),
    log:
      dropped > 0
        ? `${counted(dropped, 'line')} dropped, as nothing takes what is written to standard error`
        : undefined,
    latest: request
      ? `${shortTime(request.receivedAt, now)}  ${request.endpoint}  ${request.outcome}  ${shortId(request.id)}`
      : 'no request yet',
  }
}

/** Shows what is known about a gateway whose store cannot be read. */
async function reportUnreadable(client: Client, readiness: string | undefined, io: Io): Promise<number> {
  const { address } = client
  const reason = (await client.ask('readHealth')).reason ?? readiness
  // Issues that could not be written are in memory.
  const worst = await worstIssueOf(client).catch(() => undefined)
  const facts = {
    worst: worst && worstText(worst),
    gateway: address,
    ready: `no: ${reason ?? 'its store cannot be read'}`,
    records: 'cannot be read',
  }
  const answer = { address, ready: false, reason, issues: { open: null, worst: worst ?? null } }
  return print(io, answer, () => formatFacts(facts, io.columns), 1)
}

type Issue = Answer<'listIssues'>['items'][number]

/** Returns the worst open issue; lists show it first. */
async function worstIssueOf(client: Client): Promise<Issue | undefined> {
  return (await client.ask('listIssues', { query: { limit: 1, state: 'open' } })).items[0]
}

/** A line of 80 columns: subjects are names of the configuration, of any length. */
function worstText({ severity, key }: Issue): string {
  return `${severity}: ${cut(key, 48)}${key.length > 48 ? '…' : ''}`
}

/** `1 failing, 2 degraded`. */
function issuesText(counts: Look['main']['issues'], io: Io): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  if (found.length === 0) return 'none open'
  const parts = found.map(([severity, count]) => `${count} ${severity}`)
  return `${parts.join(', ')}${found.length < 4 ? `: ${commandLine('issues', io)}` : ''}`
}

function routeText({ route, standIn }: Look['route']): string {
  if (route) return addressText(route)
  return standIn ? `none; replies to \`last\` go to ${addressText(standIn)}` : 'none'
}

/** A generation without its lists of changes and diagnostics, which `reveille generations` has. */
function withoutLists({ changes: _changes, diagnostics, ...item }: GenerationItem): object {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  return { ...item, errors, warnings: diagnostics.length - errors }
}

function generationText({ generation, at, mappings = 0, diagnostics }: GenerationItem, now: number): string {
  const warnings = diagnostics.length === 0 ? '' : `, ${counted(diagnostics.length, 'warning')}`
  return `${generation}, live since ${shortTime(at, now)}, ${counted(mappings, 'mapping')}${warnings}`
}

function filesText({ live, refused, main: { files } }: Look, now: number): string {
  if (refused) return `refused at ${shortTime(refused.at, now)}: ${errorsOf(refused)}`
  if (live?.rolledBack) return 'not live: a rollback holds until they change, or `reveille reload` ends it'
  return files?.watched === false ? `not read since ${shortTime(files.readAt, now)} (--no-watch)` : 'live'
}

interface Count {
  readonly count: number
  readonly more: boolean
}

/** Counts the records of a kind in each of some states. */
async function countsOf<State extends string>(
  client: Client,
  list: 'listRuns' | 'listEvents' | 'listDeliveries',
  states: readonly State[],
) {
  const counts = states.map(async (state): Promise<[State, Count]> => {
    const page = await client.ask(list, { query: { state, limit: pageOfCount } as never })
    return [state, { count: page.items.length, more: page.next !== undefined }]
  })
  return Object.fromEntries(await Promise.all(counts)) as Record<State, Count>
}

/** `2 queued, 500+ running`. */
function countsText(counts: Readonly<Record<string, Count>>): string {
  const parts = Object.entries(counts).map(
    ([state, { count, more }]) => `${count}${more ? '+' : ''} ${state}`,
  )
  return parts.join(', ')
}
