/** Adds up what turns have cost: by day (UTC) and scope for budgets, and by mapping, model and session for reports. */

import type { Statements } from '@reveille/kit'
import type { Context } from '../context.ts'
import { dayMs, dayOf } from '../day.ts'
import type { Cost, CostOptions, Effects, Spent, SpentToday, Work } from '../port.ts'
import { tables } from '../schema.ts'
import { decodeString, encodeString, type RowValues } from './rows.ts'

/** The scope of all runs together. No policy has this name. */
const allRuns = ''

/** Milliseconds that costs are kept, so that a year can be compared with the one before. */
const costsKeptMs = 400 * dayMs

const nothingSpent: Spent = { runs: 0, tokens: 0, usd: 0, reported: false }

/** Money is counted in millionths of a dollar, because sums of whole numbers are exact. */
const microsPerUsd = 1_000_000

/** Sums stop at the largest exact number: a larger one could not be read again. */
function added(table: string, columns: readonly string[]): string {
  const max = Number.MAX_SAFE_INTEGER
  const sum = (column: string) => {
    const total = `${table}.${column} + excluded.${column}`
    return `${column} = CASE WHEN ${total} > ${max} THEN ${max} ELSE ${total} END`
  }
  return columns.map(sum).join(', ')
}

const addToSpent = `ON CONFLICT (day, scope) DO UPDATE SET ${added('spent', ['runs', 'tokens', 'micros'])},
  reported = CASE WHEN excluded.reported = 1 THEN 1 ELSE spent.reported END`
const addToCosts = `ON CONFLICT (day, mapping, model, session) DO UPDATE SET ${added('costs', ['runs', 'tokens', 'micros', 'unpriced'])}`

/**
 * Adds to what was spent. It is not idempotent, so it belongs into a transaction under a lease token. Other transactions wait for the
 * sums of a day, so it comes last in its own.
 */
export function addSpent(tx: Context, all: readonly NonNullable<Effects['spend']>[]): void {
  const spent = createSums()
  const costs = createSums()
  for (const { day, budget, runs, tokens, usd, labels = {}, reported = [] } of all) {
    const micros = Math.min(Math.round((usd ?? 0) * microsPerUsd), Number.MAX_SAFE_INTEGER)
    const isReported = (scope: 'all' | 'budget') => (reported.includes(scope) ? 1 : 0)
    spent.add([day, allRuns], [runs, tokens, isReported('all'), micros])
    if (budget !== undefined)
      spent.add([day, encodeString(budget)], [runs, tokens, isReported('budget'), micros])
    const names = [labels.mapping ?? '', labels.model ?? '', labels.session ?? ''].map(encodeString)
    if (runs > 0) costs.add([day, ...names], [runs, tokens, micros, usd === undefined ? runs : 0])
  }
  // The column `reported` is a flag, so its sum becomes 0 or 1.
  const rows = spent.rows().map((row) => row.with(4, Math.min(1, row[4] as number)))
  tx.later(tx.insert(tables.spent, rows, addToSpent))
  tx.later(tx.insert(tables.costs, costs.rows(), addToCosts))
}

/** Adds up numbers by keys. */
function createSums() {
  const sums = new Map<string, { readonly key: readonly string[]; readonly numbers: number[] }>()
  return {
    add(key: readonly string[], numbers: readonly number[]): void {
      const name = JSON.stringify(key)
      const before = sums.get(name)?.numbers
      const sum = numbers.map((each, index) =>
        Math.min(each + (before?.[index] ?? 0), Number.MAX_SAFE_INTEGER),
      )
      sums.set(name, { key, numbers: sum })
    },
    /** In one order, so that no two transactions wait for each other. */
    rows: (): RowValues[] =>
      [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, { key, numbers }]) => [...key, ...numbers]),
  }
}

/** Spending of a day by all runs and, if one is named, from a policy's budget. */
export function spentOn(
  { day, all, budgets }: SpentToday,
  budget: string | undefined,
): NonNullable<Work['spent']> {
  return { day, all, ...(budget !== undefined && { budget: budgets[budget] ?? nothingSpent }) }
}

/** Reads what was spent on the day of `now`, by all runs and by every policy that has spent something. */
export async function readDay({ all }: Statements, now: number): Promise<SpentToday> {
  const day = dayOf(now)
  const rows = await all<{ scope: string; runs: number; tokens: number; reported: number; micros: number }>(
    'SELECT scope, runs, tokens, reported, micros FROM spent WHERE day = ?1 ORDER BY scope',
    [day],
  )
  const byScope = new Map(
    rows.map(({ scope, runs, tokens, reported, micros }): [string, Spent] => [
      decodeString(scope),
      { runs, tokens, usd: micros / microsPerUsd, reported: reported === 1 },
    ]),
  )
  const total = byScope.get(allRuns) ?? nothingSpent
  byScope.delete(allRuns)
  return { day, all: total, budgets: Object.fromEntries(byScope) }
}

/** Reads a page of what turns have cost, from its `skip`-th group on. */
export async function readCosts(
  { all }: Statements,
  { by, since = '', until = '9' }: CostOptions,
  limit: number,
  skip: number,
): Promise<Cost[]> {
  const order = by === 'day' ? 'name DESC' : 'micros DESC, tokens DESC, name'
  const rows = await all<Omit<Cost, 'usd'> & { readonly micros: number }>(
    `SELECT ${by} AS name, sum(runs) AS runs, sum(tokens) AS tokens, sum(micros) AS micros, sum(unpriced) AS unpriced
     FROM costs WHERE day >= ?1 AND day <= ?2 GROUP BY ${by} ORDER BY ${order} LIMIT ?3 OFFSET ?4`,
    [since, until, limit, skip],
  )
  return rows.map(({ name, runs, tokens, micros, unpriced }) => ({
    name: decodeString(name),
    runs: Number(runs),
    tokens: Number(tokens),
    unpriced: Number(unpriced),
    usd: Number(micros) / microsPerUsd,
  }))
}

/** Forgets the sessions of days before `cutoff`, whose costs count without a session from then on, and all costs of days long ago. */
export async function pruneCosts(tx: Context, cutoff: string): Promise<void> {
  const [old] = await tx.all(`SELECT 1 FROM costs WHERE day < ?1 AND session <> '' LIMIT 1`, [cutoff])
  if (old !== undefined) {
    await tx.run(
      `INSERT INTO costs (day, mapping, model, session, runs, tokens, micros, unpriced)
       SELECT day, mapping, model, '', sum(runs), sum(tokens), sum(micros), sum(unpriced) FROM costs
       WHERE day < ?1 AND session <> '' GROUP BY day, mapping, model
       ${addToCosts}`,
      [cutoff],
    )
    await tx.run(`DELETE FROM costs WHERE day < ?1 AND session <> ''`, [cutoff])
  }
  await tx.run('DELETE FROM costs WHERE day < ?1', [dayOf(Math.max(0, tx.now - costsKeptMs))])
}
