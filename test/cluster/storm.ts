/**
 * Tests that a cluster keeps its promises while its nodes are killed and paused and its database is restarted: every request that was
 * answered 2xx has exactly one end, the runs of a session go in order, and nothing happens twice but for a reason.
 */

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { DeliveryRecord, EventRecord, RunRecord } from '../../runtime/store/port.ts'
import { seeded } from '../durability/killed-gateway.ts'
import { hookToken, type Machine, type Machines, type MachinesOptions, startMachines } from './machines.ts'
import type { WitnessLine } from './witness-plugin/index.ts'

export interface StormOptions extends Pick<MachinesOptions, 'leases'> {
  readonly seconds: number
  /** Milliseconds that one node is paused: longer than a lease. */
  readonly pauseMs: number
  /** Milliseconds that the cluster has to finish accepted work, once all nodes are there again. */
  readonly settleMs: number
  /** Milliseconds between two requests of each sender: the runs of a session go one by one, and a long storm would leave them behind. */
  readonly paceMs?: number
}

/** Something that was done to a process, after which what it had begun may happen again. */
export interface Disturbance {
  /** Absent: the database, and so all of them. */
  readonly pid?: number | undefined
  readonly at: number
  /** From when on what is begun is not affected. Default: a moment after `at`, as a signal reaches a process a little later */
  until?: number
  /** Work that had ended before is not affected. Default: -Infinity. */
  readonly since?: number
}

const roles = ['ingress', 'ingress', 'all', 'all'] as const
const sessions = 6
/** With fewer nothing is shown. */
export const minAccepted = 100

export function testStorm(options: StormOptions): void {
  const { seconds } = options
  test(`four nodes lose and double nothing in ${seconds} s of kills, a pause and two restarts of the database`, {
    timeout: (seconds + 120) * 1000 + options.settleMs,
  }, async (t) => {
    const machines = await startMachines(t, { roles, ...options })
    const senders = createSenders(machines.url, options.paceMs)
    t.after(() => senders.stop())
    const disturbances = await disturb(machines, options)
    // A busy machine takes its time.
    await senders.answered(Math.max(0, minAccepted - senders.accepted.length))
    await senders.stop()
    await everythingEnded(machines, options.settleMs)
    const report = await judge(machines, senders.accepted, disturbances)
    t.diagnostic(formatReport(report, senders))
    assertKept(report, senders)
  })
}

/** Kills a random node each second, and starts it again. Pauses a node once, and restarts the database twice: once it ends, once it crashes. */
async function disturb(machines: Machines, { seconds, pauseMs }: StormOptions): Promise<Disturbance[]> {
  const random = seeded(20261123)
  const { nodes, database } = machines
  const found: Disturbance[] = []
  const busy = new Set<Machine>()
  const work: Promise<void>[] = []
  /** Returns what is called once it is over. */
  const note = (pid?: number) => {
    const disturbance: Disturbance = { pid, at: Date.now() }
    found.push(disturbance)
    return () => {
      disturbance.until = Date.now()
    }
  }
  const begin = performance.now()
  const until = (second: number) => pause(Math.max(0, begin + second * 1000 - performance.now()))

  async function pauseOne(): Promise<void> {
    const isIdle = (each: Machine) => each.role === 'all' && !busy.has(each)
    while (!nodes.some(isIdle)) await pause(50)
    const node = nodes.find(isIdle)
    if (node === undefined) return
    busy.add(node)
    const over = note(node.pid())
    await node.kill('SIGSTOP')
    await pause(pauseMs)
    over()
    await node.kill('SIGCONT')
    // It has to notice by itself that it was taken for dead.
    await pause(1000)
    busy.delete(node)
  }

  async function kill(node: Machine): Promise<void> {
    busy.add(node)
    note(node.pid())
    await node.kill('SIGKILL')
    // While the database is away a node cannot start.
    await restart(node)
    busy.delete(node)
  }

  async function restartDatabase(how: 'fast' | 'immediate'): Promise<void> {
    const over = note()
    await database.stop(how)
    await database.start()
    over()
  }

  for (let second = 1; second < seconds; second += 1) {
    await until(second)
    if (second === Math.round(seconds * 0.2)) work.push(pauseOne())
    if (second === Math.round(seconds * 0.5)) work.push(restartDatabase('fast'))
    if (second === Math.round(seconds * 0.8)) work.push(restartDatabase('immediate'))
    const idle = nodes.filter((node) => !busy.has(node))
    const node = idle[Math.floor(random() * idle.length)]
    // One node at least stays, or there is no cluster.
    if (node !== undefined && idle.length > 1) work.push(kill(node))
  }
  await until(seconds)
  await Promise.all(work)
  return found
}

export async function restart(node: Machine): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      await node.kill('SIGKILL')
      await node.start()
      return
    } catch (error) {
      if (tries === 20) throw error
      await pause(250)
    }
  }
}

