/**
 * Tests what happens to a cluster of processes when something dies that no storm kills: the server and its standby, a clock, one turn's node
 * again and again, a paused node, and the network of one node.
 */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import {
  type EmbeddedServer,
  followed,
  startEmbeddedServer,
} from '../../plugins/postgres/testing/embedded-server.ts'
import { createNetwork, type Network } from '../../plugins/postgres/testing/network.ts'
import { type poolModes, startPgbouncer, withPgbouncer } from '../../plugins/postgres/testing/pgbouncer.ts'
import type { RunRecord } from '../../runtime/store/port.ts'
import { atEnd } from '../at-end.ts'
import { type Machine, type Machines, type MachinesOptions, startMachines } from './machines.ts'
import {
  type Accepted,
  assertKept,
  createSenders,
  type Disturbance,
  everythingEnded,
  formatReport,
  judge,
  minAccepted,
  pauseSlackMs,
  post,
  restart,
  type Senders,
} from './storm.ts'

export interface DrillOptions extends Pick<MachinesOptions, 'leases' | 'roles'> {
  /** For how long requests come before something happens, and after it. */
  readonly seconds: number
  /** Between two requests of a sender. Milliseconds. */
  readonly paceMs: number
}

/** Milliseconds that a cluster has to finish accepted work. */
const settleMs = 60_000
const expireMs = ({ leases }: Pick<DrillOptions, 'leases'>) => leases?.expireMs ?? 15_000

function timeout({ seconds }: DrillOptions, moreMs = 0): number {
  return 2 * seconds * 1000 + settleMs + moreMs + 120_000
}

interface Standby {
  readonly network: Network
  /** Does not receive any more what the primary commits. */
  cutOff(): void
  /** The primary dies, the standby takes its place, and its address is that of the primary from now on. Returns when the primary had died. */
  failOver(): Promise<number>
}

/** Makes a standby of the server before nodes are started. They reach both at one address. */
async function addStandby(t: TestContext, primary: EmbeddedServer, folder: string): Promise<Standby> {
  const [network, replication] = await Promise.all([createNetwork(primary.url), createNetwork(primary.url)])
  for (const each of [network, replication]) atEnd(t, () => each.close())
  await primary.stop()
  const [own, port] = [join(folder, 'standby'), Number(new URL(replication.url).port)]
  // It asks for the primary until that is there again.
  const standby = await startEmbeddedServer({
    folder: own,
    fsync: true,
    settings: { autovacuum: 'on' },
    standbyOf: { folder, port },
  })
  atEnd(t, () => standby.stop('immediate'))
  await primary.start()
  await ask(primary.url, `SELECT FROM pg_stat_replication WHERE state = 'streaming'`)
  return {
    network,
    cutOff: replication.silence,
    async failOver() {
      await primary.stop('immediate')
      const diedAt = Date.now()
      await ask(standby.url, 'SELECT pg_promote()')
      network.switchTo(standby.url)
      network.cut()
      return diedAt
    },
  }
}

/** Asks until there is an answer with a row. */
async function ask(url: string, question: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    while ((await client.query(question)).rowCount === 0) await pause(20)
  } finally {
    await client.end()
  }
}

/** Milliseconds that a standby lags behind, where it does. */
const lagMs = 3_000
/** The end of a turn is committed, and is at the standby, within this time. Milliseconds. */
const commitMs = 2_000

