/** Opens a hook surface for tests, with a snapshot, a store that remembers, a log to read, and timers to fire. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Action, Decision, EffectivePolicy, HookRequest, Live, Snapshot, Timers } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import { createIdMinter } from '../store/id.ts'
import type { Acceptance, Entry, RequestRecord, Store } from '../store/port.ts'
import type { HookSurface } from './hooks.ts'
import {
  createApp,
  createHookSurface,
  createRecorder,
  type HookSurfaceOptions,
  type ReplayRequest,
} from './index.ts'
import type { RecorderOptions } from './record/recorder.ts'

export const token = 'right-token'
export const bearer = { authorization: `Bearer ${token}` }

export const wake: Action = {
  kind: 'wake',
  text: 'text',
  prompt: 'prompt',
  mode: 'next-heartbeat',
  trusted: false,
}

export const agent: Action = {
  kind: 'agent',
  message: 'message',
  prompt: 'prompt',
  trusted: false,
  sessionKey: 'hook:"quoted"',
  sessionKeyGiven: true,
  wakeMode: 'now',
  deliver: true,
  channel: 'last',
  runner: 'echo',
  timeoutSeconds: 600,
}

export interface SurfaceFixture {
  readonly app: FastifyInstance
  /** Accepted entries, in order. */
  readonly entries: Entry[]
  /** Noted records, in order. */
  readonly noted: RequestRecord[]
  /** The ids of ignored requests that were explained. */
  readonly ignored: string[]
  /** The requests to the engine, in order. */
  readonly resolved: HookRequest[]
  readonly lines: LogLines
  readonly timers: ManualTimers
  /** To be changed between requests. */
  readonly state: {
    live: Live
    full: boolean
    fullOfEvents: boolean
    now: number
    accept: (entry: Entry) => Promise<void>
    /** The store's answer once `accept` has passed. */
    acceptance: Acceptance
  }
  /** Aborted to begin a drain. */
  readonly draining: AbortController
  post(
    endpoint: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Record<string, unknown>; body: ReplyBody; text: string }>
  readonly replay: ReplayRequest
  readonly surface: HookSurface
  /** On a port of this machine. */
  dial(): Promise<Sender>
}

export interface ReplyBody {
  readonly [name: string]: unknown
  readonly requestId?: string
}

export interface SnapshotOptions {
  readonly hooks?: Partial<Snapshot['settings']['hooks']>
  readonly bodies?: 'none' | 'failed' | 'all'
  readonly endpoints?: Snapshot['endpoints']
  readonly trustedProxies?: Snapshot['settings']['gateway']['trustedProxies']
  /** By the endpoint's name. */
  readonly policies?: Readonly<Record<string, EffectivePolicy>>
  readonly resolve?: (request: HookRequest) => Decision | Promise<Decision>
}

/** Options passed to the surface besides the snapshot. */
export type SurfaceParts = Pick<
  HookSurfaceOptions,
  'loopIn' | 'isBoundToLoopback' | 'verifyDependencies' | 'performHandshakeEffects'
> &
  Partial<Pick<RecorderOptions, 'relaysEvents'>>

/** Covers `wake`, `agent`, `github` and `a/b`; every request is a wake unless `resolve` says otherwise. */
export function createSnapshot(options: SnapshotOptions = {}): Snapshot {
  const covered = new Set(['wake', 'agent', 'github', 'a/b'])
  const hooks = {
    enabled: true,
    tokens: [token],
    path: '/hooks',
    allowQueryToken: true,
    maxBodyBytes: 1024,
    bodyTimeoutMs: 10_000,
    ...options.hooks,
  }
  const gateway = { trustedProxies: options.trustedProxies ?? [] }
  const settings = {
    gateway,
    hooks,
    sources: {},
    history: { bodies: options.bodies ?? 'failed', keepMs: 1, maxBodyBytes: 1_000_000 },
  }
  return {
    digest: 'digest',
    sharedDigest: 'digest',
    settings: settings as unknown as Snapshot['settings'],
    mappings: [],
    endpoints: options.endpoints ?? {},
    covers: (endpoint) => covered.has(endpoint),
    readsPayload: () => true,
    entriesOf: () => [],
    effectivePolicyOf: (endpoint) => options.policies?.[endpoint],
    policyOf: (endpoint) => options.endpoints?.[endpoint],
    // Explains a recorded decision; nothing is decided a second time.
    explain: async ({ endpoint }, { decided } = {}) => {
      assert.ok(decided)
      return { endpoint, decision: decided as Decision, candidates: [], actions: [] }
    },
    resolve: options.resolve ?? (() => ({ outcome: 'accepted', actions: [wake] })),
  }
}

