/** `reveille status`: shows whether a running gateway can accept requests, and what waits in it. */

import type { BudgetStatus, GatewayStatus } from '../../api/index.ts'
import { cut } from '../../cut.ts'
import type { Health, IssueRecord, Page, RequestRecord } from '../../store/port.ts'
import { counted } from '../counted.ts'
import { addressText } from '../delivering/delivery-text.ts'
import type { RouteAnswer } from '../delivering/route.ts'
import { formatFacts } from '../facts.ts'
import type { CommandOptions, Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { shortId, shortTime } from '../table.ts'
import { type Admin, openAdmin } from './admin-client.ts'
import { channelLines, nextSteps } from './channel-text.ts'
import { databaseText, isCluster, nodeLines } from './cluster-text.ts'
import { errorsOf, type GenerationItem } from './generation-item.ts'
import { heartbeatText } from './heartbeat-text.ts'
import { sourceLines } from './source-text.ts'

/** The size of one page; a larger count is shown as `500+`. */
const pageOfCount = 500

interface Count {
  readonly count: number
  readonly more: boolean
}

export async function status(options: CommandOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const probe = await admin.probe('/readyz')
  const ready = probe.status === 200
  const reason = (probe.body as { reason?: string } | undefined)?.reason
  const isReadable = ready || (await admin.statusOf('/api/status')) !== 503
  if (!isReadable) return reportUnreadable(admin, reason, options, io)
  const [main, worst, generations, latest, route, runs, events, deliveries] = await Promise.all([
    admin.get('/api/status') as Promise<GatewayStatus>,
    worstIssueOf(admin),
    admin.get('/api/generations') as Promise<{ readonly items: readonly GenerationItem[] }>,
    admin.get('/api/requests', { limit: 1 }) as Promise<Page<RequestRecord>>,
    admin.get('/api/route') as Promise<RouteAnswer>,
    countsOf(admin, 'runs', ['queued', 'running', 'parked']),
    countsOf(admin, 'events', ['pending']),
    countsOf(admin, 'deliveries', ['pending', 'parked']),
  ])
  // A gateway of an earlier version does not send all of these.
  const { budgets = [], channels = [], sources = [], nodes = [], hooks, files, lastGood, database } = main
  const { publicUrl } = main
  const { log = { droppedLines: 0 } } = main
  const request = latest.items[0]
  const live = generations.items.find(({ state }) => state === 'live')
  const refused = generations.items.find(({ stands }) => stands)

  if (options.json) {
    const answer = {
      address: admin.address,
      ready,
      reason,
      issues: { open: main.issues ?? null, worst: worst ?? null },
      generation: live ? withoutLists(live) : null,
      refused: refused ? withoutLists(refused) : null,
      route: route.route,
      standIn: route.standIn,
      main: main.heartbeat,
      budgets: { day: main.day, items: budgets },
      channels,
      sources,
      hooks: hooks ?? null,
      publicUrl: publicUrl ?? null,
      files: files ?? null,
      lastGood: lastGood ?? null,
      nodes,
      database: database ?? null,
      log,
      runs,
      events,
      deliveries,
      latestRequest: request ?? null,
    }
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
  } else {
    io.out(
      formatFacts({
        worst: worst && worstText(worst),
        issues: main.issues && issuesText(main.issues, io),
        gateway: admin.address,
        ready: ready ? 'yes' : `no: ${reason ?? `it answered ${probe.status}`}`,
        generation: live && generationText(live, io.now()),
        files: filesText(live, refused, files, io.now()),
        'last good': lastGood ? lastGoodText(lastGood) : undefined,
        hooks:
          hooks?.enabled === false
            ? `off: every request to ${hooks.path} is answered 404; write \`enabled: true\` under \`hooks:\``
            : undefined,
        tunnel: publicUrl ? `${publicUrl}${hooks.path}` : undefined,
        route: routeText(route),
        main: main.heartbeat && heartbeatText(main.heartbeat, io.now()),
        runs: countsText(runs),
        parked: runs.parked.count > 0 ? parkedText(io) : undefined,
        budgets: budgets.length > 0 ? budgets.map(budgetText) : undefined,
        events: countsText(events),
        deliveries: countsText(deliveries),
        channels: channels.length > 0 ? channelLines(channels, io) : undefined,
        nodes: isCluster(main) ? nodeLines(nodes, io.now()) : undefined,
        database: database ? databaseText(database) : undefined,
        sources: Object.fromEntries(sources.map((each) => [each.source, sourceLines(each, io)])),
        next: nextSteps(channels, io),
        log:
          log.droppedLines > 0
            ? `${counted(log.droppedLines, 'line')} dropped, as nothing takes what is written to standard error`
            : undefined,
        latest: request ? requestText(request, io.now()) : 'no request yet',
      }),
    )
  }
  return ready ? 0 : 1
}

/** Shows what is known about a gateway whose store cannot be read. */
async function reportUnreadable(
  admin: Admin,
  readiness: string | undefined,
  { json }: CommandOptions,
  io: Io,
): Promise<number> {
  const { address } = admin
  const reason = ((await admin.get('/api/health')) as Health).reason ?? readiness
  const ready = `no: ${reason ?? 'its store cannot be read'}`
  // Issues that could not be written are in memory.
  const worst = await worstIssueOf(admin).catch(() => undefined)
  if (json)
    io.out(
      `${JSON.stringify({ address, ready: false, reason, issues: { open: null, worst: worst ?? null } }, null, 2)}\n`,
    )
  else
    io.out(
      formatFacts({ worst: worst && worstText(worst), gateway: address, ready, records: 'cannot be read' }),
    )
  return 1
}

/** Returns the worst open issue; lists show it first. */
async function worstIssueOf(admin: Admin): Promise<IssueRecord | undefined> {
  const { items } = (await admin.get('/api/issues', { state: 'open', limit: 1 })) as Page<IssueRecord>
  return items[0]
}

/** A line of 80 columns: subjects are names of the configuration, of any length. */
function worstText({ severity, key }: IssueRecord): string {
  return `${severity}: ${cut(key, 48)}${key.length > 48 ? '…' : ''}`
}

/** `1 failing, 2 degraded`. */
function issuesText(counts: GatewayStatus['issues'], io: Io): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  if (found.length === 0) return 'none open'
  const parts = found.map(([severity, count]) => `${count} ${severity}`)
  return `${parts.join(', ')}${found.length < 4 ? `: ${pasted('issues', io)}` : ''}`
}