export function testFailover(kind: 'synchronous' | 'lagging', options: DrillOptions): void {
  const { seconds, paceMs } = options
  const isLagging = kind === 'lagging'
  const name = isLagging
    ? `a failover to a standby that lags ${lagMs / 1000} s loses what that lacks, and nothing else is lost, doubled or stuck`
    : 'a failover to a synchronous standby loses and doubles nothing'
  test(name, { timeout: timeout(options) }, async (t) => {
    let standby: Standby | undefined
    const machines = await startMachines(t, {
      ...options,
      settings: { ...followed, ...(!isLagging && { synchronous_standby_names: '*' }) },
      async arrange(server, folder) {
        standby = await addStandby(t, server, folder)
        const { url } = standby.network
        return () => url
      },
    })
    assert.ok(standby)
    const senders = createSenders(machines.url, paceMs)
    t.after(() => senders.stop())
    await Promise.all([pause(seconds * 1000), senders.answered(minAccepted / 2)])
    const since = Date.now() - commitMs
    if (isLagging) {
      standby.cutOff()
      await pause(lagMs)
    }
    const at = Date.now()
    const diedAt = await standby.failOver()
    await senders.answered(1)
    const awayMs = Date.now() - at
    // Requests that the standby lacked are not counted.
    await Promise.all([pause(seconds * 1000), senders.answered(minAccepted)])
    const lacking = isLagging ? { from: since, to: diedAt } : undefined
    const lost = await assertAll(t, machines, senders, [{ at, since, until: diedAt + pauseSlackMs }], lacking)
    t.diagnostic(`answered again after ${awayMs} ms; the standby lacked ${lost} of what was answered before`)
  })
}

/** Lets everything end, and asserts that what was answered is kept. Returns how much of what was answered within a time is not there. */
async function assertAll(
  t: TestContext,
  machines: Machines,
  senders: Senders,
  disturbances: readonly Disturbance[],
  lacking?: { readonly from: number; readonly to: number },
): Promise<number> {
  await senders.stop()
  await everythingEnded(machines, settleMs)
  const kept = lacking ? await there(machines, senders.accepted, lacking) : senders.accepted
  const report = await judge(machines, kept, disturbances)
  t.diagnostic(formatReport(report, senders))
  assertKept(report, senders)
  return senders.accepted.length - kept.length
}