export async function openSurface(
  t: { after(end: () => Promise<void>): void },
  options: SnapshotOptions & SurfaceParts = {},
): Promise<SurfaceFixture> {
  const timers = createManualTimers()
  const app = createApp(() => state.live.snapshot.settings.gateway.trustedProxies, timers)
  const [entries, noted, resolved] = [[] as Entry[], [] as RequestRecord[], [] as HookRequest[]]
  const ignored: string[] = []
  const lines = createLogLines()
  const draining = new AbortController()
  const snapshot = createSnapshot(options)
  const resolve = (request: HookRequest) => {
    resolved.push(request)
    return snapshot.resolve(request)
  }
  const explain: Snapshot['explain'] = (request, decided) => {
    ignored.push(request.id ?? '')
    return snapshot.explain(request, decided)
  }
  const state: SurfaceFixture['state'] = {
    live: { generation: 1, snapshot: { ...snapshot, resolve, explain } },
    full: false,
    fullOfEvents: false,
    now: Date.parse('2026-01-01T00:00:00Z'),
    accept: async () => {},
    acceptance: { actions: [] },
  }
  const store = {
    async accept(entry: Entry) {
      await state.accept(entry)
      entries.push(entry)
      return state.acceptance
    },
    note: (request: RequestRecord) => noted.push(request),
    read: {},
    health: () => ({ writable: true, full: state.full, fullOfEvents: state.fullOfEvents }),
  }
  app.get('/healthz', async () => ({ ok: true }))
  app.post('/other', async (request) => request.body)
  const recorder = createRecorder({
    store: store as unknown as Store,
    now: () => state.now,
    mask: (text) => text,
    ...(options.relaysEvents && { relaysEvents: options.relaysEvents }),
  })
  const surface = createHookSurface(app, {
    ...options,
    current: () => state.live,
    store: store as unknown as Store,
    recorder,
    log: lines,
    now: () => state.now,
    mintId: createIdMinter(() => state.now),
    draining: draining.signal,
    timers,
  })
  const senders: Sender[] = []
  t.after(async () => {
    for (const sender of senders) sender.socket.destroy()
    timers.fire()
    await app.close()
  })

  return {
    app,
    entries,
    noted,
    ignored,
    resolved,
    lines,
    timers,
    state,
    draining,
    surface,
    replay: surface.replay,
    async post(endpoint, body, headers = bearer) {
      const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      const answer = await app.inject({ method: 'POST', url: `/hooks/${endpoint}`, headers, payload })
      await explained()
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: answer.json(),
        text: answer.body,
      }
    },
    async dial() {
      if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
      const sender = await createSender((app.server.address() as AddressInfo).port)
      senders.push(sender)
      return sender
    },
  }
}

/** Requests without effect are explained in the next turn of the event loop, and noted then. */
export async function explained(): Promise<void> {
  await new Promise(setImmediate)
  await new Promise(setImmediate)
}

export interface LogLines {
  readonly all: { readonly level: string; readonly [name: string]: unknown }[]
  debug(facts: object): void
  info(facts: object): void
  warn(facts: object): void
  error(facts: object): void
  /** The first line of an event, now or later. */
  line(event: string): Promise<{ readonly [name: string]: unknown }>
  /** When there is another line. */
  next(): Promise<void>
}

export function createLogLines(): LogLines {
  const all: LogLines['all'] = []
  const waiting: (() => void)[] = []
  const next = () => new Promise<void>((resolve) => waiting.push(resolve))
  const at = (level: string) => (facts: object) => {
    all.push({ level, ...facts })
    for (const check of waiting.splice(0)) check()
  }
  return {
    all,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    async line(event) {
      for (;;) {
        const found = all.find((line) => line['event'] === event)
        if (found) return found
        await next()
      }
    },
    next,
  }
}

export interface ManualTimers extends Timers {
  /** Number of running timers. */
  readonly running: number
  /** Lets the time of every running timer be over. */
  fire(): void
  /** When one runs. */
  armed(): Promise<void>
}

export function createManualTimers(): ManualTimers {
  const running = new Set<() => void>()
  const waiting: (() => void)[] = []
  return {
    get running() {
      return running.size
    },
    setTimeout(callback) {
      running.add(callback)
      for (const resolve of waiting.splice(0)) resolve()
      return callback
    },
    clearTimeout(timer) {
      running.delete(timer as () => void)
    },
    fire() {
      for (const callback of [...running]) {
        running.delete(callback)
        callback()
      }
    },
    async armed() {
      if (running.size === 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

/** A sender that writes bytes and reads bytes. */
export interface Sender {
  readonly socket: Socket
  send(...lines: string[]): void
  /** Everything received so far, once it holds `text`. */
  received(text: string): Promise<string>
  /** Everything received, once the other side has closed. */
  closed(): Promise<string>
}

async function createSender(port: number): Promise<Sender> {
  const socket = connect({ port, host: '127.0.0.1' })
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
  })
  const closing = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  await once(socket, 'connect')
  return {
    socket,
    send: (...lines) => socket.write(lines.join('\r\n')),
    async received(part) {
      while (!text.includes(part)) await Promise.race([once(socket, 'data'), closing.then(() => gone(part))])
      return text
    },
    async closed() {
      await closing
      return text
    },
  }
}

function gone(part: string): never {
  throw new Error(`The connection was closed before ${JSON.stringify(part)} came.`)
}