function routeText({ route, standIn }: RouteAnswer): string {
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

function filesText(
  live: GenerationItem | undefined,
  refused: GenerationItem | undefined,
  files: GatewayStatus['files'] | undefined,
  now: number,
): string {
  if (refused) return `refused at ${shortTime(refused.at, now)}: ${errorsOf(refused)}`
  if (live?.rolledBack) return 'not live: a rollback holds until they change, or `reveille reload` ends it'
  return files?.watched === false ? `not read since ${shortTime(files.readAt, now)} (--no-watch)` : 'live'
}

/** Names the files that a start could not use and the generation that is served in their place. */
export function lastGoodText({ generation, files }: NonNullable<GatewayStatus['lastGood']>): string {
  const verb = files.length === 1 ? 'is' : 'are'
  return `${files.join(', ')} ${verb} broken since before the start, and served as generation ${generation} had ${files.length === 1 ? 'it' : 'them'}`
}

/** Counts the records of a kind in each of some states. */
async function countsOf<State extends string>(admin: Admin, kind: string, states: readonly State[]) {
  const counts = states.map(async (state): Promise<[State, Count]> => {
    const page = (await admin.get(`/api/${kind}`, { state, limit: pageOfCount })) as Page<unknown>
    return [state, { count: page.items.length, more: page.next !== undefined }]
  })
  return Object.fromEntries(await Promise.all(counts)) as Record<State, Count>
}

/** `endpoints.github.budget 12 of 200 runs, 90 of 1,000 tokens today`. */
export function budgetText({ key, limit, runs, tokens, usd = 0, isSpent }: BudgetStatus): string {
  const parts = [
    partText(runs, limit.runs, 'runs'),
    partText(tokens, limit.tokens, 'tokens'),
    partText(Math.round(usd * 100) / 100, limit.usd, 'USD'),
  ]
  return `${key} ${parts.filter(Boolean).join(', ')}${isSpent ? ' (spent)' : ''}`
}

function partText(spent: number, most: number | undefined, noun: string): string | undefined {
  return most === undefined
    ? undefined
    : `${spent.toLocaleString('en')} of ${most.toLocaleString('en')} ${noun}`
}

/** Parked runs wait for a decision. */
function parkedText(io: Io): string {
  return `${pasted('runs --state parked', io)} says why, ${pasted('resume --all', io)} queues them again`
}

/** `2 queued, 500+ running`. */
function countsText(counts: Readonly<Record<string, Count>>): string {
  const parts = Object.entries(counts).map(
    ([state, { count, more }]) => `${count}${more ? '+' : ''} ${state}`,
  )
  return parts.join(', ')
}

function requestText(request: RequestRecord, now: number): string {
  return `${shortTime(request.receivedAt, now)}  ${request.endpoint}  ${request.outcome}  ${shortId(request.id)}`
}
