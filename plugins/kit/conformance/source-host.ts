/** Sets a source up and runs it as a host would, with a fake of the gateway that remembers what is posted. */

import assert from 'node:assert/strict'
import type { Plugin } from '../plugin.ts'
import { PluginError } from '../plugin-error.ts'
import { createPluginFetch } from '../plugin-fetch.ts'
import type { Posted, PostLimits, Source, SourceCall, SourceReport, SourceStorage } from '../source.ts'
import { until } from './deadline.ts'
import { watchListeners } from './listeners.ts'
import { fillIn, load } from './opened-vendor.ts'
import { createQuickClock } from './quick-clock.ts'

export interface SourceFixture {
  /** The configuration of the source, which leads to the fake of its service. */
  readonly config: Readonly<Record<string, unknown>>
  /** The values that `connect` has stored for the source, by name. */
  readonly storage?: Readonly<Record<string, unknown>>
  /** The credentials of the fixture, which no post, report, error or log line may show. */
  readonly secrets?: readonly string[]
  /** Adds an event to the service, and returns the id by which it is recognised in posts. */
  happen(): Promise<string> | string
  /** Returns the ids of the events in a post. */
  idsIn(body: unknown, endpoint: string): readonly string[]
  /** Lets the service take calls and never answer. Absent if the source makes no calls. */
  stall?(): void
  /** Lets the service fail every call. Absent if the source makes no calls. */
  fail?(): void
  /** Releases the service. */
  close?(): Promise<void> | void
}

export interface SourceSetup {
  /** The plugin's entry point, which its package exports. */
  readonly plugin: URL
  /** Starts a new service. */
  create(): Promise<SourceFixture> | SourceFixture
}

export interface PostRecord {
  readonly endpoint: string
  readonly body: unknown
  readonly ids: readonly string[]
  readonly status: number
}

/** A source that is kept running from its setup to its end. */
export interface Running {
  /** The errors that its runs threw before they were ordered to end. */
  readonly thrown: readonly unknown[]
  readonly hasEnded: boolean
  /** Returns how often something of the host was used. */
  readonly steps: number
  abort(): void
  /** Lets everything that it was given refuse from now on, as if the process had died. */
  cut(): void
  /** Ends and closes the source, and settles when that is done; never rejects. */
  readonly ended: Promise<void>
  /** Returns the number of listeners on the signal of the last run. */
  listeners(): number
}

/** Decides the answer to a post. */
type Decide = (ids: readonly string[], signal: AbortSignal) => Promise<Posted> | Posted

export type SourceHost = Awaited<ReturnType<typeof openSource>>

const taken: Posted = { status: 202 }

