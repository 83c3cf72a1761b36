/**
 * Follows what happens for the clients of `GET /api/stream`, as server-sent events. What changes is gathered for a moment; then one read of the
 * store and one serialisation make a frame that all clients get. Without a client nothing is gathered.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Mask, ReloadEvent, Timers } from '@reveille/engine'
import type { FastifyRequest } from 'fastify'
import type { Change, Id, Store } from '../store/port.ts'
import { refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import { shownRequest } from './requests.ts'
import type { streamRoutes } from './routes/stream.ts'

export interface StreamOptions {
  readonly store: Pick<Store, 'changes' | 'read'>
  /** The generation that is live. */
  readonly generation: () => number
  readonly isDraining: () => boolean
  /** Returns a function that says whether what let a request in would still do so. */
  readonly admissionOf: (request: FastifyRequest) => () => boolean
  readonly now: () => number
  readonly timers: Timers
  /** A frame is written past the hook that masks answers. */
  readonly mask: Pick<Mask, 'json'>
}

interface Client {
  readonly holder: string
  readonly response: ServerResponse
  readonly isAdmitted: () => boolean
}

interface Frame {
  readonly number: number
  readonly chunk: Buffer
}

/** Minimum time between two frames, and after a frame that could not list all requests. Milliseconds. */
const pauseMs = 250
const floodPauseMs = 500
/** Milliseconds that the first change after a pause waits for those that follow from it. */
const gatherMs = 20
const keepAliveMs = 15_000
/** Milliseconds that changes are gathered after the last client has gone, so that one that connects again misses nothing. */
const lingerMs = 30_000
const maxClients = 100
/** Of one sign-in, or of one token. */
const maxPerHolder = 40
/** Of requests. */
const maxRows = 50
/** Of runs, events and deliveries each. */
const maxStates = 200
/** The frames that are remembered for clients that connect again. */
const maxFrames = 240
const maxFrameBytes = 4 * 1024 * 1024
/** A client that reads more slowly than this is cut off. Bytes that wait for it. */
const maxWaiting = 1024 * 1024

export type Stream = ReturnType<typeof createStream>

export function createStream(options: StreamOptions) {
  const { now, timers } = options
  const frames = createFrames()
  const clients = createClients(timers)
  const framing = createFraming(options, frames, clients.send)
  let lingerTimer: unknown

  function follow(): void {
    timers.clearTimeout(lingerTimer)
    lingerTimer = undefined
    if (framing.begin()) clients.keepAlive()
  }

  /** A later client starts with a gap, whatever it has seen. */
  function rest(): void {
    framing.end()
    clients.rest()
    timers.clearTimeout(lingerTimer)
    lingerTimer = undefined
  }

  function greet({ response }: Client, seen: string | undefined): void {
    const missed = seen === undefined ? undefined : frames.after(seen)
    if (missed !== undefined) {
      response.write(comment)
      for (const { chunk } of missed) response.write(chunk)
      return
    }
    const event = seen === undefined ? 'hello' : 'gap'
    const data = JSON.stringify({ at: now(), generation: options.generation() })
    response.write(`retry: ${retryMs}\nid: ${frames.cursor()}\nevent: ${event}\ndata: ${data}\n\n`)
  }

  return {
    handlers: {
      async followStream({ request, reply }) {
        reply.type('text/event-stream; charset=utf-8')
        if (request.method === 'HEAD') return reply.send('')
        if (options.isDraining()) return refuse('DRAINING')
        const holder = request.admission?.signIn ?? request.admission?.name ?? ''
        if (!clients.haveRoomFor(holder)) return refuse('TOO_MANY_STREAMS')
        // A proxy must not wait for the end of the answer.
        reply.header('x-accel-buffering', 'no').hijack()
        const response = reply.raw
        const client = { holder, response, isAdmitted: options.admissionOf(request) }
        const seen = request.headers['last-event-id']
        // Changes from here on are gathered, so that none is between what is answered now and the first frame.
        follow()
        clients.add(client, () => {
          if (framing.isOn()) lingerTimer ??= timers.setTimeout(rest, lingerMs)
        })
        response.writeHead(200, reply.getHeaders() as Record<string, string>)
        greet(client, typeof seen === 'string' ? seen : undefined)
        return reply
      },
    } satisfies Handlers<typeof streamRoutes>,
    /** Takes what the reloader reports. */
    noteReload(event: ReloadEvent): void {
      if (!framing.isOn() || !isShown(event.type)) return
      framing.noteReload(event)
      // A token may have been withdrawn.
      if (event.type === 'snapshot-swapped') clients.endUnadmitted()
    },
    /** Ends every client. */
    close(): void {
      clients.endAll()
      rest()
    },
  }
}

