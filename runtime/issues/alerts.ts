/**
 * Tells a person of issues: by a message of a configured channel, and by a signed call of a webhook. Neither needs an agent.
 *
 * The alerts a person has been sent are recorded with each issue and compared with its current state. So an issue that opens and closes
 * between two looks raises no alert, nothing is lost by a restart or an outage, and an alert that could not be sent is sent later.
 */

import { randomUUID } from 'node:crypto'
import type { Settings, Timers } from '@reveille/engine'
import { backoffMs, signWebhook } from '@reveille/kit'
import { repeatIfAsked } from '../repeat-if-asked.ts'
import {
  type AlertWay,
  type IssueChange,
  type IssueRecord,
  type Severity,
  severities,
} from '../store/port.ts'
import { type IssueCode, issueCodes } from './codes.ts'
import type { Ledger, Problem } from './ledger.ts'

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
  /** True if this process alerts, for all nodes. */
  readonly leads: () => boolean
}

/** Milliseconds within which changes are gathered into one message. */
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
  const { settings, now, timers, log, leads, ledger } = options
  const closing = new AbortController()
  const records = createRecords(options.change)
  const ways = {
    channel: createChannelAlerts(options),
    webhook: createWebhookAlerts(options, closing.signal),
  }
  let timer: unknown

  function schedule(ms: number): void {
    if (closing.signal.aborted) return
    timers.clearTimeout(timer)
    timer = timers.setTimeout(() => void look(), Math.max(ms, 0))
  }

  const look = repeatIfAsked(async () => {
    if (closing.signal.aborted) return
    await lookOnce().catch((error) => {
      log.warn({ event: 'issues-not-read', err: error }, 'alerts will be sent later')
      schedule(backoff.firstMs)
    })
  })

  async function lookOnce(): Promise<void> {
    const { channel, webhook, severity } = settings()
    if (!leads() || (channel === undefined && webhook === undefined)) return
    await ledger.flush()
    const issues = await options.issues()
    await record([])
    for (const way of ['channel', 'webhook'] as const) {
      if (settings()[way] === undefined || closing.signal.aborted) continue
      const news = newsIn(issues, way, severity, channel, (key) => records.isKnown(way, key))
      if (news.length === 0) continue
      if (now() < ways[way].dueAt()) schedule(ways[way].dueAt() - now())
      else await send(way, news)
    }
  }

  async function record(sent: readonly Sent[]): Promise<void> {
    if (!(await records.add(sent))) schedule(backoff.firstMs)
  }

  async function send(way: AlertWay, news: readonly News[]): Promise<void> {
    const onSent = (sent: readonly News[]) => record(sent.map((each) => ({ ...each, way })))
    const failure = await ways[way].send(news, onSent).catch(String)
    const subject = `gateway.issues.${way}`
    if (failure === undefined) {
      ways[way].succeeded()
      ledger.resolve('ALERTS_FAIL', subject)
      return
    }
    const { waitMs, failures } = ways[way].failed()
    schedule(waitMs)
    const reason = options.mask(failure)
    log.warn({ event: 'alert-not-sent', way, reason, waitMs }, 'an alert could not be sent')
    if (failures >= minFailures) ledger.note(alertsFail(subject, reason))
  }

  return {
    /** Issues may have changed. */
    changed: () => schedule(gatherMs),
    async close(): Promise<void> {
      timers.clearTimeout(timer)
      closing.abort()
      await look()
    },
  }
}

function alertsFail(subject: string, reason: string): Problem {
  const describe = () => ({
    cause: `Nobody can be alerted by ${subject}: ${reason}.`,
    label: `Fix ${subject}; alerts that could not be sent are sent then`,
    command: 'reveille check',
  })
  return { code: 'ALERTS_FAIL', subject, describe }
}

type Sent = News & { readonly way: AlertWay }

