/**
 * Tells a person of issues: by a message of a configured channel, and by a signed call of a webhook. Neither needs an agent.
 *
 * What a person knows is on record with each issue, and is compared with what is true. So an issue that opens and closes between
 * two looks is not told, nothing is lost by a restart or an outage, and what could not be told is told later.
 */

import { createHmac, randomUUID } from 'node:crypto'
import type { Settings, Timers } from '@reveille/engine'
import { backoffMs } from '@reveille/kit'
import {
  type AlertWay,
  type IssueChange,
  type IssueRecord,
  type Severity,
  severities,
} from '../store/port.ts'
import { type IssueCode, issueCodes } from './codes.ts'
import type { Ledger } from './ledger.ts'

export interface AlertOptions {
  readonly ledger: Pick<Ledger, 'note' | 'resolve' | 'flush'>
  /** Returns all issues, with those that the store could not write yet. */
  readonly issues: () => Promise<readonly IssueRecord[]>
  readonly change: (changes: readonly IssueChange[]) => Promise<unknown>
  readonly settings: () => Settings['gateway']['issues']
  /** Commits a message to a channel. Rejects, or returns the reason, if it cannot. */
  readonly send: (message: {
    readonly channel: string
    readonly to?: string
    readonly text: string
  }) => Promise<string | undefined>
  readonly fetch: typeof globalThis.fetch
  readonly mask: (text: string) => string
  readonly log: { warn(facts: object, message?: string): void }
  readonly now: () => number
  readonly timers: Timers
  /** Whether this process alerts, for all nodes. */
  readonly leads: () => boolean
}

/** What happens within this time is one message. */
const gatherMs = 2000
/** Between two messages of a channel, while they do not cease. */
const messageGapMs = { min: 10_000, max: 600_000 }
/** After this time without a message the gap is the shortest again. */
const quietMs = 3_600_000
/** Without jitter: one process alerts. */
const backoff = { firstMs: 5000, maxMs: 600_000, jitter: [1, 1] } as const
const webhookTimeoutMs = 10_000
/** A call that fails once is a matter of seconds; so many are an issue. */
const minFailures = 3
const maxListed = 20

export function createAlerts(options: AlertOptions) {
  const { change, settings, now, timers, log, leads, ledger } = options
  const closing = new AbortController()
  /** The ids of calls that have not been answered, because a repeated call has the id of the first. */
  const callIds = new Map<string, string>()
  /** What a person knows and the store could not put on record yet, by way and key: the store itself may be what fails. */
  const unrecorded = new Map<string, News & { readonly way: AlertWay }>()
  const failures: Record<AlertWay, number> = { channel: 0, webhook: 0 }
  const dueAt: Record<AlertWay, number> = { channel: 0, webhook: 0 }
  let gapMs: number = messageGapMs.min
  let messagedAt = Number.NEGATIVE_INFINITY
  let timer: unknown
  let looking: Promise<void> | undefined
  let isAskedAgain = false

  function schedule(ms: number): void {
    if (closing.signal.aborted) return
    timers.clearTimeout(timer)
    timer = timers.setTimeout(look, Math.max(ms, 0))
  }

  function look(): void {
    timer = undefined
    if (looking !== undefined) {
      isAskedAgain = true
      return
    }
    looking = lookOnce()
      .catch((error) => {
        log.warn({ event: 'issues-not-read', err: error }, 'alerts will be sent later')
        schedule(backoff.firstMs)
      })
      .finally(() => {
        looking = undefined
        if (isAskedAgain) schedule(gatherMs)
        isAskedAgain = false
      })
  }

  async function lookOnce(): Promise<void> {
    const { channel, webhook, severity } = settings()
    if (!leads() || (channel === undefined && webhook === undefined)) return
    await ledger.flush()
    const issues = await options.issues()
    if (unrecorded.size > 0) await record([])
    for (const way of ['channel', 'webhook'] as const) {
      if (settings()[way] === undefined || closing.signal.aborted) continue
      const news = newsIn(issues, way, severity, channel, (key) => unrecorded.get(`${way} ${key}`)?.isOpen)
      if (news.length === 0) continue
      if (now() < dueAt[way]) schedule(dueAt[way] - now())
      else await send(way, news)
    }
  }

  async function send(way: AlertWay, news: readonly News[]): Promise<void> {
    const failure = await (way === 'channel' ? message(news) : call(news)).catch(String)
    const code = 'ALERTS_FAIL'
    const subject = `gateway.issues.${way}`
    if (failure === undefined) {
      failures[way] = 0
      ledger.resolve(code, subject)
      return
    }
    failures[way] += 1
    const waitMs = backoffMs(failures[way], backoff, () => 1)
    dueAt[way] = now() + waitMs
    schedule(waitMs)
    const reason = options.mask(failure)
    log.warn({ event: 'alert-not-sent', way, reason, waitMs }, 'a person could not be told of an issue')
    if (failures[way] < minFailures) return
    ledger.note({
      code,
      subject,
      describe: () => ({
        cause: `Nobody can be told of issues by ${subject}: ${reason}.`,
        next: { label: `Fix ${subject}; what could not be told is sent then`, command: 'reveille check' },
      }),
    })
  }

  async function message(news: readonly News[]): Promise<string | undefined> {
    const { channel = '', to } = settings()
    const loud = news.filter(({ isQuiet }) => !isQuiet)
    if (loud.length > 0) {
      const text = options.mask(textOf(loud))
      const refusal = await options.send({ channel, ...(to !== undefined && { to }), text })
      if (refusal !== undefined) return refusal
      gapMs = now() - messagedAt > quietMs ? messageGapMs.min : Math.min(messageGapMs.max, gapMs * 2)
      messagedAt = now()
      dueAt.channel = messagedAt + gapMs
    }
    await record(news.map((each) => ({ ...each, way: 'channel' })))
    return undefined
  }

  /** One call for each issue, so that a receiver need not take lists apart. */
  async function call(news: readonly News[]): Promise<string | undefined> {
    for (const each of news) {
      const refusal = each.isQuiet ? undefined : await post(each)
      if (refusal !== undefined) return refusal
      await record([{ ...each, way: 'webhook' }])
    }
    return undefined
  }

  async function record(sent: readonly (News & { readonly way: AlertWay })[]): Promise<void> {
    for (const each of sent) unrecorded.set(`${each.way} ${each.issue.key}`, each)
    try {
      await change([...unrecorded.values()].map((each) => alertedOf(each, each.way)))
      unrecorded.clear()
    } catch {
      schedule(backoff.firstMs)
    }
  }

  async function post({ issue, isOpen }: News): Promise<string | undefined> {
    const { webhook } = settings()
    if (webhook === undefined) return undefined
    const { alerted: _alerted, reportedOn: _reportedOn, ...data } = issue
    const type = isOpen ? 'issue.opened' : 'issue.closed'
    const event = `${type} ${issue.key}`
    const id = callIds.get(event) ?? `issue_${randomUUID()}`
    callIds.set(event, id)
    const at = now()
    const body = options.mask(JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }))
    const answer = await options.fetch(webhook.url, {
      method: 'POST',
      // Only the configured address is checked.
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...signed(id, at, body, webhook.secret) },
      body,
      signal: AbortSignal.any([closing.signal, AbortSignal.timeout(webhookTimeoutMs)]),
    })
    await answer.body?.cancel()
    if (!answer.ok) return `it answered ${answer.status}`
    callIds.delete(event)
    return undefined
  }

  return {
    /** Issues may have changed. */
    changed: () => schedule(gatherMs),
    async close(): Promise<void> {
      timers.clearTimeout(timer)
      closing.abort()
      await looking
    },
  }
}

