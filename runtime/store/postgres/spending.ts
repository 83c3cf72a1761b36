/**
 * Adds up what turns have cost: by day (UTC) and scope for budgets, and by mapping, model and session for reports.
 *
 * Each sum lies in several rows, of which a connection adds to one: settlements of different connections and nodes would
 * otherwise wait for each other at the one row of the day.
 */

import { dayOf } from '../day.ts'
import type { Cost, CostOptions, Effects, Spent, SpentToday, Work } from '../port.ts'
import {
  allRuns,
  type CostRow,
  costOf,
  costOrders,
  costsKeptMs,
  microsOf,
  mostCounted,
  nothingSpent,
  type SpentRow,
  spentOf,
  spentToday,
} from '../spending.ts'
import type { Changing, Query } from './parts.ts'
import { columnOfText, textOfColumn } from './rows.ts'

/** SQL for the row of a sum to which this connection adds. */
const slice = '(pg_backend_pid() % 16)::smallint'

type Spend = NonNullable<Effects['spend']>

/**
 * Adds to what was spent, with two statements for all of it. It is not idempotent, so it belongs into a transaction under lease
 * tokens. The keys are sorted, so that two transactions never wait for each other in a circle.
 */
export function spend(send: Changing['send'], spends: readonly Spend[]): void {
  if (spends.length === 0) return
  const sums = new Map<string, Sum>()
  const costs = new Map<string, Sum>()
  for (const { day, budget, runs, tokens, usd, of = {}, reported = [] } of spends) {
    const micros = microsOf(usd ?? 0)
    const more = { runs, tokens, micros }
    add(sums, [day, allRuns], { ...more, flag: reported.includes('all') ? 1 : 0 })
    if (budget !== undefined) add(sums, [day, budget], { ...more, flag: reported.includes('budget') ? 1 : 0 })
    if (runs === 0) continue
    const { mapping = '', model = '', session = '' } = of
    add(costs, [day, mapping, model, session], { ...more, flag: usd === undefined ? runs : 0 })
  }
  write(send, upsertSpent, sums)
  if (costs.size > 0) write(send, upsertCosts, costs)
}

interface Sum {
  readonly key: readonly string[]
  runs: number
  tokens: number
  micros: number
  /** Whether it was reported, or how many turns have no price. */
  flag: number
}

function add(sums: Map<string, Sum>, names: readonly string[], more: Omit<Sum, 'key'>): void {
  const key = names.map(columnOfText)
  const name = JSON.stringify(key)
  const sum = sums.get(name) ?? { key, runs: 0, tokens: 0, micros: 0, flag: 0 }
  sum.runs = Math.min(sum.runs + more.runs, mostCounted)
  sum.tokens = Math.min(sum.tokens + more.tokens, mostCounted)
  sum.micros = Math.min(sum.micros + more.micros, mostCounted)
  sum.flag += more.flag
  sums.set(name, sum)
}

function write(send: Changing['send'], sql: string, sums: ReadonlyMap<string, Sum>): void {
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  const names = rows[0]?.key.map((_, index) => rows.map(({ key }) => key[index])) ?? []
  const counts = (['runs', 'tokens', 'micros', 'flag'] as const).map((name) => rows.map((row) => row[name]))
  send(sql, [...names, ...counts])
}

/** SQL that adds the new row to the one that is there. */
const added = ['runs', 'tokens', 'micros']
  .map((name) => `${name} = least(old.${name} + excluded.${name}, ${mostCounted})`)
  .join(', ')

const upsertSpent = `INSERT INTO spent AS old (day, scope, slice, runs, tokens, micros, reported)
  SELECT day, scope, ${slice}, runs, tokens, micros, least(reported, 1) FROM unnest(
    $1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]
  ) AS spent (day, scope, runs, tokens, micros, reported)
  ON CONFLICT (day, scope, slice) DO UPDATE SET ${added}, reported = greatest(old.reported, excluded.reported)`