/** Records the alerts that a person has been sent. Writes that fail are kept until the store works again: it may be the cause of the alert. */
function createRecords(change: AlertOptions['change']) {
  /** By way and key. */
  const unrecorded = new Map<string, Sent>()
  return {
    isKnown: (way: AlertWay, key: string) => unrecorded.get(`${way} ${key}`)?.isOpen,
    /** Returns false if something is left. */
    async add(sent: readonly Sent[]): Promise<boolean> {
      for (const each of sent) unrecorded.set(`${each.way} ${each.issue.key}`, each)
      if (unrecorded.size === 0) return true
      try {
        await change([...unrecorded.values()].map((each) => alertedOf(each, each.way)))
        unrecorded.clear()
        return true
      } catch {
        return false
      }
    },
  }
}

/** When a way may be used again, after failures and other pauses. */
function createPause(now: () => number) {
  let failures = 0
  let dueAt = 0
  return {
    dueAt: () => dueAt,
    wait(ms: number): void {
      dueAt = now() + ms
    },
    succeeded(): void {
      failures = 0
    },
    failed() {
      failures += 1
      const waitMs = backoffMs(failures, backoff, () => 1)
      dueAt = now() + waitMs
      return { waitMs, failures }
    },
  }
}

type OnSent = (sent: readonly News[]) => Promise<void>

/** One message for all news, and ever fewer while they do not cease. */
function createChannelAlerts({ settings, send, mask, now }: AlertOptions) {
  const pause = createPause(now)
  let gapMs: number = messageGapMs.min
  let messagedAt = Number.NEGATIVE_INFINITY
  return {
    ...pause,
    async send(news: readonly News[], onSent: OnSent): Promise<string | undefined> {
      const { channel = '', to } = settings()
      const loud = news.filter(({ isQuiet }) => !isQuiet)
      if (loud.length > 0) {
        const refusal = await send({ channel, ...(to !== undefined && { to }), text: mask(textOf(loud)) })
        if (refusal !== undefined) return refusal
        gapMs = now() - messagedAt > quietMs ? messageGapMs.min : Math.min(messageGapMs.max, gapMs * 2)
        messagedAt = now()
        pause.wait(gapMs)
      }
      await onSent(news)
      return undefined
    },
  }
}

/** One call for each issue, so that a receiver need not take lists apart. */
function createWebhookAlerts({ settings, mask, now, fetch }: AlertOptions, closing: AbortSignal) {
  /** The ids of calls that have not been answered, because a repeated call has the id of the first. */
  const callIds = new Map<string, string>()

  async function post({ issue, isOpen }: News): Promise<string | undefined> {
    const { webhook } = settings()
    if (webhook === undefined) return undefined
    const { alerted: _alerted, reportedOn: _reportedOn, ...data } = issue
    const type = isOpen ? 'issue.opened' : 'issue.closed'
    const event = `${type} ${issue.key}`
    const id = callIds.get(event) ?? `issue_${randomUUID()}`
    callIds.set(event, id)
    const at = now()
    const body = mask(JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }))
    const answer = await fetch(webhook.url, {
      method: 'POST',
      // Only the configured address is checked.
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...signWebhook(id, at, body, webhook.secret) },
      body,
      signal: AbortSignal.any([closing, AbortSignal.timeout(webhookTimeoutMs)]),
    })
    await answer.body?.cancel()
    if (!answer.ok) return `it answered ${answer.status}`
    callIds.delete(event)
    return undefined
  }

  return {
    ...createPause(now),
    async send(news: readonly News[], onSent: OnSent): Promise<string | undefined> {
      for (const each of news) {
        const refusal = each.isQuiet ? undefined : await post(each)
        if (refusal !== undefined) return refusal
        await onSent([each])
      }
      return undefined
    },
  }
}

/** A change that has not been reported to a person. A quiet one is recorded but not sent: the operator has muted the issue. */
interface News {
  readonly issue: IssueRecord
  readonly isOpen: boolean
  readonly isQuiet: boolean
}

function newsIn(
  issues: readonly IssueRecord[],
  way: AlertWay,
  minSeverity: Severity,
  channel: string | undefined,
  isKnownTo: (key: string) => boolean | undefined,
): News[] {
  return issues.flatMap((issue) => {
    const isKnown = isKnownTo(issue.key) ?? issue.alerted?.includes(way) === true
    const isBad = severities.indexOf(issue.severity) <= severities.indexOf(minSeverity)
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