export async function openSource(setup: SourceSetup) {
  const { plugin, manifest, schema } = await load(setup.plugin)
  const fixture = await setup.create()
  const clock = createQuickClock()
  const posts: PostRecord[] = []
  const reports: SourceReport[] = []
  const lines: string[] = []
  const late: string[] = []
  const values = new Map(
    Object.entries(fixture.storage ?? {}).map(([name, value]) => [name, JSON.stringify(value)]),
  )
  const open = new Set<Running>()
  let decide: Decide | undefined

  function write(...line: unknown[]): void {
    lines.push(JSON.stringify(line))
  }

  async function setUp(signal: AbortSignal, onFetch: () => void) {
    const provided = await (plugin as Plugin).setup({
      config: Object.freeze(fillIn(schema, fixture.config)),
      log: { info: write, warn: write, error: write },
      fetch: createPluginFetch({
        fetch: (...args) => {
          onFetch()
          return globalThis.fetch(...args)
        },
        log: { debug: write },
        owner: { plugin: plugin.name },
        signal,
      }),
      signal,
    })
    const source = provided.sources?.find(({ id }) => manifest.sources?.includes(id))
    assert.ok(source !== undefined, 'setup brings the source that the manifest names')
    return { source, close: async () => provided.close?.() }
  }

  /** Sets the plugin up and keeps its source running. `onStep` is called before each use of the host, counted from 1. */
  async function begin(
    onStep: (step: number, running: Running) => void = () => {},
    isCalledOff = false,
  ): Promise<Running> {
    const plugged = new AbortController()
    const stop = new AbortController()
    const thrown: unknown[] = []
    const ended = Promise.withResolvers<void>()
    let steps = 0
    let hasEnded = false
    let isCut = false
    let watched = watchListeners(new AbortController().signal)

    const running: Running = {
      thrown,
      get hasEnded() {
        return hasEnded
      },
      get steps() {
        return steps
      },
      abort: () => stop.abort(new PluginError('The source is to end.', { code: 'aborted', retryable: true })),
      cut() {
        isCut = true
        running.abort()
      },
      ended: ended.promise,
      listeners: () => watched.left(),
    }

    /** Wraps everything that a run is given. */
    function step(what: string, isOver: boolean): void {
      if (isOver) late.push(what)
      else if (!isCut) onStep(++steps, running)
      if (isOver || isCut) throw new PluginError('The run is over.', { code: 'aborted', retryable: true })
    }

    const { source, close } = await setUp(plugged.signal, () => {
      if (!hasEnded && !isCut) onStep(++steps, running)
    })
    if (isCalledOff) running.abort()
    keepRunning(source).then(async () => {
      hasEnded = true
      open.delete(running)
      plugged.abort(new Error('The source is closed.'))
      await close()
      ended.resolve()
    }, ended.reject)
    open.add(running)
    return running

    async function keepRunning(source: Source): Promise<void> {
      do {
        const run = { isOver: false }
        const own = new AbortController()
        watched = watchListeners(own.signal)
        const endIt = () => own.abort(stop.signal.reason)
        stop.signal.addEventListener('abort', endIt)
        if (stop.signal.aborted) endIt()
        try {
          await source.run(callFor(run, watched.signal))
          if (!stop.signal.aborted) thrown.push(new Error('it ended without being asked to'))
        } catch (error) {
          if (!stop.signal.aborted) thrown.push(error)
        } finally {
          run.isOver = true
          stop.signal.removeEventListener('abort', endIt)
        }
        if (!stop.signal.aborted) await clock.sleep(againMs, stop.signal).catch(() => {})
      } while (!stop.signal.aborted)
    }

    function callFor(run: { isOver: boolean }, signal: AbortSignal): SourceCall {
      const storage: SourceStorage = {
        async read(name) {
          step('read', run.isOver)
          const text = values.get(name)
          return text === undefined ? undefined : JSON.parse(text)
        },
        async write(name, value) {
          step('write', run.isOver)
          values.set(name, JSON.stringify(value))
        },
      }
      return {
        signal,
        clock: {
          now: clock.now,
          async sleep(ms, own) {
            step('sleep', run.isOver)
            await clock.sleep(ms, own)
          },
        },
        storage,
        async post(endpoint, body, own) {
          step('post', run.isOver)
          const either = own ? AbortSignal.any([own, signal]) : signal
          either.throwIfAborted()
          const ids = fixture.idsIn(structuredClone(body), endpoint)
          const posted = (await decide?.(ids, either)) ?? taken
          posts.push({ endpoint, body: structuredClone(body), ids, status: posted.status })
          return posted
        },
        limitsOf: () => host.limits,
        onReloaded() {
          step('onReloaded', run.isOver)
        },
        report(report) {
          if (run.isOver) late.push('report')
          else reports.push(structuredClone(report))
        },
      }
    }
  }

  const host = {
    ...{ fixture, clock, posts, reports },
    /** The log lines of the plugin and its fetch. */
    lines,
    /** Returns how often a run that had ended used something of the host. */
    late,
    begin,
    /** Sets the plugin up, and runs its source with a signal that is already aborted. */
    beginCalledOff: () => begin(undefined, true),
    /** Keeps a source running and waits until it reports that all is well. */
    async beginWell() {
      const before = reports.length
      const running = await begin()
      const isWell = () => reports.slice(before).some(({ state }) => state === 'working')
      await until(isWell, () => `the source reports that it works${whatIs(running)}`)
      return running
    },
    /** Adds an event. */
    happen: async () => fixture.happen(),
    /** Waits until each event was posted and taken. */
    async untilTaken(running: Running, ...ids: readonly string[]) {
      const isMissing = (id: string) =>
        !posts.some((post) => post.ids.includes(id) && post.status >= 200 && post.status < 300)
      await until(
        () => !ids.some(isMissing),
        () => `each event is posted and taken, and ${ids.filter(isMissing)} are not${whatIs(running)}`,
      )
    },
    /** Sets what decides the answers to posts; without it each is taken. */
    answer(next: Decide | undefined) {
      decide = next
    },
    limits: { maxBodyBytes: 262_144, maxActions: 100, maxRenderedBytes: 4_194_304 } as PostLimits,
    async [Symbol.asyncDispose]() {
      for (const running of open) running.abort()
      await Promise.race([Promise.all([...open].map(({ ended }) => ended)), clock.sleep(graceMs, forever)])
      clock.close()
      await fixture.close?.()
    },
  }
  return host
}

/** Milliseconds of the quick clock that a hanging source has to end. */
const graceMs = 20_000
/** Milliseconds of the quick clock between the end of a run and its repetition. */
const againMs = 1000
const forever = new AbortController().signal

function whatIs({ thrown }: Running): string {
  return thrown.length === 0 ? '' : `; its runs threw ${String(thrown.at(-1))}`
}
