/** The test bed of dispatch: a real store in a folder of its own, a fake runner and channel, and a manual clock. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Settings, Snapshot, Timers } from '@reveille/engine'
import type { Turn, TurnCall, TurnResult } from '@reveille/kit'
import { type Channel, type Part, PluginError, type Runner, type SendCall } from '@reveille/kit'
import { abandonAfterMs } from '../agent/bounded-call.ts'
import { createProgressBoard } from '../agent/progress.ts'
import { createManualClock } from '../store/contract/bench/manual-clock.ts'
import { createSampler } from '../store/contract/bench/samples.ts'
import { openInThisThread } from '../store/contract/in-this-thread.ts'
import { createIdMinter } from '../store/id.ts'
import type {
  DeliveryRecord,
  EventRecord,
  NewAction,
  RunRecord,
  SetTimer,
  Store,
  WorkOptions,
} from '../store/port.ts'
import { runTask } from '../store/task-keys.ts'
import { createBudgets } from './budget.ts'
import { createCircuitBreaker } from './delivery/circuit-breaker.ts'
import { createDeliveryPerformer } from './delivery/performer.ts'
import { createHeartbeatPerformer } from './heartbeat/performer.ts'
import { createDispatch, type Dispatch, type DispatchOptions } from './index.ts'
import { createRunPerformer } from './run/performer.ts'
import { createRunnerBreaker } from './run/runner-breaker.ts'

export type Defaults = Settings['agents']['defaults']
export type LogLine = { readonly level: string; readonly event: string; readonly [fact: string]: unknown }
export type TestBed = Awaited<ReturnType<typeof openTestBed>>

type Kind = 'run' | 'heartbeat' | 'delivery'

export interface Setting {
  /** The answer of the runner `fake`. Default: the prompt. */
  run?(turn: Turn, call: TurnCall): Promise<TurnResult>
  /** Handles a part that is sent on the channel `wall`. Default: it is received. */
  send?(part: Part, call: SendCall): Promise<void>
  readonly channel?: Partial<Channel>
  /** More channels, by their names. */
  readonly channels?: Readonly<Record<string, Channel>>
  readonly deliveries?: Partial<Settings['deliveries']>
  readonly defaults?: Partial<Defaults>
  readonly heartbeat?: Partial<Defaults['heartbeat']>
  readonly route?: { readonly channel: string; readonly to?: string }
  readonly sessions?: Partial<Settings['agents']['sessions']>
  readonly budget?: Settings['agents']['budget']
  /** Policies by their names. */
  readonly endpoints?: Snapshot['endpoints']
  readonly keepsHistory?: boolean
  /** True if the runner passes the main session's events on. */
  readonly relays?: boolean
  /** The first time of the clock. Default: the beginning of 2026 (UTC). */
  readonly startAt?: number
}

export type Coalesce = NonNullable<RunRecord['coalesce']>

/** Milliseconds that a run waits for more requests of its burst. */
export const burstWindowMs = 1000

/** Real milliseconds after which a test that waits has failed. */
const timeLimitMs = 20_000

const epoch = Date.UTC(2026, 0, 1)

