/** What the actions of a post do in its transaction. */

import { cancelRun, runCommand } from './commands.ts'
import { type Context, isHarmless } from './context.ts'
import { isUnavailable, plainError, storeErrorOf } from './driver-error.ts'
import { type NewTask, type Settlement, StoreError } from './port.ts'
import type { Action, Post, Result } from './protocol.ts'
import type { Claims } from './queue/claims.ts'
import {
  addTasks,
  finishTask,
  type LeaseToken,
  leasedTask,
  lockLanes,
  postponeTask,
  type TaskRow,
} from './queue/tasks.ts'
import { applyEffects } from './records/effects.ts'
import { acceptEntries, addRequests, answerAgain, refusedBeforeCommit } from './records/entries.ts'
import { laneOf } from './task-keys.ts'

/** Actions that change nothing in the database. */
const inMemory: ReadonlySet<string> = new Set<Action['type']>([
  'load',
  'listen',
  'tick',
  'register',
  'resize',
  'pause',
  'give-up',
  'configure',
])

export function isWriting({ type }: Action): boolean {
  return !inMemory.has(type)
}

export interface ActionsOptions {
  readonly claims: Claims
  /** Whether each action is in a savepoint, so that a faulty one fails alone. */
  readonly isolated: boolean
}

/** Carries out the actions of a post. Returns a result for each, and the claims that were settled. */
export async function runActions(tx: Context, post: Post, { claims, isolated }: ActionsOptions) {
  // At once and first: transactions that locked one lane after the other would wait for each other.
  if (tx.isShared) await lockLanes(tx, lanesOf(post.actions, claims))
  const results: Result[] = post.actions.map(() => undefined)
  const settled: number[] = []
  await (isolated ? acceptEach(tx, post, results) : acceptAll(tx, post, results))
  const alone = oneByOne()
  for (const group of groupsOf(post.actions, tx.isShared && !isolated)) {
    const ended = await Promise.allSettled(
      group.map(async ([index, action]) => {
        const work = async () => ({ value: await execute(tx, action, { claims, alone }) })
        results[index] = await attempt(tx, isolated, work)
        if (action.type === 'settle' && !('error' in (results[index] ?? {}))) settled.push(action.claim)
      }),
    )
    // Only now does nothing of the group go on.
    for (const each of ended) if (each.status === 'rejected') throw each.reason
  }
  return { results, settled }
}

type Numbered = readonly [index: number, action: Action]

/**
 * Puts actions that write about different claims, one after the other in the post, into one group: their statements are sent without
 * waiting for each other's answers, which on a server is most of what settling takes. Every other action is a group of its own.
 */
function groupsOf(actions: readonly Action[], together: boolean): readonly (readonly Numbered[])[] {
  const groups: Numbered[][] = []
  let claims = new Set<number>()
  for (const [index, action] of actions.entries()) {
    if (!isWriting(action) || action.type === 'accept' || action.type === 'note') continue
    const claim = action.type === 'settle' || action.type === 'checkpoint' ? action.claim : undefined
    if (together && claim !== undefined && claims.size > 0 && !claims.has(claim))
      groups.at(-1)?.push([index, action])
    else {
      groups.push([[index, action]])
      claims = new Set()
    }
    if (claim !== undefined) claims.add(claim)
  }
  return groups
}

type Alone = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Returns a function that begins a piece of work when those before have ended. */
function oneByOne(): Alone {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => undefined)
    return next
  }
}

/** The lanes that actions change, as far as that is known before. */
function lanesOf(actions: readonly Action[], claims: Claims): readonly Pick<NewTask, 'lane'>[] {
  return actions.flatMap((action): readonly Pick<NewTask, 'lane'>[] => {
    switch (action.type) {
      case 'accept':
        return action.entry.actions.flatMap(({ tasks, rejectsIfBusy: session }) => [
          ...tasks,
          ...(session === undefined ? [] : [{ lane: laneOf(session) }]),
        ])
      case 'checkpoint':
        return action.effects.tasks ?? []
      case 'settle': {
        const lane = claims.laneOf(action.claim)
        const { tasks = [] } = action.settlement.effects
        return lane === undefined ? tasks : [...tasks, { lane }]
      }
      case 'command':
        return 'task' in action.command && typeof action.command.task !== 'string'
          ? [action.command.task]
          : []
      default:
        return []
    }
  })
}

