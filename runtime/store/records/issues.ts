/** Keeps issues: open problems, each once however often it occurs, until they are resolved. */

import type { Context } from '../context.ts'
import {
  type AlertWay,
  type Command,
  type CommandResult,
  type IssueChange,
  type IssueRecord,
  severities,
} from '../port.ts'
import { addTasks } from '../queue/tasks.ts'
import { doneBut } from '../results.ts'
import { type Row, tables } from '../schema.ts'
import { decodeString, encodeString } from './rows.ts'
import { insertEvents } from './runs.ts'

type Seen = Extract<IssueChange, { readonly count: number }>

/**
 * Selects issues with their state at a time: a muted one is open again as soon as its time is over. `rank` and `age` sort them: the open
 * and the muted ones by severity, then the resolved ones; of equals, the newest first.
 */
export function issuesAt(now: string): string {
  const shown = `CASE WHEN state = 'muted' AND muted_until <= ${now} THEN 'open' ELSE state END`
  const rank = `CASE shown WHEN 'open' THEN severity WHEN 'muted' THEN severity + ${severities.length} ELSE ${2 * severities.length} END`
  return `(SELECT *, ${rank} AS rank, -last AS age FROM (SELECT *, ${shown} AS shown FROM issues) AS states) AS issues`
}

/** `severity` is an index in `severities`; `reported_on` is the day on which an event about it was posted last. */
type IssueRow = Row<'issues'> & { readonly shown: IssueRecord['state'] }

export function issueOf(row: IssueRow): IssueRecord {
  const { code, count, first, last, shown: state } = row
  const [key, subject, cause] = [row.key, row.subject, row.cause].map(decodeString) as [
    string,
    string,
    string,
  ]
  return {
    ...{ key, code, subject, cause, next: JSON.parse(row.next), count, first, last, state },
    severity: severities[row.severity] ?? 'failing',
    ...(state === 'muted' && row.muted_until !== null && { mutedUntil: row.muted_until }),
    ...(row.resolved_at !== null && { resolvedAt: row.resolved_at }),
    ...(row.reported_on !== null && { reportedOn: row.reported_on }),
    ...(row.alerted !== '' && { alerted: row.alerted.split(',') as AlertWay[] }),
  }
}

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
async function countIssue(tx: Context, { key: text, report, ...seen }: Seen, at: number): Promise<void> {
  const { last = at } = seen
  const key = encodeString(text)
  const [subject, cause] = [encodeString(seen.subject), encodeString(seen.cause)]
  const fields = [seen.code, severities.indexOf(seen.severity), subject, cause, JSON.stringify(seen.next)]
  const [before] = await tx.all<IssueRow>(`SELECT * FROM ${issuesAt('?1')} WHERE key = ?2`, [at, key])
  if (before === undefined)
    await tx.insert(tables.issues, [[key, ...fields, seen.count, last, last, 'open', null, null, null, '']])
  else
    await tx.run(
      `UPDATE issues SET code = ?2, severity = ?3, subject = ?4, cause = ?5, next = ?6, count = ?7, last = ?8 WHERE key = ?1`,
      [key, ...fields, before.count + seen.count, Math.max(before.last, last)],
    )
  const isMuted = before?.shown === 'muted'
  if (before !== undefined && !isMuted) await setState(tx, key, ['open', null, null])
  tx.changed('issue', text, isMuted ? 'muted' : 'open')
  if (isMuted || report === undefined || before?.reported_on === report.day) return
  await insertEvents(tx, [report.event])
  if (report.task !== undefined) await addTasks(tx, [report.task])
  await tx.run('UPDATE issues SET reported_on = ?1 WHERE key = ?2', [report.day, key])
}

async function changeState(tx: Context, change: Exclude<IssueChange, Seen>, at: number): Promise<boolean> {
  const key = encodeString(change.key)
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