export async function openTestBed(t: TestContext, setting: Setting = {}) {
  const root = await mkdtemp(join(tmpdir(), 'reveille-dispatch-'))
  const stirring = createStirring()
  let life = 0
  let given = 0
  const channels: Record<string, Channel> = { ...setting.channels }
  const configurations: Record<string, object> = {}
  const clock = createManualTimers(setting.startAt ?? epoch)
  const mintId = createIdMinter(clock.now)
  const samples = createSampler({ mintId, clock })
  const turns: Turn[] = []
  const sent: { readonly text: string; readonly to: string; readonly key: string }[] = []
  const lines: LogLine[] = []
  const over = new AbortController()
  let store = await open()
  let dispatch: Dispatch | undefined

  t.after(async () => {
    over.abort()
    await close()
    await rm(root, { recursive: true, force: true })
  })

  async function open(): Promise<Store> {
    const opened = await openInThisThread({
      location: join(root, String(life)),
      now: clock.now,
      setTimer: clock.setTimer,
      keepMs: 86_400_000 * 7,
      backlog: 10_000,
      historyMessages: 1100,
    })
    // Changes that are committed before the first listener are lost, so this one is there from the start.
    opened.changes({ signal: over.signal })
    return opened
  }

  async function close() {
    const closing = dispatch?.close()
    dispatch = undefined
    clock.advance(abandonAfterMs)
    await closing
    await store.close()
  }

  const runner: Runner = {
    id: 'fake',
    keepsHistory: setting.keepsHistory,
    async run(turn, call) {
      turns.push(turn)
      stirring.stir()
      return setting.run ? setting.run(turn, call) : { reply: turn.prompt }
    },
  }

  const channel: Channel = {
    id: 'wall',
    limits: { part: 1000, unit: 'utf16' },
    target: (to) => ({ key: to.toLowerCase(), kind: 'user', to }),
    render: (markdown) => markdown.split('|').map((text) => ({ text })),
    async send(part, call) {
      given += 1
      stirring.stir()
      await setting.send?.(part, call)
      sent.push({ text: part.text, to: String(call.target['to']), key: call.key })
      stirring.stir()
      return { id: `w${sent.length}` }
    },
    ...setting.channel,
  }

  channels['wall'] = channel
  for (const name of Object.keys(channels)) configurations[name] = {}

  const defaults: Defaults = {
    runner: 'fake',
    timeoutSeconds: 60,
    concurrency: 4,
    retry: { attempts: 3, firstMs: 2000, maxMs: 120_000 },
    ...setting.defaults,
    heartbeat: { everyMs: 0, idle: false, ackToken: 'HEARTBEAT_OK', prompt: 'Beat.', ...setting.heartbeat },
  }
  let settings = settingsOf(defaults)
  let endpoints = setting.endpoints ?? {}
  const progress = createProgressBoard({ now: clock.now })
  const sentMessages: string[] = []

  function settingsOf(changed: Defaults): Settings {
    const sessions = {
      maxCharacters: 200_000,
      maxMessages: 200,
      compaction: 'drop',
      idleMs: 86_400_000,
      ...setting.sessions,
    }
    const { route, budget } = setting
    const agents = { defaults: changed, runners: {}, prices: {}, providers: {}, sessions, route, budget }
    const deliveries = { retryForMs: 86_400_000, retryUnsure: false, maxMessages: 10, ...setting.deliveries }
    return { agents, deliveries, channels: { ...configurations } } as unknown as Settings
  }

  function options(): DispatchOptions {
    return {
      store,
      current: () => ({ generation: 3, snapshot: { settings, endpoints } as never }),
      runner: (name) => (name === 'fake' ? runner : undefined),
      channel: (name) => channels[name],
      fence: (text, { label, randomId }) => `<${label} ${randomId()}>${text}`,
      log: createLog(lines, stirring.stir),
      now: clock.now,
      mintId,
      random: () => 1,
      randomId: () => 'x',
      timers: clock.timers,
      progress,
      relays: () => setting.relays === true,
      onSending: (text) => void sentMessages.push(text),
    }
  }

  async function start() {
    dispatch = createDispatch(options())
    await dispatch.start()
    return dispatch
  }

  function performer(kind: Kind) {
    const create = {
      run: createRunPerformer,
      heartbeat: createHeartbeatPerformer,
      delivery: createDeliveryPerformer,
    }
    const given = options()
    const breaker = createCircuitBreaker({ ...given, onChange() {} })
    return create[kind]({
      ...given,
      stopping: over.signal,
      budgets: createBudgets(given),
      breaker,
      runners: createRunnerBreaker(given),
    })
  }

  /** Performs one kind of task, and nothing else. */
  function startOnly(kind: Kind, perform: WorkOptions['perform'] = performer(kind)) {
    store.work({ kinds: [kind], concurrency: 1, perform })
  }

  /** Performs as dispatch does, but no settlement is sent, as if the process died just before. */
  function startDoomed(kind: Kind): Promise<void> {
    const perform = performer(kind)
    return new Promise((resolve) => {
      startOnly(kind, async (claim) => {
        await perform(claim)
        resolve()
        return new Promise<never>(() => {})
      })
    })
  }

  /** Performs one kind of task. Its first settlement is lost although the process lives. */
  function startForgetful(kind: Kind) {
    const perform = performer(kind)
    let isLost = false
    startOnly(kind, async (claim) => {
      const settlement = await perform(claim)
      if (isLost) return settlement
      isLost = true
      stirring.stir()
      throw new Error('the settlement was lost')
    })
    return () => isLost
  }

  async function acceptRun(fields: Partial<RunRecord> = {}, lane = fields.sessionKey !== undefined) {
    const run = newRun(fields)
    const { id, sessionKey, pool } = run
    const task = runTask({ id, sessionKey, lane, dueAt: clock.now(), pool })
    await accept({ type: 'run', record: run, tasks: [task] })
    return id
  }

  /** One request of a burst: a run of its own, or part of the one that waits for more of them. */
  async function acceptOfBurst(fields: Partial<RunRecord> & { readonly coalesce: Coalesce }) {
    const now = clock.now()
    const run = newRun({ message: fields.prompt, ...fields })
    const { key, keep } = fields.coalesce
    const dueAt = now + burstWindowMs
    const task = runTask({ id: run.id, sessionKey: run.sessionKey, lane: false, dueAt })
    const action = { type: 'run', record: run, join: { key, keep, dueAt }, tasks: [task] } as const
    const [accepted] = (await accept(action)).actions
    if (accepted?.outcome !== 'accepted' && accepted?.outcome !== 'joined') throw new Error('not accepted')
    return accepted
  }

  async function acceptEvent(text: string, mode: EventRecord['mode'] = 'now') {
    const action = samples.eventAction({ text, prompt: `[${text}]`, mode, generation: 2 })
    await accept(action)
    return action.record.id
  }

  function accept(action: NewAction) {
    const actions = [{ kind: action.type === 'run' ? 'agent' : 'wake', id: action.record.id }] as const
    return store.accept({ request: samples.request({ generation: 2, actions }), actions: [action] })
  }

  function newRun(fields: Partial<RunRecord>): RunRecord {
    const id = mintId()
    return samples.run({
      id,
      requestId: id,
      endpoint: 'github',
      generation: 2,
      runner: 'fake',
      timeoutSeconds: 60,
      wakeMode: 'next-heartbeat',
      channel: 'wall',
      to: 'Ada',
      ...fields,
    })
  }

  /** Waits until `look` returns a value. It is called again after every commit, call of the runner and log line. */
  async function until<Found>(look: () => Promise<Found | undefined | false>): Promise<Found> {
    const done = new AbortController()
    const timeLimit = AbortSignal.timeout(timeLimitMs)
    const changes = store.changes({ signal: done.signal })[Symbol.asyncIterator]()
    const vain = new Promise<never>((_, reject) => {
      timeLimit.addEventListener('abort', () => reject(new Error(`waited in vain for ${look}`)), {
        once: true,
      })
    })
    vain.catch(() => {})
    try {
      let change = changes.next()
      for (;;) {
        const stirred = stirring.wait()
        const found = await look()
        if (found) return found
        const next = await Promise.race([change.then(() => 'change'), stirred, vain])
        if (next === 'change') change = changes.next()
      }
    } finally {
      done.abort()
    }
  }

  const untilRun = (id: string, holds: (run: RunRecord) => boolean) =>
    until(async () => {
      const run = await store.read.run(id)
      return run && holds(run) && run
    })

  const deliveries = async (state?: string) =>
    (await store.read.deliveries({ limit: 500, state })).items.toReversed()

  return {
    clock,
    turns,
    sent,
    /** The texts of the parts that were sent, in order. */
    texts: () => sent.map(({ text }) => text),
    /** The recipients of the parts that were sent, sorted. */
    recipients: () => sent.map(({ to }) => to).toSorted(),
    lines,
    start,
    startDoomed,
    startForgetful,
    startOnly,
    /** The parts that the channel got so far. */
    sending: () => given,
    /** Changes settings for the next snapshot. */
    configure(changed: Partial<Defaults>, policies = endpoints) {
      settings = settingsOf({ ...defaults, ...changed })
      endpoints = policies
    },
    progress,
    /** The messages that were reported as sent, in order. */
    sentMessages,
    removeChannel() {
      delete channels['wall']
    },
    /** Changes the configuration of a channel for the next snapshot. */
    reconfigureChannel(name: string) {
      configurations[name] = { changed: mintId() }
      settings = settingsOf(defaults)
    },
    async reload() {
      const applied = dispatch?.applySettings()
      dispatch?.applyChannels()
      await applied
    },
    /** Makes waiting tests check again, after a change outside the bed. */
    stir: stirring.stir,
    /** The number of commits of the store so far. */
    commits: () => store.health().commits,
    channelStates: () => dispatch?.channels() ?? [],
    performer,
    acceptRun,
    acceptOfBurst,
    acceptEvent,
    /** Accepts a run, and waits until nothing of it is left to do, or until it fails. */
    async perform(fields?: Partial<RunRecord>) {
      const id = await acceptRun(fields)
      return untilRun(
        id,
        ({ stage, state }) => stage === 'delivered' || !['queued', 'running', 'succeeded'].includes(state),
      )
    },
    /** Accepts an event that asks for now, and lets its heartbeat begin. */
    async ring(text: string) {
      const id = await acceptEvent(text)
      clock.advance(250)
      return id
    },
    /** Waits until the runner was asked so often. */
    untilAsked: (times: number) => until(async () => turns.length === times),
    until,
    untilRun,
    untilState: (id: string, state: RunRecord['state']) => untilRun(id, (run) => run.state === state),
    untilDelivered: (id: string) => untilRun(id, ({ stage }) => stage === 'delivered'),
    /** Waits until a run has failed once and is to be tried again. */
    untilRetried: (id: string) =>
      untilRun(id, ({ state, attempts }) => state === 'queued' && attempts.length === 1),
    /** Waits for the oldest delivery that fits. */
    untilDelivery: (holds: (delivery: DeliveryRecord) => boolean) =>
      until(async () => (await deliveries()).find(holds)),
    cancel: (run: string) => store.command({ type: 'cancel', run, at: clock.now() }),
    read: () => store.read,
    /** The state of the main session. */
    heartbeat: () => dispatch?.heartbeat(),
    /** The heartbeats so far, oldest first. */
    heartbeats: async () => (await store.read.runs({ kind: 'heartbeat' })).items.toReversed(),
    deliveries,
    events: async () => (await store.read.events()).items.toReversed(),
    log: (event: string) => lines.filter((line) => line.event === event),
    command: (command: Parameters<Store['command']>[0]) => store.command(command),
    /** Ends the process regularly. Another one opens the folder. */
    async restart() {
      await close()
      store = await open()
      return start()
    },
    /** Kills the process. The next one finds only what was on disk at this moment. */
    async crash() {
      const from = join(root, String(life))
      life += 1
      await cp(from, join(root, String(life)), { recursive: true, filter: (file) => !file.includes('lock') })
      await close()
      turns.length = 0
      sent.length = 0
      lines.length = 0
      store = await open()
    },
  }
}