/** Accepts the entries of a post together. */
async function acceptAll(tx: Context, { actions }: Post, results: Result[]): Promise<void> {
  const entries = [...actions.entries()].flatMap(([index, action]) =>
    action.type === 'accept' ? [{ index, entry: action.entry }] : [],
  )
  const answers = await acceptEntries(
    tx,
    entries.map(({ entry }) => entry),
  )
  for (const [at, { index }] of entries.entries()) results[index] = resultOf(answers[at])
  await addRequests(
    tx,
    actions.flatMap((action) => (action.type === 'note' ? [action.request] : [])),
  )
}

/** Accepts each entry by itself. One that is on the disk already is answered again. */
async function acceptEach(tx: Context, { actions }: Post, results: Result[]): Promise<void> {
  for (const [index, action] of actions.entries()) {
    if (action.type === 'accept')
      results[index] = await attempt(tx, true, async () => {
        const again = await answerAgain(tx, action.entry)
        return resultOf(again ?? (await acceptEntries(tx, [action.entry]))[0])
      })
    if (action.type === 'note')
      await attempt(tx, true, async () => {
        if ((await answerAgain(tx, action.request)) === undefined) await addRequests(tx, [action.request])
        return undefined
      })
  }
}

/** Returns the error of an action that fails alone, and throws one that undoes the whole transaction. */
async function attempt(tx: Context, isolated: boolean, work: () => Promise<Result>): Promise<Result> {
  try {
    return isolated ? await tx.nested(work) : await work()
  } catch (failed) {
    const error = storeErrorOf(failed)
    if (isHarmless(error) || (isolated && !isUnavailable(error))) return { error: plainError(error) }
    throw failed
  }
}

interface Doing {
  readonly claims: Claims
  /** For what looks at lanes and changes them. */
  readonly alone: Alone
}

/** Carries out one action, and returns what its caller gets after the commit. */
async function execute(tx: Context, action: Action, { claims, alone }: Doing): Promise<unknown> {
  switch (action.type) {
    case 'checkpoint':
      await leasedTask(tx, claims.find(action.claim).token)
      await applyEffects(tx, action.effects)
      return await alone(() => addTasks(tx, action.effects.tasks ?? []))
    case 'settle':
      return await settle(tx, action, { claims, alone })
    case 'command':
      return await runCommand(tx, action.command)
    case 'write-check': {
      const name = `write-check:${tx.node}`
      await tx.run('INSERT INTO leases (name, owner, until) VALUES (?1, ?2, 0)', [name, tx.node])
      await tx.run('DELETE FROM leases WHERE name = ?1', [name])
      return undefined
    }
    case 'refused-before-commit':
      return await refusedBeforeCommit(tx, action.request)
    default:
      return undefined
  }
}

async function settle(
  tx: Context,
  { claim, settlement }: Extract<Action, { type: 'settle' }>,
  { claims, alone }: Doing,
): Promise<void> {
  const { token } = claims.find(claim)
  const before = await leasedTask(tx, token)
  await applyEffects(tx, settlement.effects)
  await alone(() => endClaim(tx, before, token, settlement))
}

/** Adds the tasks of a settlement, and finishes or postpones its own: who looks whether a lane is empty must not be overtaken. */
async function endClaim(
  tx: Context,
  before: TaskRow,
  token: LeaseToken,
  settlement: Settlement,
): Promise<void> {
  const { run, tasks = [] } = settlement.effects
  await addTasks(tx, tasks)
  const isCancelled = before.cancelled === 1
  const row = tasks.length === 0 ? before : await leasedTask(tx, token)
  if ('done' in settlement) {
    await finishTask(tx, row)
    // The run was parked before its performer could hear of the cancel.
    if (run?.state === 'parked' && isCancelled)
      await cancelRun(tx, { type: 'cancel', run: run.id, at: tx.now })
  } else {
    // A run that was cancelled while it was performed is due at once: its next claim ends it.
    const { again } = settlement
    await postponeTask(tx, row, isCancelled ? Math.min(again, tx.now) : again, settlement.counts)
  }
}

function resultOf(answer: unknown): Result {
  if (answer === undefined) return undefined
  return answer instanceof StoreError ? { error: plainError(answer) } : { value: answer }
}