/** Returns what is there, and what ought to be. */
async function there(
  machines: Machines,
  accepted: readonly Accepted[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly Accepted[]> {
  const [runs, events] = await Promise.all(['runs', 'events'].map((list) => machines.readAll(list)))
  const ids = new Set([...(runs ?? []), ...(events ?? [])].map(({ id }) => id))
  const isThere = ({ runId, eventId }: Accepted) =>
    [runId, eventId].every((id) => id === undefined || ids.has(id))
  return accepted.filter((each) => isThere(each) || each.at < from || each.at > to)
}

/** Sends to a node itself, and waits for the end of the run. */
async function answerOf({ name, url }: Machine, text: string): Promise<Record<string, unknown>> {
  const message = { message: text, wakeMode: 'next-heartbeat', deliver: false }
  const answer = await post(`${url}/hooks/agent`, text, message, { waitSeconds: 30 })
  assert.equal(answer.status, 200, `${name} answers ${answer.status} ${answer.text}`)
  return JSON.parse(answer.text)
}

export function testClocks(options: DrillOptions): void {
  const { seconds, paceMs } = options
  const minutes = 5 * 60_000
  const name =
    'nodes whose clocks are five minutes slow and fast keep order, lose and double nothing, and answer who waits'
  test(name, { timeout: timeout(options, 60_000) }, async (t) => {
    const clocks = [-minutes, minutes, -minutes, minutes]
    const machines = await startMachines(t, { ...options, clocks })
    const { nodes } = machines
    const senders = createSenders(machines.url, paceMs)
    t.after(() => senders.stop())
    await pause(seconds * 1000)
    const disturbances: Disturbance[] = []
    for (const node of nodes.slice(-2)) {
      disturbances.push({ pid: node.pid(), at: Date.now() })
      await restart(node)
      await pause((seconds * 1000) / 2)
    }
    const answers = await Promise.all(nodes.map((node) => answerOf(node, `waited for at ${node.name}`)))
    assert.deepEqual(
      answers.map(({ state }) => state),
      nodes.map(() => 'succeeded'),
    )
    await assertAll(t, machines, senders, disturbances)
  })
}

/** Resolves with the process that has begun a run for the `times`-th time, and when it has. */
async function begun(machines: Machines, runId: string, times: number, maxMs: number) {
  for (const deadline = Date.now() + maxMs; Date.now() < deadline; await pause(20)) {
    const lines = (await machines.witnessed()).filter(
      ({ what, subject }) => what === 'begun' && subject === runId,
    )
    const line = lines[times - 1]
    if (line !== undefined) return line
  }
  const outputs = machines.nodes.map((node) => node.output())
  throw new Error(`the run was not begun ${times} times within ${maxMs} ms:\n${outputs.join('\n')}`)
}

/** A node looks for expired leases by the database's clock, and claims then. Milliseconds. */
const takeoverSlackMs = 2_000

export function testKilledTurn(kills: number, options: DrillOptions): void {
  const name = `a run whose node is killed ${kills} times in a row is taken over each time within the time of a lease, and ends`
  test(name, { timeout: timeout(options, kills * 2 * expireMs(options)) }, async (t) => {
    const minutes = 5 * 60_000
    const machines = await startMachines(t, { ...options, clocks: [minutes, -minutes, minutes, -minutes] })
    const text = `not answered the first ${kills} times`
    const message = { message: text, wakeMode: 'next-heartbeat', deliver: false }
    const [first] = machines.nodes
    const answer = await post(`${first?.url}/hooks/agent`, text, message)
    const { runId } = JSON.parse(answer.text) as { runId: string }
    const took: number[] = []
    let restarted: Promise<void> | undefined
    let at = Date.now()
    for (let kill = 1; kill <= kills + 1; kill += 1) {
      const line = await begun(machines, runId, kill, expireMs(options) + takeoverSlackMs)
      took.push(line.at - at)
      if (kill > kills) break
      const node = machines.nodes.find((each) => each.pid() === line.pid)
      await restarted
      at = Date.now()
      await node?.kill('SIGKILL')
      restarted = node?.start()
      restarted?.catch(() => undefined)
    }
    await everythingEnded(machines, settleMs)
    const run = await machines.read<RunRecord>(`/api/runs/${runId}`)
    assert.equal(run.state, 'succeeded', JSON.stringify(run.error))
    assert.deepEqual(
      run.attempts.map(({ outcome }) => outcome),
      [...Array(kills).fill('interrupted'), 'succeeded'],
    )
    t.diagnostic(`begun again after ${took.slice(1).join(', ')} ms`)
  })
}

/** For how long healthy nodes may refuse while a sick one is found. Milliseconds. */
const refusingMs = 2_000

export function testPause(pauseMs: number, options: DrillOptions): void {
  const name = `a node that is paused for ${pauseMs / 1000} s is taken over, and the others refuse nobody for it`
  test(name, { timeout: timeout(options, pauseMs) }, async (t) => {
    const machines = await startMachines(t, options)
    const senders = createSenders(machines.url, options.paceMs)
    t.after(() => senders.stop())
    const disturbances: Disturbance[] = []
    const performing = machines.nodes.filter(({ role }) => role === 'all')
    for (const node of performing) {
      await pause(options.seconds * 1000)
      const held = await post(`${node.url}/hooks/agent`, node.name, {
        message: `not answered the first 1 times, at ${node.name}`,
        wakeMode: 'next-heartbeat',
        deliver: false,
      })
      const first = await begun(machines, JSON.parse(held.text).runId, 1, settleMs)
      const sick = machines.nodes.find((each) => each.pid() === first.pid)
      assert.ok(sick)
      const at = Date.now()
      disturbances.push({ pid: first.pid, at })
      await sick.kill('SIGSTOP')
      const next = await begun(machines, first.subject, 2, expireMs(options) + takeoverSlackMs)
      t.diagnostic(`${sick.name} is paused; its run was begun again after ${next.at - at} ms`)
      for (const other of machines.nodes.filter((each) => each !== sick))
        assert.equal(
          (await answerOf(other, `while ${sick.name} is paused, at ${other.name}`)).state,
          'succeeded',
        )
      await pause(Math.max(0, at + pauseMs - Date.now()))
      await sick.kill('SIGCONT')
      assert.deepEqual(
        senders.refusals.filter((refusal) => refusal > at + refusingMs).map((refusal) => refusal - at),
        [],
        'milliseconds after which a healthy node refused',
      )
    }
    await pause(options.seconds * 1000)
    await assertAll(t, machines, senders, disturbances)
  })
}

export function testSilence(silenceMs: number, options: DrillOptions): void {
  const name = `a node whose network is silent for ${silenceMs / 1000} s is taken over, the others refuse nobody for it, and it goes on by itself`
  test(name, { timeout: timeout(options, silenceMs) }, async (t) => {
    const networks: Network[] = []
    const machines = await startMachines(t, {
      ...options,
      async arrange({ url }) {
        for (const _ of options.roles) networks.push(await createNetwork(url))
        for (const network of networks) atEnd(t, () => network.close())
        return (index) => networks[index]?.url ?? ''
      },
    })
    const last = machines.nodes.length - 1
    const [sick, healthy] = [machines.nodes[last], machines.nodes.slice(0, last)]
    assert.ok(sick)
    const senders = createSenders(healthy[0]?.url ?? '', options.paceMs)
    t.after(() => senders.stop())
    await pause(options.seconds * 1000)
    const at = Date.now()
    networks[last]?.silence()
    for (const deadline = at + 20_000; (await fetch(`${sick.url}/readyz`)).ok; await pause(100))
      assert.ok(Date.now() < deadline, 'the node says that it does not accept')
    t.diagnostic(`/readyz of the silent node was 503 after ${Date.now() - at} ms`)
    for (const node of healthy)
      assert.equal((await answerOf(node, `during the silence, at ${node.name}`)).state, 'succeeded')
    await pause(Math.max(0, at + silenceMs - Date.now()))
    networks[last]?.restore()
    const restoredAt = Date.now()
    for (const deadline = restoredAt + 20_000; !(await fetch(`${sick.url}/readyz`)).ok; await pause(100))
      assert.ok(Date.now() < deadline, 'the node accepts again')
    t.diagnostic(`and 200 ${Date.now() - restoredAt} ms after the silence`)
    assert.equal((await answerOf(sick, 'after the silence')).state, 'succeeded')
    assert.deepEqual(
      senders.refusals.filter((refusal) => refusal > at + refusingMs).map((refusal) => refusal - at),
      [],
    )
    await pause(options.seconds * 1000)
    await assertAll(t, machines, senders, [{ pid: sick.pid(), at }])
  })
}

export function testPooler(mode: (typeof poolModes)[number], options: DrillOptions): void {
  const name = `behind pgbouncer in ${mode} mode nodes lose and double nothing while one is killed, and answer who waits`
  test(name, { timeout: timeout(options), ...withPgbouncer }, async (t) => {
    const machines = await startMachines(t, {
      ...options,
      async arrange({ url }) {
        const pooler = await startPgbouncer(url, mode)
        atEnd(t, () => pooler.stop())
        return () => pooler.url
      },
    })
    const senders = createSenders(machines.url, options.paceMs)
    t.after(() => senders.stop())
    await pause(options.seconds * 1000)
    const last = machines.nodes.at(-1)
    const disturbances = [{ pid: last?.pid(), at: Date.now() }]
    if (last) await restart(last)
    const took: number[] = []
    for (const node of machines.nodes) {
      const begin = performance.now()
      assert.equal((await answerOf(node, `behind a pooler, at ${node.name}`)).state, 'succeeded')
      took.push(Math.round(performance.now() - begin))
    }
    t.diagnostic(`who waited was answered after ${took.join(', ')} ms`)
    await pause(options.seconds * 1000)
    await assertAll(t, machines, senders, disturbances)
  })
}