type Frames = ReturnType<typeof createFrames>

/** The last frames, for clients that connect again. */
function createFrames() {
  /** Distinguishes the frames of this process from those of earlier ones. */
  const epoch = randomUUID().slice(0, 8)
  let frames: Frame[] = []
  let bytes = 0
  /** The number of the last frame. */
  let last = 0
  const cursor = () => `${epoch}.${last}`

  return {
    cursor,
    add(data: string): Buffer {
      last += 1
      const chunk = Buffer.from(`id: ${cursor()}\nevent: frame\ndata: ${data}\n\n`)
      frames.push({ number: last, chunk })
      bytes += chunk.length
      while (frames.length > maxFrames || (bytes > maxFrameBytes && frames.length > 1))
        bytes -= frames.shift()?.chunk.length ?? 0
      return chunk
    },
    /** Forgets them, and leaves a gap. */
    clear(): void {
      frames = []
      bytes = 0
      last += 1
    },
    /** The frames after the one that a client has seen last; undefined if some are gone. */
    after(seen: string): readonly Frame[] | undefined {
      const [of, number] = seen.split('.')
      const after = Number(number) + 1
      if (of !== epoch || !(after >= (frames[0]?.number ?? last + 1) && after <= last + 1)) return undefined
      return frames.filter((frame) => frame.number >= after)
    },
  }
}

function createClients(timers: Timers) {
  const clients = new Set<Client>()
  let keepAliveTimer: unknown

  function send(chunk: Buffer): void {
    for (const client of clients) {
      const { response, isAdmitted } = client
      if (!isAdmitted()) end(client)
      // It connects again and goes on where it was, or is answered that there is a gap.
      else if (response.writableLength > maxWaiting) response.destroy()
      else response.write(chunk)
    }
  }

  function end(client: Client): void {
    clients.delete(client)
    client.response.end()
  }

  function keepAlive(): void {
    keepAliveTimer = timers.setTimeout(() => {
      send(comment)
      keepAlive()
    }, keepAliveMs)
  }

  return {
    send,
    keepAlive,
    rest: () => timers.clearTimeout(keepAliveTimer),
    haveRoomFor(holder: string): boolean {
      const own = [...clients].filter((client) => client.holder === holder).length
      return clients.size < maxClients && own < maxPerHolder
    },
    /** `onLast` is called when no client is left. */
    add(client: Client, onLast: () => void): void {
      clients.add(client)
      client.response.once('close', () => {
        clients.delete(client)
        if (clients.size === 0) onLast()
      })
    },
    endUnadmitted(): void {
      for (const client of clients) if (!client.isAdmitted()) end(client)
    },
    endAll: () => clients.forEach(end),
  }
}

