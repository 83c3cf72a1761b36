/**
 * Reads the status of a gateway as a whole: the states of its main session, its channels and its sources, and what is left of today's
 * budgets.
 */

import type { Budget } from '@reveille/engine'
import type { ChannelState } from '../dispatch/index.ts'
import { type OpenDeliveries, type Severity, type Spent, severities } from '../store/port.ts'
import type { AdminOptions } from './options.ts'
import type { Answer } from './routes/client.ts'

export type GatewayStatus = Answer<'readStatus'>

/** Reads what was spent today of the configured budgets, that of all runs first. */
export async function readBudgets({
  current,
  store,
}: Pick<AdminOptions, 'current' | 'store'>): Promise<Pick<GatewayStatus, 'day' | 'budgets'>> {
  const { settings, endpoints } = current().snapshot
  const { day, all, budgets } = await store.read.spent()
  const limits: [key: string, limit: Budget | undefined, spent: Spent | undefined][] = [
    ['agents.budget', settings.agents.budget, all],
    ...Object.entries(endpoints).map(
      ([name, { budget }]) =>
        [`endpoints.${name}.budget`, budget, ownOf(budgets, name)] satisfies (typeof limits)[number],
    ),
  ]
  return {
    day,
    budgets: limits.flatMap(([key, limit, spent]) => (limit ? [statusOf(key, limit, spent)] : [])),
  }
}

export async function readStatus(options: AdminOptions): Promise<GatewayStatus> {
  const { current, store, dispatch, sources, files, lastGood, droppedLogLines, publicUrl } = options
  const { settings } = current().snapshot
  const [spent, runs, open, issues, nodes, database] = await Promise.all([
    readBudgets(options),
    store.read.openRuns(),
    store.read.openDeliveries(),
    options.issues.list({ state: 'open', limit: maxIssues }),
    store.cluster.nodes(),
    store.cluster.database(),
  ])
  return {
    heartbeat: dispatch.heartbeat(),
    ...spent,
    runs,
    backlog: { waiting: store.health().backlog, limit: settings.gateway.limits.backlog },
    issues: countsOf(issues.items),
    channels: withCounts(dispatch.channels(), open),
    sources: sources(),
    hooks: { enabled: settings.hooks.enabled, path: settings.hooks.path },
    publicUrl: publicUrl() ?? null,
    files: files(),
    lastGood: lastGood() ?? null,
    nodes,
    database: database ?? null,
    log: { droppedLines: droppedLogLines() },
  }
}

/** There are a few dozen kinds of issues. */
const maxIssues = 500

function countsOf(issues: readonly { readonly severity: Severity }[]) {
  const counts = severities.map((each) => [each, issues.filter(({ severity }) => severity === each).length])
  return Object.fromEntries(counts) as Record<Severity, number>
}

function withCounts(
  states: readonly ChannelState[],
  open: readonly OpenDeliveries[],
): GatewayStatus['channels'] {
  const counts = new Map(open.map(({ channel, pending, parked }) => [channel, { pending, parked }]))
  const channelNames = new Set(states.map(({ channel }) => channel))
  const others = open.filter(({ channel }) => !channelNames.has(channel))
  return [
    ...states.map((state) => ({ ...state, ...(counts.get(state.channel) ?? { pending: 0, parked: 0 }) })),
    ...others.map((each) => ({ ...each, state: 'unconfigured' as const })),
  ]
}

function statusOf(key: string, limit: Budget, spent: Pick<Spent, 'runs' | 'tokens' | 'usd'> = nothing) {
  const { runs, tokens, usd } = spent
  const isSpent = (['runs', 'tokens', 'usd'] as const).some(
    (of) => spent[of] >= (limit[of] ?? Number.POSITIVE_INFINITY),
  )
  return { key, limit, runs, tokens, usd, isSpent }
}

const nothing = { runs: 0, tokens: 0, usd: 0 }

/** The name of an endpoint may be that of a property that every object has. */
function ownOf<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
