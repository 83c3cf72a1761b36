/** Keeps issues: open problems, each once however often it shows, until they are resolved. */

import { doneBut, type IssueRow, issueOf, issueState, issueStates, ranksPerState } from '../decisions.ts'
import { type Command, type CommandResult, type IssueChange, type IssueRecord, severities } from '../port.ts'
import type { IssuePlace, IssueQuery } from '../reading.ts'
import type { Changing, Query } from './parts.ts'
import { columnOfText, textOfColumn } from './rows.ts'

type Seen = Extract<IssueChange, { readonly count: number }>
type KnownRow = Pick<IssueRow, 'state' | 'muted_until' | 'said_on'>

const texts = ['key', 'code', 'subject', 'cause'] as const

/** Issues are few, so they are changed one after the other. */
export async function changeIssues(
  { changes, at }: Command & { readonly type: 'issues' },
  changing: Changing,
): Promise<CommandResult> {
  // Two nodes that change the same issues lock them in the same order.
  await changing.query('SELECT 1 FROM issues WHERE key = ANY($1) ORDER BY key FOR UPDATE', [
    changes.map(({ key }) => columnOfText(key)),
  ])
  const refused: { id: string; reason: string }[] = []
  for (const change of changes) {
    if ('count' in change) await see(change, at, changing)
    else if (!(await changeState(change, at, changing)))
      refused.push({ id: change.key, reason: 'there is no such issue' })
  }
  return doneBut(changes.length, refused)
}

async function see(seen: Seen, at: number, changing: Changing): Promise<void> {
  const { key, severity, next, count, say } = seen
  const { query, send, changed } = changing
  const [before] = await query<KnownRow>('SELECT state, muted_until, said_on FROM issues WHERE key = $1', [
    columnOfText(key),
  ])
  const isMuted = before !== undefined && issueState(before, at) === 'muted'
  const says = !isMuted && say !== undefined && before?.said_on !== say.day
  send(
    `INSERT INTO issues AS old (key, code, subject, cause, next, count, first, last, state, said_on, severity)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 'open', $8, $9)
     ON CONFLICT (key) DO UPDATE SET code = $2, subject = $3, cause = $4, next = $5, count = old.count + $6,
     last = greatest(old.last, $7), said_on = coalesce($8, old.said_on), severity = $9`,
    [
      ...texts.map((name) => columnOfText(seen[name])),
      JSON.stringify(next),
      count,
      at,
      says ? say.day : null,
      severities.indexOf(severity),
    ],
  )
  changed('issue', key, isMuted ? 'muted' : 'open')
  if (isMuted) return
  if (before !== undefined && before.state !== 'open') await setState(changing, key, 'open', null, null)
  if (!says) return
  await changing.insertEvents([say.event])
  if (say.task !== undefined) await changing.schedule.add([say.task])
}

async function changeState(
  change: Exclude<IssueChange, Seen>,
  at: number,
  changing: Changing,
): Promise<boolean> {
  const { key } = change
  if ('alerted' in change) {
    const sql = 'UPDATE issues SET alerted = $2 WHERE key = $1 RETURNING 1'
    return (await changing.query(sql, [columnOfText(key), change.alerted.join()])).length > 0
  }
  const state = 'resolve' in change ? 'resolved' : 'mute' in change ? 'muted' : 'open'
  const until = 'mute' in change ? change.mute : null
  const isKnown = await setState(changing, key, state, until, state === 'resolved' ? at : null)
  if (isKnown) changing.changed('issue', key, state)
  return isKnown
}

async function setState(
  { query }: Changing,
  key: string,
  state: IssueRecord['state'],
  until: number | null,
  resolvedAt: number | null,
): Promise<boolean> {
  const rows = await query(
    'UPDATE issues SET state = $2, muted_until = $3, resolved_at = $4 WHERE key = $1 RETURNING 1',
    [columnOfText(key), state, until, resolvedAt],
  )
  return rows.length > 0
}

/** SQL for all issues with their ranks at a time. A muted issue is open again as soon as its time is over. */
const ranked = `SELECT *, CASE WHEN state = 'resolved' THEN ${2 * ranksPerState}
  WHEN state = 'muted' AND (muted_until IS NULL OR muted_until > $1::bigint) THEN ${ranksPerState} + severity
  ELSE severity END AS rank FROM issues`

export async function readIssue(query: Query, key: string, now: number): Promise<IssueRecord | undefined> {
  const [row] = await query<IssueRow>('SELECT * FROM issues WHERE key = $1', [columnOfText(key)])
  return row && issueOf(decoded(row), now)
}

/** Issues are few, so a list sorts all of them. */
export async function readIssues(
  query: Query,
  { limit, state, after: [rank, last, key] = [-1, Number.MAX_SAFE_INTEGER, ''] }: IssueQuery,
  now: number,
): Promise<{ readonly issue: IssueRecord; readonly place: IssuePlace }[]> {
  const wanted = state === undefined ? null : issueStates.indexOf(state as IssueRecord['state'])
  const rows = await query<IssueRow & { rank: number }>(
    `SELECT * FROM (${ranked}) AS ranked WHERE rank / ${ranksPerState} = coalesce($2::int, rank / ${ranksPerState})
     AND (rank, -last, key) > ($3::int, $4::bigint, $5::text) ORDER BY rank, -last, key LIMIT $6`,
    [now, wanted, rank, -last, columnOfText(key), limit],
  )
  return rows.map(({ rank: own, ...row }) => {
    const issue = issueOf(decoded(row), now)
    return { issue, place: [own, issue.last, issue.key] }
  })
}

function decoded(row: IssueRow): IssueRow {
  return { ...row, ...Object.fromEntries(texts.map((name) => [name, textOfColumn(row[name])])) }
}
