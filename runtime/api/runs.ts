/** Handles the routes of one run: how it ended or how far it is, cancelling it, and resuming it. */

import type { Id, RunRecord, Store } from '../store/port.ts'
import { missing, refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import { orderAll } from './parked.ts'
import { instantOf } from './requests.ts'
import type { workRoutes } from './routes/work.ts'
import { readBudgets } from './status.ts'

const orders = {
  cancel: { event: 'run-cancel-asked', done: 'cancelled' },
  resume: { event: 'run-resume-asked', done: 'resumed' },
  retry: { event: 'run-retry-asked', done: 'retried' },
} as const
type Order = keyof typeof orders

export function createRunHandlers(options: AdminOptions) {
  const { store, log, now, progressOf } = options
  const { read } = store
  return {
    async readRun({ params: { id } }) {
      const run = (await read.run(id)) ?? missing('run')
      const progress = run.state === 'running' ? progressOf(run.id) : undefined
      return { ...(await withOutcome(read, run)), timings: timingsOf(run), ...(progress && { progress }) }
    },
    cancelRun: async ({ params, by }) => shownOrder(await order('cancel', params.id, by)),
    resumeRun: async ({ params, by }) => shownOrder(await order('resume', params.id, by)),
    resumeRuns: ({ body: { code }, by }) =>
      orderAll(
        ['parked'],
        (state, page) => read.runs({ ...page, state }),
        ({ error }) => code === undefined || error?.code === code,
        (id) => order('resume', id, by),
      ),
    retryRun: async ({ params, by }) => shownOrder(await order('retry', params.id, by)),
    async retryRuns({ body: { dryRun = false, all = false, ...wanted }, by }) {
      if (all === Object.keys(wanted).length > 0) return refuseRetry()
      const since = wanted.since === undefined ? 0 : instantOf(wanted.since, '/since')
      const until = wanted.until === undefined ? Number.POSITIVE_INFINITY : instantOf(wanted.until, '/until')
      if (!dryRun) await options.dispatch.tryHeldRunners(wanted.runner)
      return orderAll(
        wanted.state === undefined ? (['failed', 'timed-out'] as const) : [wanted.state],
        (state, page) =>
          read.runs({
            ...page,
            kind: 'run',
            state,
            ...(wanted.endpoint !== undefined && { endpoint: wanted.endpoint }),
          }),
        ({ error, mapping, runner, ranAt = 0 }) =>
          isMeant(wanted.code, error?.code) &&
          isMeant(wanted.mapping, mapping) &&
          isMeant(wanted.runner, runner) &&
          ranAt >= since &&
          ranAt < until,
        async (id) => (dryRun ? undefined : order('retry', id, by)),
      )
    },
  } satisfies Partial<Handlers<typeof workRoutes>>

  /** @throws RequestError where the run is not there, or in another state */
  async function order(type: Order, id: Id, by: string): Promise<RunRecord> {
    const spent = type === 'resume' ? await spentBudgetOf(id) : undefined
    if (spent !== undefined) return refuse('WRONG_STATE', { sentence: sentenceOf(type, spent) })
    const result = await store.command({ type, run: id, at: now(), by })
    if (!result.ok && result.why !== 'unknown')
      return refuse('WRONG_STATE', { sentence: sentenceOf(type, result.reason) })
    const run = (result.ok && (await read.run(id))) || missing('run')
    const { sessionKey, state } = run
    log.info({ event: orders[type].event, runId: id, sessionKey, state, by })
    return run
  }

  /** Reason why a run that is resumed now would be parked again at once, or undefined. */
  async function spentBudgetOf(id: Id): Promise<string | undefined> {
    const run = await read.run(id)
    if (run?.state !== 'parked') return undefined
    const { day, budgets } = await readBudgets(options)
    const own = ['agents.budget', ...(run.budget === undefined ? [] : [`endpoints.${run.budget}.budget`])]
    const spent = budgets.find(({ key, isSpent }) => isSpent && own.includes(key))
    return (
      spent &&
      `${spent.key} is spent for ${day} (UTC), so it would be parked again; raise it, or resume the run tomorrow`
    )
  }
}

function shownOrder({ id, state, stage, cancelRequestedAt }: RunRecord) {
  return { ok: true as const, runId: id, state, stage, cancelRequestedAt }
}

/** A run with its summary event and its deliveries. */
async function withOutcome(read: Store['read'], run: RunRecord) {
  const [summary, ...deliveries] = await Promise.all([
    run.summaryEventId ? read.event(run.summaryEventId) : undefined,
    ...run.deliveryIds.map((id) => read.delivery(id)),
  ])
  return { ...run, summary: summary ?? null, deliveries: deliveries.filter((found) => found !== undefined) }
}

/** Milliseconds until the runner was first called, until its turn was over, and until everything was done. */
function timingsOf({ state, createdAt, startedAt, ranAt, summarisedAt, ...run }: RunRecord) {
  const endedAt = run.deliveredAt ?? run.cancelledAt ?? (state === 'succeeded' ? undefined : summarisedAt)
  return {
    queuedMs: between(createdAt, startedAt),
    runMs: between(startedAt, ranAt),
    totalMs: between(createdAt, endedAt),
  }
}

function between(start: number | undefined, end: number | undefined): number | undefined {
  return start === undefined || end === undefined ? undefined : Math.max(0, end - start)
}

/** An empty body would order something about every run, most likely because its filters went elsewhere. */
function refuseRetry() {
  return refuse('INVALID_FIELD', {
    sentence: 'Name a filter, such as `state`, or order it for all failed runs with `all: true`.',
    details: [{ pointer: '/all', message: 'must be true without a filter, and absent with one' }],
  })
}

/** True if a value passes a filter; an absent filter passes all. */
function isMeant(wanted: string | undefined, value: string | undefined): boolean {
  return wanted === undefined || wanted === value
}

/** The store words its reasons as clauses. */
function sentenceOf(type: Order, reason = 'its state does not allow it'): string {
  return `The run cannot be ${orders[type].done}: ${reason}.`
}
