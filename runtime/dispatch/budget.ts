/** Keeps the daily budgets: whether a model may be asked once more today (UTC), and what turns have cost. */

import type { Settings } from '@reveille/engine'
import { tokensOf } from '../agent/usage.ts'
import { dayMs, dayOf } from '../store/day.ts'
import type { Effects, RunUsage, Spent, Work } from '../store/port.ts'
import type { BudgetKey, DispatchOptions } from './options.ts'

export type Budgets = ReturnType<typeof createBudgets>

/** The budgets that pay for a turn: the policy `budget`, if any, and the budget of all runs. `spent` is what the claim loaded. */
export interface Payer {
  readonly budget?: string
  readonly spent: Work['spent']
}

export interface Reservation {
  readonly ok: true
  /** Ends the reservation when the turn is over. Returns the effect for its settlement, or none if no runner was called. */
  end(turn: { readonly asked: boolean; readonly usage?: RunUsage }): Effects['spend']
}

export interface Exhausted {
  readonly ok: false
  /** The budget that is spent, as the start of a sentence. It quotes nothing of a sender. */
  readonly what: string
  readonly key: BudgetKey
  /** The day for which it is spent: `2026-01-31`. */
  readonly day: string
  /** When the next day begins. Milliseconds since the Unix epoch. */
  readonly nextDayAt: number
  /** The effect that goes with an event about it. Present once for each budget and day. */
  readonly report?: NonNullable<Effects['spend']>
}

type Budget = NonNullable<Settings['agents']['budget']>

/** What is known of one budget today. */
interface Account {
  /** What had been spent when the account was opened. */
  readonly before: Cost
  /** What this process has spent or reserved since then. */
  readonly ours: { runs: number; tokens: number }
  isReported: boolean
}

type Cost = Pick<Spent, 'runs' | 'tokens'>

type Scope = 'all' | 'budget'

/**
 * The store counts settled turns, and only this process knows of those under way. An account adds what this process spends
 * to what had been spent when it was opened, because dispatch does not learn when a settlement has reached the disk. If
 * other processes spend too and the store's number is larger, that number holds.
 */
export function createBudgets({ current, now }: Pick<DispatchOptions, 'current' | 'now'>) {
  let today = ''
  const accounts = new Map<string, Account>()
  const lost = new Set<string>()

  function open({ budget, spent }: Payer) {
    const day = dayOf(now())
    if (day !== today) {
      today = day
      accounts.clear()
      lost.clear()
    }
    const known = spent?.day === day ? spent : undefined
    const { settings, endpoints } = current().snapshot
    const payers = [openOne('all', '', known?.all, settings.agents.budget)]
    if (budget !== undefined) {
      const policy = Object.hasOwn(endpoints, budget) ? endpoints[budget] : undefined
      payers.push(openOne('budget', budget, known?.budget, policy?.budget))
    }
    return { day, payers }
  }

  function openOne(scope: Scope, name: string, spent: Spent | undefined, limit: Budget | undefined) {
    const key = `${scope}:${name}`
    const account = accounts.get(key) ?? newAccount(spent)
    accounts.set(key, account)
    if (spent?.reported) account.isReported = true
    const { before, ours } = account
    const cost = {
      runs: Math.max(before.runs + ours.runs, spent?.runs ?? 0),
      tokens: Math.max(before.tokens + ours.tokens, spent?.tokens ?? 0),
    }
    return { scope, name, account, ours, limit, cost }
  }

  return {
    /**
     * Takes one turn from all budgets that pay for it, or says which of them is spent. `runs` are exact, including turns that
     * are under way or whose settlement is not on disk yet. `tokens` are known when a turn is over, so turns under way may
     * overshoot.
     */
    reserve(payer: Payer): Reservation | Exhausted {
      const { day, payers } = open(payer)
      for (const { scope, name, account, limit, cost } of payers) {
        const allowance = limit && spentAllowance(limit, cost)
        if (allowance === undefined) continue
        const isNews = !account.isReported
        account.isReported = true
        const key = scope === 'all' ? 'agents.budget' : `endpoints.${name}.budget`
        return {
          ok: false,
          what: `the budget of ${scope === 'all' ? 'all runs' : `"${name}"`} (${key}), ${allowance} a day,`,
          key,
          day,
          nextDayAt: Date.parse(day) + dayMs,
          ...(isNews ? { report: { ...spendOf(day, payer, 0, 0), reported: [scope] } } : {}),
        }
      }
      for (const { ours } of payers) ours.runs += 1
      return {
        ok: true,
        end({ asked, usage }) {
          const tokens = tokensOf(usage)
          for (const { ours } of payers) {
            if (asked) ours.tokens += tokens
            else ours.runs -= 1
          }
          return asked ? spendOf(day, payer, 1, tokens) : undefined
        },
      }
    },
    /**
     * Pays for a turn that an earlier process began and could not settle, because it may have cost something. `turn` names it:
     * if its settlement cannot be written and the turn is found again, it is paid for once.
     */
    settleLost(payer: Payer, turn: string): NonNullable<Effects['spend']> {
      const { day, payers } = open(payer)
      if (!lost.has(turn)) for (const { ours } of payers) ours.runs += 1
      lost.add(turn)
      return spendOf(day, payer, 1, 0)
    },
  }
}

function newAccount(spent: Spent | undefined): Account {
  const { runs = 0, tokens = 0, reported = false } = spent ?? {}
  return { before: { runs, tokens }, ours: { runs: 0, tokens: 0 }, isReported: reported }
}

/** Returns the limit that is spent, such as `100 runs`. */
function spentAllowance({ runs, tokens }: Budget, cost: Cost): string | undefined {
  if (runs !== undefined && cost.runs >= runs) return `${runs} ${runs === 1 ? 'run' : 'runs'}`
  if (tokens !== undefined && cost.tokens >= tokens) return `${tokens} tokens`
  return undefined
}

function spendOf(day: string, { budget }: Payer, runs: number, tokens: number) {
  return { day, ...(budget === undefined ? {} : { budget }), runs, tokens }
}