/** What a person does not know. Quiet news are put on record, and not sent: the operator has muted the issue. */
interface News {
  readonly issue: IssueRecord
  readonly isOpen: boolean
  readonly isQuiet: boolean
}

function newsIn(
  issues: readonly IssueRecord[],
  way: AlertWay,
  least: Severity,
  channel: string | undefined,
  isKnownTo: (key: string) => boolean | undefined,
): News[] {
  return issues.flatMap((issue) => {
    const isKnown = isKnownTo(issue.key) ?? issue.alerted?.includes(way) === true
    const isBad = severities.indexOf(issue.severity) <= severities.indexOf(least)
    const isOpen = issue.state === 'open' && (isKnown || (isBad && !isAboutWay(issue, way, channel)))
    return isOpen === isKnown ? [] : [{ issue, isOpen, isQuiet: issue.state === 'muted' }]
  })
}

/** A way that fails cannot tell that it does, and would only tell it when that is over. */
function isAboutWay({ code, subject }: IssueRecord, way: AlertWay, channel: string | undefined): boolean {
  if (code === 'ALERTS_FAIL') return subject === `gateway.issues.${way}`
  const isOfChannel = Object.hasOwn(issueCodes, code) && issueCodes[code as IssueCode].about === 'channel'
  return way === 'channel' && isOfChannel && subject === channel
}

function alertedOf({ issue: { key, alerted = [] }, isOpen }: News, way: AlertWay): IssueChange {
  const others = alerted.filter((each) => each !== way)
  return { key, alerted: isOpen ? [...others, way] : others }
}

/** Holds the words of the gateway and of its configuration alone. Causes may show what a sender sent. */
function textOf(news: readonly News[]): string {
  const opened = news.filter(({ isOpen }) => isOpen).map(({ issue }) => issue)
  const closed = news.filter(({ isOpen }) => !isOpen).map(({ issue }) => issue)
  const lines = [
    ...opened
      .slice(0, maxListed)
      .map(
        ({ severity, code, subject, next }) =>
          `- ${severity}: ${titleOf(code)} (${code} \`${subject}\`). ${next.label}.`,
      ),
    ...closed.slice(0, maxListed).map(({ code, subject }) => `- closed: ${code} \`${subject}\``),
  ]
  const left = news.length - lines.length
  const counts = [
    opened.length > 0 && `${opened.length} opened`,
    closed.length > 0 && `${closed.length} closed`,
  ]
  return [
    `Reveille issues: ${counts.filter(Boolean).join(', ')}`,
    ...lines,
    ...(left > 0 ? [`- and ${left} more`] : []),
    ...(opened.length > 0 ? ['Causes and next steps: `reveille issues`'] : []),
  ].join('\n')
}

function titleOf(code: string): string {
  return Object.hasOwn(issueCodes, code) ? issueCodes[code as IssueCode].title : code
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme */
function signed(id: string, at: number, body: string, secret: string): Record<string, string> {
  const seconds = Math.floor(at / 1000)
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}