const upsertCosts = `INSERT INTO costs AS old (day, mapping, model, session, slice, runs, tokens, micros, unpriced)
  SELECT day, mapping, model, session, ${slice}, runs, tokens, micros, unpriced FROM unnest(
    $1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[]
  ) AS costs (day, mapping, model, session, runs, tokens, micros, unpriced)
  ON CONFLICT (day, mapping, model, session, slice) DO UPDATE SET ${added},
  unpriced = least(old.unpriced + excluded.unpriced, ${mostCounted})`

/** SQL for a sum over rows, which PostgreSQL counts without bound. */
function total(name: string): string {
  return `least(sum(${name}), ${mostCounted})::bigint AS ${name}`
}

const totals = `${total('runs')}, ${total('tokens')}, ${total('micros')}`

/** Reads what was spent on the day of `now`: by all runs and by the budgets that are named. */
export async function readSpent(
  query: Query,
  now: number,
  budgets: readonly string[],
): Promise<(budget?: string) => NonNullable<Work['spent']>> {
  const day = dayOf(now)
  const scopes = [allRuns, ...new Set(budgets)]
  const rows = await query<SpentRow & { scope: string }>(
    `SELECT scope, ${totals}, max(reported) AS reported FROM spent WHERE day = $1 AND scope = ANY($2) GROUP BY scope`,
    [day, scopes.map(columnOfText)],
  )
  const byScope = new Map(rows.map((row) => [textOfColumn(row.scope), spentOf(row)]))
  const read = (scope: string): Spent => byScope.get(scope) ?? nothingSpent
  return (budget) => {
    const spent = { day, all: read(allRuns) }
    return budget === undefined ? spent : { ...spent, budget: read(budget) }
  }
}

export async function readSpentToday(query: Query, now: number): Promise<SpentToday> {
  const day = dayOf(now)
  const rows = await query<SpentRow & { scope: string }>(
    `SELECT scope, ${totals}, max(reported) AS reported FROM spent WHERE day = $1 GROUP BY scope ORDER BY scope`,
    [day],
  )
  return spentToday(
    day,
    rows.map((row) => ({ ...row, scope: textOfColumn(row.scope) })),
  )
}

/** Reads a page of what turns have cost, from its `skip`-th group on. */
export async function readCosts(
  query: Query,
  { by, since = '', until = '9' }: CostOptions,
  limit: number,
  skip: number,
): Promise<Cost[]> {
  const rows = await query<CostRow>(
    `SELECT * FROM (
       SELECT ${by} AS name, ${totals}, ${total('unpriced')} FROM costs WHERE day >= $1 AND day <= $2 GROUP BY ${by}
     ) AS summed ORDER BY ${costOrders[by]} LIMIT $3 OFFSET $4`,
    [since, until, limit, skip],
  )
  return rows.map((row) => costOf({ ...row, name: textOfColumn(row.name) }))
}

/** Forgets sessions of days before `cutoff`, whose costs then count without a session, and all costs of days long ago. */
export async function pruneSpending(query: Query, cutoff: string, now: number): Promise<void> {
  await query('DELETE FROM spent WHERE day < $1', [cutoff])
  await query(
    `WITH gone AS (DELETE FROM costs WHERE day < $1 AND session <> '' RETURNING *)
     INSERT INTO costs AS old (day, mapping, model, session, slice, runs, tokens, micros, unpriced)
     SELECT day, mapping, model, '', 0, ${totals}, ${total('unpriced')} FROM gone
     GROUP BY day, mapping, model
     ON CONFLICT (day, mapping, model, session, slice) DO UPDATE SET ${added},
     unpriced = least(old.unpriced + excluded.unpriced, ${mostCounted})`,
    [cutoff],
  )
  await query('DELETE FROM costs WHERE day < $1', [dayOf(Math.max(0, now - costsKeptMs))])
}