export interface Accepted {
  /** The text of the message, which no other request has. */
  readonly text: string
  readonly session?: string
  readonly runId?: string
  readonly eventId?: string
  /** When it was answered. */
  readonly at: number
}

export type Senders = ReturnType<typeof createSenders>

/** Each session has a sender that sends one request after the other, again and again until it is answered 2xx. */
export function createSenders(url: string, paceMs = 0) {
  const accepted: Accepted[] = []
  const waiting: (() => void)[] = []
  const unexpected: string[] = []
  /** When a sender was answered 503. */
  const refusals: number[] = []
  let broken = 0
  let stopped = false

  async function send(path: string, text: string, body: object, session?: string): Promise<void> {
    while (!stopped) {
      const answer = await post(`${url}/hooks/${path}`, text, body).catch(() => undefined)
      if (answer === undefined) {
        broken += 1
        await pause(20)
      } else if (answer.status < 300) {
        const { runId, eventId } = JSON.parse(answer.text)
        accepted.push({ text, session, runId, eventId, at: Date.now() })
        for (const wake of waiting.splice(0)) wake()
        if (paceMs > 0) await pause(paceMs)
        return
      } else if (answer.status === 503) {
        refusals.push(Date.now())
        await pause(50)
      } else {
        unexpected.push(`${answer.status} ${answer.text}`)
        return
      }
    }
  }

  const ofSessions = Array.from({ length: sessions }, async (_, index) => {
    for (let number = 1; !stopped; number += 1) {
      const session = `hook:session-${index}`
      const text = `message ${number} of session ${index}`
      const where = { deliver: true, channel: 'witness', to: `person-${index}` }
      await send(
        'agent',
        text,
        { message: text, sessionKey: session, wakeMode: 'next-heartbeat', ...where },
        session,
      )
    }
  })
  const ofNobody = Array.from({ length: 2 }, async (_, index) => {
    for (let number = 1; !stopped; number += 1) {
      const text = `message ${number} without a session, from sender ${index}`
      if (number % 3 === 0)
        await send('wake', text, { text, mode: number % 9 === 0 ? 'now' : 'next-heartbeat' })
      else await send('agent', text, { message: text, deliver: false, wakeMode: 'next-heartbeat' })
    }
  })

  return {
    accepted,
    unexpected,
    refusals,
    counts: () => ({ refused: refusals.length, broken }),
    /** Resolves when so many more were answered 2xx. */
    async answered(count: number) {
      for (const wanted = accepted.length + count; accepted.length < wanted; )
        await new Promise<void>((resolve) => waiting.push(resolve))
    },
    async stop() {
      stopped = true
      await Promise.all([...ofSessions, ...ofNobody])
    },
  }
}

/** A node that is paused takes connections and does not answer, so the sender gives up and comes again. Milliseconds. */
const answerMs = 3000

