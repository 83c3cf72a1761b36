/** Lists the kinds of issues: what each is about, and how it ends. The reference page has the same table, held by a test. */

import { dayMs } from '../store/day.ts'
import type { Severity } from '../store/port.ts'

export interface IssueCodeRow {
  readonly severity: Severity
  /** Completes "An issue has opened: …", in words that quote nothing of a sender. */
  readonly title: string
  /** Completes "It ends …", for the reference page. */
  readonly ends: string
  /** Kind of its subject; an issue ends when its subject leaves the configuration. */
  readonly about:
    | 'endpoint'
    | 'mapping'
    | 'channel'
    | 'source'
    | 'runner'
    | 'budget'
    | 'files'
    | 'gateway'
    | 'store'
  /** True where the problem lasts although nothing is counted, so that quiet days do not end it. Default: false. */
  readonly isLasting?: true
  /**
   * False if the main session gets no event: where dispatch commits one with the first run that it parks, and where unauthenticated
   * clients can open the issue, which would buy them a turn of the agent. Default: true.
   */
  readonly isReported?: false
}

const rows = {
  SIGNATURE_REFUSED: {
    isReported: false,
    severity: 'suspicious',
    about: 'endpoint',
    title: 'requests are refused: the signature is wrong or missing',
    ends: 'with the next authenticated request to the endpoint',
  },
  TOKEN_REFUSED: {
    isReported: false,
    severity: 'suspicious',
    about: 'endpoint',
    title: 'requests are refused: the token is wrong or missing',
    ends: 'with the next authenticated request to the endpoint',
  },
  BODY_REFUSED: {
    severity: 'losing-events',
    about: 'endpoint',
    title: 'requests of an authenticated sender are refused: the body cannot be read',
    ends: 'with the next readable request to the endpoint',
  },
  TOKEN_GUESSING: {
    isReported: false,
    severity: 'suspicious',
    about: 'gateway',
    title: 'a client tries wrong gateway tokens',
    ends: 'after seven days without another',
  },
  TRANSFORM_FAILING: {
    severity: 'failing',
    about: 'mapping',
    title: 'the transform of this mapping fails',
    ends: 'with the next request that the mapping accepts or skips',
  },
  MAPPING_REFUSES: {
    severity: 'losing-events',
    about: 'mapping',
    title: 'requests are refused with 4xx, which few senders retry',
    ends: 'when all stored ones have been replayed',
  },
  DEDUPE_TOO_COARSE: {
    severity: 'losing-events',
    about: 'mapping',
    title: 'requests with different bodies are dropped as duplicates of each other',
    ends: 'after seven days without one',
  },
  DRIFT: {
    severity: 'degraded',
    about: 'endpoint',
    title: 'a field that a mapping reads no longer arrives',
    ends: 'when the field arrives again',
  },
  DUPLICATES: {
    severity: 'degraded',
    about: 'endpoint',
    title: 'the sender repeats its deliveries',
    ends: 'after an hour with fewer than three repetitions',
  },
  SILENCE: {
    isLasting: true,
    severity: 'losing-events',
    about: 'endpoint',
    title: 'no request has arrived within `expectEvery`',
    ends: 'with the next request to the endpoint',
  },
  LOOP: {
    severity: 'degraded',
    about: 'mapping',
    title: 'a suspected loop was stopped',
    ends: 'when none of its runs is parked; for a request caused by the gateway itself, after an hour without one',
  },
  BUDGET_SPENT: {
    isLasting: true,
    severity: 'failing',
    about: 'budget',
    title: 'the budget of the day is spent',
    ends: 'when its parked runs are resumed or cancelled',
    isReported: false,
  },
  BUDGET_ALARM: {
    severity: 'degraded',
    about: 'budget',
    title: 'much of the budget of the day is spent',
    ends: 'with the day (UTC)',
  },
  NO_PRICE: {
    isLasting: true,
    severity: 'failing',
    about: 'runner',
    title: 'runs are parked: a budget is in USD, and their price is unknown',
    ends: 'when its parked runs are resumed or cancelled',
  },
  TIMEOUTS: {
    severity: 'failing',
    about: 'mapping',
    title: 'runs time out',
    ends: 'with the next run of the mapping that succeeds',
  },
  RUNNER_HELD: {
    isLasting: true,
    severity: 'failing',
    about: 'runner',
    title: 'the runner is unavailable, and its runs wait',
    ends: 'with the next answer of the runner',
  },
  RUNNER_FAILS: {
    severity: 'failing',
    about: 'runner',
    title: 'runs of this runner fail',
    ends: 'when no run of the last seven days is still failed, and the last heartbeat succeeded',
  },
  CHANNEL_REFUSES: {
    isLasting: true,
    severity: 'failing',
    about: 'channel',
    title: 'the channel sends nothing',
    ends: 'with the next message that the channel sends',
  },
  DELIVERIES_PARKED: {
    isLasting: true,
    severity: 'failing',
    about: 'channel',
    title: 'replies are parked and wait for an operator',
    ends: 'when no reply of the channel is parked',
  },
  SOURCE_STOPPED: {
    isLasting: true,
    severity: 'losing-events',
    about: 'source',
    title: 'the source fetches nothing',
    ends: 'when the source reports that it works',
  },
  RELOAD_REFUSED: {
    isLasting: true,
    severity: 'degraded',
    about: 'files',
    title: 'the last change was refused; an earlier generation is live',
    ends: 'when the files go live, or match the live generation again',
  },
  ALERTS_FAIL: {
    isLasting: true,
    severity: 'failing',
    about: 'gateway',
    title: 'alerts cannot be sent this way',
    ends: 'with the next alert that is sent',
  },
  STORE_UNWRITABLE: {
    isLasting: true,
    severity: 'losing-events',
    about: 'store',
    title: 'requests are answered 503: the store cannot write',
    ends: 'when the store can write again',
    isReported: false,
  },
  DISK_LOST_WRITES: {
    isLasting: true,
    severity: 'losing-events',
    about: 'store',
    title: 'the disk lost writes',
    ends: 'manually, after the disk is repaired',
  },
} as const satisfies Readonly<Record<string, IssueCodeRow>>

export type IssueCode = keyof typeof rows

export const issueCodes: Readonly<Record<IssueCode, IssueCodeRow>> = rows

/** An issue that nothing was counted for in this time is over. */
export const quietMs = 7 * dayMs

export function keyOf(code: IssueCode, subject: string): string {
  return `${code}:${subject}`
}

/** Returns undefined for a key that no code of this version begins. */
export function partsOf(key: string): { readonly code: IssueCode; readonly subject: string } | undefined {
  const end = key.indexOf(':')
  const code = key.slice(0, end)
  return Object.hasOwn(issueCodes, code)
    ? { code: code as IssueCode, subject: key.slice(end + 1) }
    : undefined
}

/** Returns the table of the reference page. */
export function renderIssueTable(): string {
  const rows = Object.entries(issueCodes).map(
    ([code, { severity, title, ends, about }]) =>
      `| \`${code}\` | ${severity} | ${about} | ${title} | ${ends} |`,
  )
  return ['| Code | Severity | About | It says | It ends |', '|---|---|---|---|---|', ...rows].join('\n')
}
