/** Keeps the daily budgets: whether a model may be asked again today (UTC), and what turns have cost. */

import { type Live, priceOf, type Settings } from '@reveille/engine'
import type { TurnOutcome } from '../agent/turn.ts'
import { addUsd, pricedUsage, tokensOf } from '../agent/usage.ts'
import { dayMs, dayOf } from '../store/day.ts'
import type { Effects, RunRecord, RunUsage, Spent, Work } from '../store/port.ts'
import { firstRunOf } from '../store/task-keys.ts'
import type { BudgetAlarm, BudgetKey, DispatchOptions } from './options.ts'

export type Budgets = ReturnType<typeof createBudgets>

/** The budgets that pay for a turn: the policy `budget`, if any, and the budget of all runs. `spent` is what the claim loaded. */
export interface Payer {
  readonly budget?: string
  readonly spent: Work['spent']
  /** The run whose turn it is, under which its cost is listed. */
  readonly run?: Pick<RunRecord, 'mapping' | 'model' | 'sessionKey'>
}

export interface Reservation {
  readonly ok: true
  /** Ends the reservation when the turn is over. Returns the effect for its settlement, or none if no runner was called. */
  end(turn: { readonly asked: boolean; readonly usage?: RunUsage; readonly model?: string }): Effects['spend']
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

/** State of one budget today. */
interface Account {
  /** Spending when the account was opened. */
  readonly before: Cost
  /** Spending and reservations of this process since then. */
  readonly ours: { runs: number; tokens: number; usd: number }
  isReported: boolean
  /** The highest share of the budget in percent that was alarmed about. */
  alarmed: number
}

type Cost = Pick<Spent, 'runs' | 'tokens' | 'usd'>

/** Shares of a budget in percent at which an operator is notified that much of it is spent. */
const alarmedShares = [100, 80, 50] as const satisfies readonly BudgetAlarm['percent'][]

type Scope = 'all' | 'budget'

type BudgetOptions = Pick<DispatchOptions, 'current' | 'now' | 'observer'> & {
  readonly log?: DispatchOptions['log']
}

/**
 * The store counts settled turns, and only this process knows of those under way. An account adds what this process spends
 * to what had been spent when it was opened, because dispatch does not learn when a settlement has reached the disk. If
 * other processes spend too and the store's number is larger, that number holds.
 */
export function createBudgets(options: BudgetOptions) {
  const { current, now } = options
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
    const spentToday = spent?.day === day ? spent : undefined
    const { settings, endpoints } = current().snapshot
    const payers = [openOne(accounts, { scope: 'all', name: '' }, spentToday?.all, settings.agents.budget)]
    if (budget !== undefined) {
      const policy = Object.hasOwn(endpoints, budget) ? endpoints[budget] : undefined
      payers.push(openOne(accounts, { scope: 'budget', name: budget }, spentToday?.budget, policy?.budget))
    }
    return { day, payers }
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
        const report = isNews && { ...spendOf(day, payer, 0, 0), reported: [scope] }
        return { ...exhausted(scope, name, allowance, day), ...(report && { report }) }
      }
      for (const { ours } of payers) ours.runs += 1
      return {
        ok: true,
        end({ asked, usage, model }) {
          const tokens = tokensOf(usage)
          for (const account of payers) {
            const { ours } = account
            if (asked) {
              ours.tokens += tokens
              ours.usd = addUsd(ours.usd, usage?.usd) ?? 0
              if (day === today) alarm(options, day, account)
            } else ours.runs -= 1
          }
          return asked ? spendOf(day, payer, 1, tokens, usage?.usd, model) : undefined
        },
      }
    },
    /**
     * Reason why the turn of a run cannot be paid for: a budget in USD pays for it, and its cost would not be known. Undefined if it can,
     * and while it is not known whether the runner `countsTokens`.
     */
    unpriced(payer: Payer, { model, runner }: Pick<RunRecord, 'model' | 'runner'>, countsTokens?: boolean) {
      const { payers } = open(payer)
      const inUsd = payers.find(({ limit }) => limit?.usd !== undefined)
      if (inUsd === undefined) return undefined
      const key = keyOf(inUsd.name)
      const why = (problem: string) => `${key} counts US dollars, and ${problem}`
      if (countsTokens === false) return why(`the runner ${runner} reports no tokens`)
      if (priceOf(current().snapshot.settings.agents, model) !== undefined) return undefined
      return why(
        model === undefined
          ? 'no model is named whose price is known'
          : `the model ${model} has no price; write one under agents.prices`,
      )
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

/** Alarms once for each share of a budget that is passed. Spending before this process causes no second alarm. */
function alarm(
  { log, observer }: Pick<BudgetOptions, 'log' | 'observer'>,
  day: string,
  { name, account, limit }: ReturnType<typeof openOne>,
): void {
  if (limit === undefined) return
  const { before, ours } = account
  const cost = {
    runs: before.runs + ours.runs,
    tokens: before.tokens + ours.tokens,
    usd: addUsd(before.usd, ours.usd) ?? 0,
  }
  const share = shareOf(limit, cost)
  if (share === undefined || share.percent <= account.alarmed) return
  account.alarmed = share.percent
  const news = { key: keyOf(name), ...share, day }
  const alarm = { ...news, spent: spentText(limit, cost) }
  log?.warn({ event: 'budget-alarm', ...alarm }, 'much of a budget is spent')
  observer?.budgetAlarmed?.(alarm)
}

/** The configuration key of a budget. The budget of all runs has no name. */
function keyOf(name: string): BudgetKey {
  return name === '' ? 'agents.budget' : `endpoints.${name}.budget`
}

function exhausted(scope: Scope, name: string, allowance: string, day: string): Exhausted {
  const key = keyOf(name)
  const whose = scope === 'all' ? 'all runs' : `"${name}"`
  const what = `the budget of ${whose} (${key}), ${allowance} a day,`
  return { ok: false, what, key, day, nextDayAt: Date.parse(day) + dayMs }
}

function openOne(
  accounts: Map<string, Account>,
  { scope, name }: { readonly scope: Scope; readonly name: string },
  spent: Spent | undefined,
  limit: Budget | undefined,
) {
  const key = `${scope}:${name}`
  const account = accounts.get(key) ?? newAccount(spent, limit)
  accounts.set(key, account)
  if (spent?.reported) account.isReported = true
  const { before, ours } = account
  const cost = {
    runs: Math.max(before.runs + ours.runs, spent?.runs ?? 0),
    tokens: Math.max(before.tokens + ours.tokens, spent?.tokens ?? 0),
    usd: Math.max(addUsd(before.usd, ours.usd) ?? 0, spent?.usd ?? 0),
  }
  return { scope, name, account, ours, limit, cost }
}

function newAccount(spent: Spent | undefined, limit: Budget | undefined): Account {
  const { runs = 0, tokens = 0, usd = 0, reported = false } = spent ?? {}
  const before = { runs, tokens, usd }
  const alarmed = (limit && shareOf(limit, before)?.percent) ?? 0
  return { before, ours: { runs: 0, tokens: 0, usd: 0 }, isReported: reported, alarmed }
}

const kinds = ['usd', 'tokens', 'runs'] as const

/** Returns the highest of the alarmed shares that is spent. A budget of nothing has none. */
function shareOf(limit: Budget, cost: Cost): Pick<BudgetAlarm, 'percent' | 'unit'> | undefined {
  const shareIn = (kind: (typeof kinds)[number]) => (limit[kind] ? (100 * cost[kind]) / limit[kind] : 0)
  const unit = kinds.reduce((most, kind) => (shareIn(kind) > shareIn(most) ? kind : most))
  const percent = alarmedShares.find((each) => shareIn(unit) >= each)
  return percent && { percent, unit }
}

/** `4.02 of 5 USD, 812 of 1000 runs`. */
function spentText(limit: Budget, cost: Cost): string {
  const names = { usd: 'USD', tokens: 'tokens', runs: 'runs' }
  return kinds
    .flatMap((kind) =>
      limit[kind] === undefined ? [] : [`${rounded(cost[kind])} of ${limit[kind]} ${names[kind]}`],
    )
    .join(', ')
}

/** To a cent, or as it is where a cent would be too coarse. */
function rounded(amount: number): number {
  return amount < 1 ? amount : Math.round(amount * 100) / 100
}

/** Returns the limit that is spent, such as `100 runs`. */
function spentAllowance({ runs, tokens, usd }: Budget, cost: Cost): string | undefined {
  if (runs !== undefined && cost.runs >= runs) return `${runs} ${runs === 1 ? 'run' : 'runs'}`
  if (tokens !== undefined && cost.tokens >= tokens) return `${tokens} tokens`
  if (usd !== undefined && cost.usd >= usd) return `${usd} USD`
  return undefined
}

function spendOf(
  day: string,
  { budget, run }: Payer,
  runs: number,
  tokens: number,
  usd?: number,
  model = run?.model,
) {
  return {
    day,
    ...(budget === undefined ? {} : { budget }),
    runs,
    tokens,
    ...(usd === undefined ? {} : { usd }),
    ...(run === undefined ? {} : { labels: listedUnder(run, model) }),
  }
}

/** A generated session key has nearly always one run, whose record says what it has cost. */
function listedUnder({ mapping, sessionKey }: NonNullable<Payer['run']>, model: string | undefined) {
  const isGenerated = firstRunOf(sessionKey) !== undefined
  return { mapping, model, ...(isGenerated ? {} : { session: sessionKey }) }
}

/** Adds to the outcome what its tokens cost, by the model that answered, else by the one that was asked. */
export function withPrice(
  outcome: TurnOutcome,
  { model }: Pick<RunRecord, 'model'>,
  { snapshot }: Live,
): TurnOutcome {
  if (outcome.usage === undefined) return outcome
  const answered = outcome.kind === 'answered' ? outcome.model : undefined
  return { ...outcome, usage: pricedUsage(outcome.usage, priceOf(snapshot.settings.agents, answered, model)) }
}