/** Makes frames of what changes, from `begin` to `end`. */
function createFraming(
  { store, now, timers, mask }: StreamOptions,
  frames: Frames,
  send: (chunk: Buffer) => void,
) {
  let gathered = createGathered()
  let following: AbortController | undefined
  let frameTimer: unknown
  let isMaking = false
  let madeAt = 0
  let isFlood = false

  async function gather(changes: AsyncIterable<Change>): Promise<void> {
    for await (const change of changes) {
      gathered.add(change)
      schedule()
    }
  }

  function schedule(): void {
    if (frameTimer !== undefined || isMaking) return
    const pause = isFlood ? floodPauseMs : pauseMs
    const ms = Math.max(gatherMs, madeAt + pause - now())
    frameTimer = timers.setTimeout(
      () => {
        frameTimer = undefined
        void makeFrame()
      },
      Math.min(ms, pause),
    )
  }

  async function makeFrame(): Promise<void> {
    const taken = gathered
    gathered = createGathered()
    isMaking = true
    const rows = await readRows(store, taken.requests)
    isMaking = false
    if (following === undefined) return
    madeAt = now()
    isFlood = taken.requests.size > maxRows
    const data = { at: madeAt, ...taken.content(rows) }
    send(frames.add(mask.json(JSON.stringify(data))))
    if (!gathered.isEmpty()) schedule()
  }

  return {
    isOn: () => following !== undefined,
    /** Returns false if it has begun already. */
    begin(): boolean {
      if (following !== undefined) return false
      following = new AbortController()
      void gather(store.changes({ signal: following.signal }))
      return true
    },
    end(): void {
      following?.abort()
      following = undefined
      timers.clearTimeout(frameTimer)
      frameTimer = undefined
      frames.clear()
      gathered = createGathered()
    },
    noteReload(event: ReloadEvent): void {
      gathered.noteReload(event)
      schedule()
    },
  }
}

/** A store that cannot be read leaves the rows out; they count as skipped. */
async function readRows({ read }: StreamOptions['store'], requests: ReadonlySet<Id>) {
  if (requests.size === 0) return []
  try {
    const { items } = await read.requests({ limit: maxRows })
    return items
      .filter(({ id }) => requests.has(id))
      .map(shownRequest)
      .reverse()
  } catch {
    return []
  }
}

/** Milliseconds that a browser waits before it connects again. */
const retryMs = 2_000
const comment = Buffer.from(':\n\n')

function isShown(type: ReloadEvent['type']): boolean {
  return type === 'snapshot-swapped' || type === 'candidate-rejected' || type === 'content-unchanged'
}

/** Changes since the last frame: the last state of each record. */
function createGathered() {
  const requests = new Set<Id>()
  const states = {
    run: new Map<Id, { state: string; stage?: string }>(),
    event: new Map<Id, { state: string }>(),
    delivery: new Map<Id, { state: string }>(),
  }
  let generation: number | undefined
  let hasReloaded = false
  let hasIssues = false

  /** The newest of them. */
  function listed<State extends object>(records: ReadonlyMap<Id, State>) {
    return [...records].slice(-maxStates).map(([id, state]) => ({ id, ...state }))
  }

  return {
    requests,
    isEmpty: () =>
      requests.size + states.run.size + states.event.size + states.delivery.size === 0 &&
      generation === undefined &&
      !hasReloaded &&
      !hasIssues,
    add({ type, id, state, stage }: Change): void {
      if (type === 'request') requests.add(id)
      else if (type === 'issue') hasIssues = true
      else states[type].set(id, stage === undefined ? { state } : { state, stage })
    },
    noteReload(event: ReloadEvent): void {
      hasReloaded = true
      if (event.type === 'snapshot-swapped') generation = event.generation
    },
    content(rows: readonly object[]) {
      const isCut = Object.values(states).some(({ size }) => size > maxStates)
      return {
        requests: rows,
        skipped: Math.max(0, requests.size - rows.length),
        runs: listed(states.run),
        events: listed(states.event),
        deliveries: listed(states.delivery),
        ...(isCut && { partial: true }),
        ...(hasIssues && { issues: true }),
        ...(generation !== undefined && { generation }),
        ...(hasReloaded && { reload: true }),
      }
    },
  }
}
