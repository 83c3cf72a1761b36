/** Carries out the actions of a post in its transaction. */

import { cancelRun, runCommand } from './commands.ts'
import { type Context, isHarmless } from './context.ts'
import { isUnavailable, plainError, storeErrorOf } from './driver-error.ts'
import { type Effects, type NewTask, type Settlement, StoreError } from './port.ts'
import type { Action, Post, Result } from './protocol.ts'
import type { Claims } from './queue/claims.ts'
import { addTasks, finishTasks, leasedTasks, lockLanes, postponeTasks, type TaskRow } from './queue/tasks.ts'
import { applyEffects, each } from './records/effects.ts'
import { acceptEntries, answerAgain } from './records/entries.ts'
import { addSpent } from './records/spending.ts'
import { laneOf } from './task-keys.ts'

/** Actions that change nothing in the database. */
const inMemory: ReadonlySet<string> = new Set<Action['type']>([
  'load',
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
  /** True if each action is in a savepoint, so that a faulty one fails alone. */
  readonly isolated: boolean
}

/** Carries out the actions of a post. Returns a result for each, and the claims that were settled. */
export async function runActions(tx: Context, post: Post, { claims, isolated }: ActionsOptions) {
  // At once and first: transactions that locked one lane after the other would wait for each other.
  if (tx.isShared) await lockLanes(tx, lanesOf(post.actions, claims))
  const results: Result[] = post.actions.map(() => undefined)
  await (isolated ? acceptEach(tx, post, results) : acceptAll(tx, post, results))
  for (const group of groupsOf(post.actions, isolated)) {
    const [[first, action]] = group
    if (action.type === 'command')
      results[first] = await attempt(tx, isolated, async () => ({
        value: await runCommand(tx, action.command),
      }))
    if (!isReport(action)) continue
    const reports = group.map(([, report]) => report as Report)
    const write = () => writeReports(tx, reports, claims)
    const written = isolated ? [await attempt(tx, true, async () => (await write())[0])] : await write()
    for (const [at, [index]] of group.entries()) results[index] = written[at]
  }
  const settled = post.actions.flatMap((action, index) =>
    action.type === 'settle' && results[index] === undefined ? action.claim : [],
  )
  return { results, settled }
}

type Numbered = readonly [index: number, action: Action]

/** Puts reports that follow each other into one group. Every other action is a group of its own. */
function groupsOf(
  actions: readonly Action[],
  isolated: boolean,
): readonly (readonly [Numbered, ...Numbered[]])[] {
  const groups: [Numbered, ...Numbered[]][] = []
  for (const each of actions.entries()) {
    const last = groups.at(-1)
    if (!isolated && last !== undefined && isReport(each[1]) && isReport(last[0][1])) last.push(each)
    else groups.push([each])
  }
  return groups
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
        const lane = claims.get(action.claim)?.task.lane
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
}

/** Accepts each entry by itself. One that is on the disk already is answered again. */
async function acceptEach(tx: Context, { actions }: Post, results: Result[]): Promise<void> {
  for (const [index, action] of actions.entries()) {
    if (action.type === 'accept')
      results[index] = await attempt(tx, true, async () => {
        const again = await answerAgain(tx, action.entry)
        return resultOf(again ?? (await acceptEntries(tx, [action.entry]))[0])
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

/** A report of a claim: effects, and with a settlement its end. */
type Report = Extract<Action, { type: 'checkpoint' | 'settle' }>

const isReport = (action: Action): action is Report =>
  action.type === 'checkpoint' || action.type === 'settle'

const leaseLost = plainError(
  new StoreError('LEASE_LOST', 'the claim was settled before, or another node has taken it over'),
)

/** Writes checkpoints and settlements with the same few statements, however many they are. Returns a result for each. */
async function writeReports(tx: Context, reports: readonly Report[], claims: Claims): Promise<Result[]> {
  if (reports.length === 0) return []
  const tokens = reports.map(({ claim }) => claims.get(claim)?.token)
  const taskOf = await leasedTasks(
    tx,
    tokens.flatMap((token) => token ?? []),
  )
  const ended = new Map<TaskRow, Settlement>()
  const all: Effects[] = []
  const results = reports.map((report, index): Result => {
    const token = tokens[index]
    const row = token && taskOf(token)
    if (row === undefined || ended.has(row)) return { error: leaseLost }
    if (report.type === 'settle') ended.set(row, report.settlement)
    all.push(report.type === 'settle' ? report.settlement.effects : report.effects)
    return undefined
  })
  await applyEffects(tx, all)
  const again = await endClaims(tx, ended)
  await addTasks(tx, [...each(all, 'tasks'), ...again])
  addSpent(tx, each(all, 'spend'))
  return results
}

/** Finishes or postpones the tasks of claims. Returns those that were scheduled again meanwhile. */
async function endClaims(tx: Context, ended: ReadonlyMap<TaskRow, Settlement>): Promise<readonly NewTask[]> {
  const done = [...ended].filter(([, settlement]) => 'done' in settlement)
  const again = await finishTasks(
    tx,
    done.map(([row]) => row),
  )
  const postponed = [...ended].flatMap(([row, settlement]) => {
    if (!('again' in settlement)) return []
    // A run that was cancelled while it was performed is due at once: its next claim ends it.
    const dueAt = row.cancelled === 1 ? Math.min(settlement.again, tx.now) : settlement.again
    return { row, dueAt, counts: settlement.counts }
  })
  postponeTasks(tx, postponed)
  // The run was parked before its performer could hear of the cancel.
  for (const [{ cancelled }, { effects }] of done)
    if (effects.run?.state === 'parked' && cancelled === 1)
      await cancelRun(tx, { type: 'cancel', run: effects.run.id, at: tx.now })
  return again
}

function resultOf(answer: unknown): Result {
  if (answer === undefined) return undefined
  return answer instanceof StoreError ? { error: plainError(answer) } : { value: answer }
}
