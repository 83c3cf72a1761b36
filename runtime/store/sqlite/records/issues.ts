/** Keeps issues: open problems, each once however often it shows, until they are resolved. */

import type { DatabaseSync } from 'node:sqlite'
import { doneBut, type IssueRow, issueOf, issueState, issueStates, ranksPerState } from '../../decisions.ts'
import {
  type Command,
  type CommandResult,
  type IssueChange,
  type IssueRecord,
  severities,
} from '../../port.ts'
import type { IssuePlace, IssueQuery } from '../../reading.ts'
import type { Parts } from '../parts.ts'

type Seen = Extract<IssueChange, { readonly count: number }>

type IssueParts = Pick<Parts, 'db' | 'events' | 'schedule' | 'changed'>

export function createIssues({ db, events, schedule, changed }: IssueParts) {
  const select = db.prepare('SELECT state, muted_until, said_on FROM issues WHERE key = ?')
  const upsert = db.prepare(
    `INSERT INTO issues VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 'open', NULL, NULL, NULL, ?8, '')
     ON CONFLICT (key) DO UPDATE SET code = ?2, subject = ?3, cause = ?4, next = ?5, count = count + ?6,
     last = max(last, ?7), severity = ?8`,
  )
  const setState = db.prepare(
    'UPDATE issues SET state = ?, muted_until = ?, resolved_at = ? WHERE key = ? RETURNING 1',
  )
  const setAlerted = db.prepare('UPDATE issues SET alerted = ? WHERE key = ? RETURNING 1')
  const setSaid = db.prepare('UPDATE issues SET said_on = ? WHERE key = ?')

  const find = (key: string) =>
    select.get(key) as Pick<IssueRow, 'state' | 'muted_until' | 'said_on'> | undefined

  function see({ key, code, severity, subject, cause, next, count, say }: Seen, at: number): void {
    const before = find(key)
    upsert.run(key, code, subject, cause, JSON.stringify(next), count, at, severities.indexOf(severity))
    const isMuted = before !== undefined && issueState(before, at) === 'muted'
    changed('issue', key, isMuted ? 'muted' : 'open')
    if (isMuted) return
    if (before !== undefined && before.state !== 'open') setState.run('open', null, null, key)
    if (say === undefined || before?.said_on === say.day) return
    events.insert(say.event)
    if (say.task !== undefined) schedule.add(say.task)
    setSaid.run(say.day, key)
  }

  function changeState(change: Exclude<IssueChange, Seen>, at: number): boolean {
    const { key } = change
    if ('alerted' in change) return setAlerted.get(change.alerted.join(), key) !== undefined
    const state = 'resolve' in change ? 'resolved' : 'mute' in change ? 'muted' : 'open'
    const until = 'mute' in change ? change.mute : null
    const isKnown = setState.get(state, until, state === 'resolved' ? at : null, key) !== undefined
    if (isKnown) changed('issue', key, state)
    return isKnown
  }

  return ({ changes, at }: Command & { readonly type: 'issues' }): CommandResult => {
    const refused: { id: string; reason: string }[] = []
    for (const change of changes) {
      if ('count' in change) see(change, at)
      else if (!changeState(change, at)) refused.push({ id: change.key, reason: 'there is no such issue' })
    }
    return doneBut(changes.length, refused)
  }
}

/** Issues are few, so a list sorts all of them. */
export function createIssueReader(db: DatabaseSync) {
  // A muted issue is open again as soon as its time is over.
  const current = `SELECT *, CASE WHEN state = 'resolved' THEN ${2 * ranksPerState}
    WHEN state = 'muted' AND (muted_until IS NULL OR muted_until > ?1) THEN ${ranksPerState} + severity
    ELSE severity END AS rank FROM issues`
  const selectOne = db.prepare(`${current} WHERE key = ?2`)
  const selectPage = db.prepare(
    `SELECT * FROM (${current}) WHERE rank / ${ranksPerState} = ifnull(?2, rank / ${ranksPerState}) AND (rank, -last, key) > (?3, ?4, ?5)
     ORDER BY rank, -last, key LIMIT ?6`,
  )

  return {
    issue(key: string, now: number): IssueRecord | undefined {
      const row = selectOne.get(now, key) as IssueRow | undefined
      return row && issueOf(row, now)
    },
    issues(
      { limit, state, after = [-1, Number.MAX_SAFE_INTEGER, ''] }: IssueQuery,
      now: number,
    ): { readonly issue: IssueRecord; readonly place: IssuePlace }[] {
      const wanted = state === undefined ? null : issueStates.indexOf(state as IssueRecord['state'])
      const [rank, last, key] = after
      const rows = selectPage.all(now, wanted, rank, -last, key, limit) as unknown as RankedRow[]
      return rows.map((row) => ({ issue: issueOf(row, now), place: [row.rank, row.last, row.key] }))
    },
  }
}

interface RankedRow extends IssueRow {
  readonly rank: number
}