export function post(
  url: string,
  key: string,
  body: object,
  { waitSeconds = 0 } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${hookToken}`,
      'content-type': 'application/json',
      'idempotency-key': key,
      ...(waitSeconds > 0 && { prefer: `wait=${waitSeconds}` }),
    }
    const outgoing = request(
      url,
      { method: 'POST', headers, agent: false, timeout: answerMs + waitSeconds * 1000 },
      (incoming) => {
        let text = ''
        incoming.setEncoding('utf8')
        incoming.on('data', (chunk: string) => {
          text += chunk
        })
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
        incoming.on('error', reject)
      },
    )
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')))
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify(body))
  })
}

export async function everythingEnded(machines: Machines, mostMs: number): Promise<void> {
  const open = async () => {
    const counts = await Promise.all(
      ['runs?state=queued', 'runs?state=running', 'deliveries?state=pending'].map(async (list) => {
        const { items } = await machines.read<{ items: readonly unknown[] }>(`/api/${list}&limit=500`)
        return items.length
      }),
    )
    return counts
  }
  // A run that is begun again between two of these reads is in neither list, so all have to be empty twice.
  const deadline = Date.now() + mostMs
  for (let empty = 0; ; await pause(100)) {
    const counts = await open()
    empty = counts.every((count) => count === 0) ? empty + 1 : 0
    if (empty === 2) return
    if (Date.now() > deadline)
      throw new Error(
        `${counts.join(', ')} queued, running and pending are left:\n${machines.nodes.map((node) => node.output()).join('\n')}`,
      )
  }
}

export interface Report {
  readonly accepted: number
  readonly ended: number
  readonly lost: readonly string[]
  readonly outOfOrder: readonly string[]
  /** Turns and messages that happened again, and those of them that nothing excuses. */
  readonly again: { readonly turns: number; readonly messages: number }
  readonly doubled: readonly string[]
  readonly disturbances: number
}

export async function judge(
  machines: Machines,
  accepted: readonly Accepted[],
  disturbances: readonly Disturbance[],
): Promise<Report> {
  const [runs, events, deliveries, lines] = await Promise.all([
    machines.readAll<RunRecord>('runs'),
    machines.readAll<EventRecord>('events'),
    machines.readAll<DeliveryRecord>('deliveries'),
    machines.witnessed(),
  ])
  const runById = new Map(runs.map((run) => [run.id, run]))
  const eventById = new Map(events.map((event) => [event.id, event]))
  const summaries = Map.groupBy(events, ({ origin }) => origin.runId)
  const replies = Map.groupBy(deliveries, ({ runId }) => runId)
  const calls = Map.groupBy(lines, ({ what, subject }) => `${what} ${subject}`)
  const linesOf = (what: WitnessLine['what'], subject: string) => calls.get(`${what} ${subject}`) ?? []
  const lost: string[] = []
  const doubled: string[] = []
  const outOfOrder: string[] = []

  /** When a turn ended at the process that began it: never, where that was killed. A message is sent at once. */
  const endOf = ({ what, subject, pid, at }: WitnessLine) =>
    what === 'begun'
      ? (linesOf('ended', subject).find((line) => line.pid === pid && line.at >= at)?.at ??
        Number.POSITIVE_INFINITY)
      : at
  /** True if work that a process began then may rightly have been begun again by another one. */
  const isExcused = (first: WitnessLine, next: WitnessLine) =>
    disturbances.some(
      ({ pid, at, until = at + pauseSlackMs, since = Number.NEGATIVE_INFINITY }) =>
        (pid === undefined || pid === first.pid) &&
        endOf(first) >= since &&
        first.at <= until &&
        at <= next.at,
    )

  for (const { text, runId, eventId } of accepted) {
    if (eventId !== undefined && !eventById.has(eventId)) lost.push(`the event of "${text}"`)
    if (runId === undefined) continue
    const run = runById.get(runId)
    if (run?.state !== 'succeeded' || run.stage !== 'delivered') {
      lost.push(`the run of "${text}", which is ${run?.state} at ${run?.stage}`)
      continue
    }
    if (linesOf('ended', runId).length === 0) lost.push(`the turn of "${text}"`)
    if ((summaries.get(runId) ?? []).length !== 1) doubled.push(`the summary of "${text}"`)
    if ((replies.get(runId) ?? []).length !== (run.deliver ? 1 : 0)) doubled.push(`the delivery of "${text}"`)
  }
  for (const [message, same] of Map.groupBy(runs, (run) => run.message))
    if (message !== '' && same.length > 1 && same[0]?.kind === 'run') doubled.push(`the run of "${message}"`)
  const ofSenders = events.filter(({ origin }) => origin.runId === undefined)
  for (const [text, same] of Map.groupBy(ofSenders, (event) => event.text))
    if (same.length > 1) doubled.push(`the event "${text}"`)

  let [turns, messages] = [0, 0]
  for (const [call, same] of calls) {
    if (call.startsWith('ended')) continue
    same.slice(1).forEach((line, index) => {
      if (line.what === 'begun') turns += 1
      else messages += 1
      const before = same[index]
      if (before !== undefined && !isExcused(before, line))
        doubled.push(`${call}, by ${before.pid} at ${before.at} and ${line.pid} at ${line.at}`)
    })
  }

  const places = new Map(lines.map((line, place) => [line, place]))
  const place = (line: WitnessLine | undefined) => (line && places.get(line)) ?? Number.POSITIVE_INFINITY
  for (const [session, ofSession] of Map.groupBy(accepted, (each) => each.session)) {
    if (session === undefined) continue
    ofSession.forEach(({ text, runId = '' }, index) => {
      const before = ofSession[index - 1]
      if (before === undefined) return
      if (place(linesOf('begun', runId)[0]) < place(linesOf('ended', before.runId ?? '')[0]))
        outOfOrder.push(`"${text}" began before "${before.text}" had ended`)
    })
  }
  const ended = accepted.length - lost.length
  const again = { turns, messages }
  return {
    accepted: accepted.length,
    ended,
    lost,
    outOfOrder,
    again,
    doubled,
    disturbances: disturbances.length,
  }
}

/** A signal reaches a process a moment after it was noted. Milliseconds. */
export const pauseSlackMs = 250

export function formatReport(
  { accepted, ended, again, doubled, lost, outOfOrder, disturbances }: Report,
  senders: Senders,
): string {
  const { refused, broken } = senders.counts()
  return [
    `${accepted} accepted, ${ended} ended, ${doubled.length} doubled, ${lost.length} lost, ${outOfOrder.length} out of order;`,
    `${again.turns} turns and ${again.messages} messages again, each after one of ${disturbances} disturbances;`,
    `senders met ${refused} answers 503 and ${broken} broken connections`,
  ].join(' ')
}

export function assertKept(report: Report, senders: Senders): void {
  assert.deepEqual(senders.unexpected, [])
  assert.deepEqual([report.lost, report.doubled, report.outOfOrder], [[], [], []])
  assert.ok(report.accepted >= minAccepted, 'the cluster was there')
}
