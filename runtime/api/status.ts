/** Owns what is told of a gateway as a whole: how its main session fares, and what today's budgets have left. */

import type { Budget, CurrentLive } from '@reveille/engine'
import type { HeartbeatState } from '../dispatch/index.ts'
import type { Spent, Store } from '../store/port.ts'

export interface StatusParts {
  readonly current: CurrentLive
  readonly store: Pick<Store, 'read'>
  /** How the main session fares. Default: nobody knows. */
  readonly heartbeat?: () => HeartbeatState
}

/** What was spent today (UTC) of one budget. */
export interface BudgetStatus {
  /** The configuration key that sets it. */
  readonly key: string
  readonly limit: Budget
  readonly runs: number
  /** Input and output together. */
  readonly tokens: number
  readonly isSpent: boolean
}

export interface GatewayStatus {
  readonly heartbeat: HeartbeatState | null
  /** UTC: `2026-01-31`. */
  readonly day: string
  /** Those that are configured: that of all runs first. */
  readonly budgets: readonly BudgetStatus[]
}

export async function readStatus({ current, store, heartbeat }: StatusParts): Promise<GatewayStatus> {
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
    heartbeat: heartbeat?.() ?? null,
    day,
    budgets: limits.flatMap(([key, limit, spent]) => (limit ? [statusOf(key, limit, spent)] : [])),
  }
}

function statusOf(key: string, limit: Budget, { runs, tokens }: Pick<Spent, 'runs' | 'tokens'> = nothing) {
  const isSpent =
    runs >= (limit.runs ?? Number.POSITIVE_INFINITY) || tokens >= (limit.tokens ?? Number.POSITIVE_INFINITY)
  return { key, limit, runs, tokens, isSpent }
}

const nothing = { runs: 0, tokens: 0 }

/** An endpoint may be called like something that every object has. */
function ownOf<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
