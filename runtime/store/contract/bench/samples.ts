/** Makes the records that contract tests use. */

import type { MintId } from '../../id.ts'
import { pagesOf } from '../../pages.ts'
import type {
  Acceptance,
  DeliveryRecord,
  Effects,
  Entry,
  EventRecord,
  Id,
  NewAction,
  NewTask,
  Page,
  PageOptions,
  RequestRecord,
  RunRecord,
  SessionMessage,
} from '../../port.ts'
import { deliveryTask, heartbeatTask, heartbeatWindowMs, runTask } from '../../task-keys.ts'

/** Properties of an action beside its record that a test may choose. */
type ActionExtra = Partial<Pick<NewAction, 'dedupe' | 'tasks'>>
type RunExtra = ActionExtra & Pick<RunAction, 'busy'> & { readonly dueAt?: number }

/** The defaults are the key `k`, `latest`, a second and ten seconds. */
interface Coalescing {
  readonly key?: string
  readonly keep?: 'latest' | 'all'
  readonly windowMs?: number
  readonly maxWaitMs?: number
}

export interface Sampler {
  request(fields?: Partial<RequestRecord>): RequestRecord
  run(fields?: Partial<RunRecord>): RunRecord
  event(fields?: Partial<EventRecord>): EventRecord
  delivery(fields?: Partial<DeliveryRecord>): DeliveryRecord
  /** Makes an action with a run, in the lane of its session if a session key is given. */
  runAction(fields?: Partial<RunRecord>, extra?: RunExtra): NewAction
  /** Makes an action with a run of the session `pr:1` that waits for others of its key. */
  coalescedAction(coalesce?: Coalescing, fields?: Partial<RunRecord>, extra?: RunExtra): NewAction
  eventAction(fields?: Partial<EventRecord>, extra?: ActionExtra): NewAction
  /** Makes an entry of one request with these actions. */
  entry(...actions: NewAction[]): Entry
  deliveryTask(delivery: DeliveryRecord): NewTask
  /** Makes a turn of one message. */
  turn(session: string, text?: string, role?: SessionMessage['role']): Turn
}

type Turn = NonNullable<Effects['append']>[number]

export function createSampler({ mintId, clock }: { mintId: MintId; clock: { now(): number } }): Sampler {
  const sampler: Sampler = {
    request: (fields) => ({
      id: mintId(),
      endpoint: 'github',
      generation: 1,
      outcome: 'accepted',
      status: 202,
      bodyBytes: 2,
      receivedAt: clock.now(),
      timings: {},
      actions: [],
      ...fields,
    }),
    run: (fields) => {
      const id = fields?.id ?? mintId()
      return {
        id,
        kind: 'run',
        generation: 1,
        sessionKey: `hook:${id}`,
        state: 'queued',
        stage: 'accepted',
        runner: 'echo',
        timeoutSeconds: 600,
        wakeMode: 'now',
        deliver: false,
        channel: 'last',
        message: 'hello',
        prompt: 'hello',
        attempts: [],
        createdAt: clock.now(),
        deliveryIds: [],
        ...fields,
      }
    },
    event: (fields) => ({
      id: mintId(),
      session: 'main',
      state: 'pending',
      text: 'it rained',
      prompt: 'it rained',
      mode: 'now',
      trusted: false,
      origin: {},
      generation: 1,
      createdAt: clock.now(),
      ...fields,
    }),
    delivery: (fields) => ({
      id: mintId(),
      runId: mintId(),
      state: 'pending',
      channel: 'terminal',
      text: 'hello',
      receipts: [],
      attempts: 0,
      generation: 1,
      createdAt: clock.now(),
      ...fields,
    }),
    runAction(fields, { dueAt = clock.now(), ...extra } = {}) {
      const run = sampler.run(fields)
      const { id, sessionKey, pool } = run
      const lane = fields?.sessionKey !== undefined
      const task = runTask({ id, sessionKey, lane, dueAt, ...(pool !== undefined && { pool }) })
      return { type: 'run', record: run, tasks: [task], ...extra }
    },
    coalescedAction(
      { key: name = 'k', keep = 'latest', windowMs = 1_000, maxWaitMs = 10_000 } = {},
      fields,
      extra,
    ) {
      const sessionKey = fields?.sessionKey ?? 'pr:1'
      const key = JSON.stringify([sessionKey, name])
      const now = clock.now()
      const coalesce = { key, keep, deadline: now + maxWaitMs, maxPerHour: 60 }
      const record = sampler.run({ sessionKey, coalesce, ...fields })
      const dueAt = now + Math.min(windowMs, maxWaitMs)
      const task = runTask({ id: record.id, sessionKey, lane: true, dueAt })
      return { type: 'run', record, join: { key, dueAt, keep }, tasks: [task], ...extra }
    },
    eventAction(fields, extra) {
      const event = sampler.event(fields)
      const tasks = event.mode === 'now' ? [heartbeatTask(clock.now() + heartbeatWindowMs)] : []
      return { type: 'event', record: event, tasks, ...extra }
    },
    entry(...given) {
      const named = given.map(({ type, record }) => ({
        kind: type === 'run' ? ('agent' as const) : ('wake' as const),
        id: record.id,
      }))
      const request = sampler.request({ actions: named })
      const actions = given.map((action) => (isCoalesced(action) ? withRequest(action, request.id) : action))
      return { request, actions }
    },
    deliveryTask: (delivery) =>
      deliveryTask({
        id: delivery.id,
        channel: delivery.channel,
        lane: `${delivery.channel}:${delivery.to}`,
        dueAt: clock.now(),
      }),
    turn(session, text = 'hi', role = 'user') {
      const turn = mintId()
      return { session, turn, messages: [{ role, text, at: clock.now(), turn }] }
    },
  }
  return sampler
}

type RunAction = NewAction & { readonly type: 'run' }

function isCoalesced(action: NewAction): action is RunAction {
  return action.type === 'run' && action.join !== undefined
}

function withRequest(action: RunAction, requestId: Id): RunAction {
  return { ...action, record: { ...action.record, requestId } }
}

export function idOf(action: NewAction): Id {
  return action.record.id
}

export function idsOf(items: readonly { readonly id: Id }[]): Id[] {
  return items.map(({ id }) => id)
}

/** Returns the ids in a page, newest first. */
export async function idsIn(page: Promise<Page<{ readonly id: Id }>>): Promise<Id[]> {
  return idsOf((await page).items)
}

/** Reads a list page by page. */
export async function allOf<Item>(
  list: (page: PageOptions) => Promise<Page<Item>>,
  limit: number,
): Promise<Item[]> {
  const items: Item[] = []
  for await (const page of pagesOf(list, limit)) items.push(...page)
  return items
}

export function outcomesOf({ actions }: Acceptance): string[] {
  return actions.map(({ outcome }) => outcome)
}