/** A bed that performs. */
export async function startTestBed(t: TestContext, setting?: Setting) {
  const bed = await openTestBed(t, setting)
  return { ...bed, dispatch: await bed.start() }
}

/** A call that lasts until it is aborted. */
export function untilAborted(_given: unknown, { signal }: { readonly signal: AbortSignal }): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

/** The outcomes of a run's attempts, in order. */
export const outcomesOf = (run: RunRecord | undefined) => run?.attempts.map(({ outcome }) => outcome)

/** Answers once the call is aborted, which is too late. */
export function answersLate<Answer>(answer: Answer) {
  return (_given: unknown, { signal }: { readonly signal: AbortSignal }): Promise<Answer> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(answer)))
}

/** A runner whose first attempt fails. */
export function failsOnce(...error: Parameters<typeof broken>): Setting['run'] {
  return async ({ attempt }) => {
    if (attempt === 1) throw broken(...error)
    return { reply: 'ok' }
  }
}

export const never = () => new Promise<never>(() => {})

/** An error of a plugin. */
export function broken(code: string, facts: Partial<PluginError> = {}): PluginError {
  return new PluginError(`the wall said ${code}`, { code, retryable: true, ...facts })
}

export function createLog(lines: LogLine[], stir: () => void): DispatchOptions['log'] {
  const at = (level: string) => (facts: object) => {
    lines.push({ level, ...facts } as LogLine)
    stir()
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** Wakes tests that wait for something that is not committed: a call of the runner, a log line. */
function createStirring() {
  let next = Promise.withResolvers<'stirred'>()
  return {
    wait: () => next.promise,
    stir() {
      next.resolve('stirred')
      next = Promise.withResolvers()
    },
  }
}

/** A manual clock with timers as the engine has them. A timer that is already due fires by itself. */
export function createManualTimers(start: number) {
  const clock = createManualClock(start)
  const setTimer: SetTimer = (run, ms) => {
    const cancel = clock.setTimer(run, ms)
    if (ms <= 0) setImmediate(clock.advance, 0)
    return cancel
  }
  const timers: Timers = {
    setTimeout: setTimer,
    clearTimeout: (cancel) => (cancel as ReturnType<SetTimer> | undefined)?.(),
  }
  return { ...clock, setTimer, timers }
}
