/** Keeps issues: open problems, each once however often it occurs, until they are resolved. */

import type { Statements } from '@reveille/kit'
import type { Context } from '../context.ts'
import { doneBut, type IssueRow, issueOf, issueState, issueStates, ranksPerState } from '../decisions.ts'
import { type Command, type CommandResult, type IssueChange, type IssueRecord, severities } from '../port.ts'
import { addTasks } from '../queue/tasks.ts'
import type { IssuePlace, IssueQuery } from '../reading.ts'
import { tables } from '../schema.ts'
import { columnOfText, textOfColumn } from './rows.ts'
import { insertEvent } from './runs.ts'

type Seen = Extract<IssueChange, { readonly count: number }>

export async function changeIssues(
  tx: Context,
  { changes, at }: Command & { readonly type: 'issues' },
): Promise<CommandResult> {
  const refused: { id: string; reason: string }[] = []
  await tx.lock(changes.map(({ key }) => `issue:${key}`))
  for (const change of changes) {
    if ('count' in change) await countIssue(tx, change, at)
    else if (!(await changeState(tx, change, at)))
      refused.push({ id: change.key, reason: 'there is no such issue' })
  }
  return doneBut(changes.length, refused)
}

/** Opens an issue, counts it up, or opens a resolved one again; a muted one stays muted. Its event is posted at most once a day. */
async function countIssue(tx: Context, { key: text, say, ...seen }: Seen, at: number): Promise<void> {
  const key = columnOfText(text)
  const severity = severities.indexOf(seen.severity)
  const { code, next } = seen
  const [subject, cause] = [columnOfText(seen.subject), columnOfText(seen.cause)]
  const [before] = await tx.all<IssueRow>('SELECT * FROM issues WHERE key = ?1', [key])
  const isMuted = before !== undefined && issueState(before, at) === 'muted'
  if (before === undefined) {
    const fresh = [
      code,
      severity,
      subject,
      cause,
      JSON.stringify(next),
      seen.count,
      at,
      at,
      'open',
      null,
      null,
      null,
      '',
    ]
    await tx.insert(tables.issues, [[key, ...fresh]])
  } else {
    await tx.run(
      `UPDATE issues SET code = ?2, severity = ?3, subject = ?4, cause = ?5, next = ?6, count = ?7, last = ?8 WHERE key = ?1`,
      [
        key,
        code,
        severity,
        subject,
        cause,
        JSON.stringify(next),
        before.count + seen.count,
        Math.max(before.last, at),
      ],
    )
    if (!isMuted && before.state !== 'open') await setState(tx, key, ['open', null, null])
  }
  tx.changed('issue', text, isMuted ? 'muted' : 'open')
  if (isMuted || say === undefined || before?.said_on === say.day) return
  await insertEvent(tx, say.event)
  if (say.task !== undefined) await addTasks(tx, [say.task])
  await tx.run('UPDATE issues SET said_on = ?1 WHERE key = ?2', [say.day, key])
}

async function changeState(tx: Context, change: Exclude<IssueChange, Seen>, at: number): Promise<boolean> {
  const key = columnOfText(change.key)
  if ('alerted' in change)
    return (await tx.run('UPDATE issues SET alerted = ?1 WHERE key = ?2', [change.alerted.join(), key])) > 0
  const state = 'resolve' in change ? 'resolved' : 'mute' in change ? 'muted' : 'open'
  const until = 'mute' in change ? change.mute : null
  const isKnown = await setState(tx, key, [state, until, state === 'resolved' ? at : null])
  if (isKnown) tx.changed('issue', change.key, state)
  return isKnown
}

async function setState(
  tx: Context,
  key: string,
  values: readonly [state: string, mutedUntil: number | null, resolvedAt: number | null],
): Promise<boolean> {
  const sql = 'UPDATE issues SET state = ?1, muted_until = ?2, resolved_at = ?3 WHERE key = ?4'
  return (await tx.run(sql, [...values, key])) > 0
}

/** Issues are few, so a list sorts all of them. A muted issue is open again as soon as its time is over. */
async function readAll({ all }: Statements, now: number) {
  const rows = await all<IssueRow>('SELECT * FROM issues')
  return rows.map((row) => {
    const issue = issueOf(
      {
        ...row,
        key: textOfColumn(row.key),
        subject: textOfColumn(row.subject),
        cause: textOfColumn(row.cause),
      },
      now,
    )
    const state = issueStates.indexOf(issue.state)
    const rank = state * ranksPerState + (issue.state === 'resolved' ? 0 : row.severity)
    return { issue, place: [rank, issue.last, issue.key] as IssuePlace }
  })
}

export async function readIssue(
  statements: Statements,
  key: string,
  now: number,
): Promise<IssueRecord | undefined> {
  const all = await readAll(statements, now)
  return all.find(({ issue }) => issue.key === key)?.issue
}

export async function readIssues(statements: Statements, { limit, state, after }: IssueQuery, now: number) {
  const all = await readAll(statements, now)
  return all
    .filter(
      ({ issue, place }) =>
        (state === undefined || issue.state === state) && (after === undefined || inOrder(after, place) < 0),
    )
    .toSorted((a, b) => inOrder(a.place, b.place))
    .slice(0, limit)
}

function inOrder([rank, last, key]: IssuePlace, [otherRank, otherLast, otherKey]: IssuePlace): number {
  return rank - otherRank || otherLast - last || (key < otherKey ? -1 : key > otherKey ? 1 : 0)
}
