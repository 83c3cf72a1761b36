/**
 * Runs a source for each endpoint with `catchUp`: at the start and from time to time it asks the provider for what it could not
 * deliver, and posts that to the endpoint, the oldest first.
 *
 *   list what was missed since the cursor -> post one after the other -> move the cursor -> wait -> list ...
 *
 * The cursor moves after what it passes was accepted, so that a crash repeats deliveries, which the endpoint's `dedupe`
 * recognises, and loses none.
 */

import { parseDuration } from '@reveille/engine'
import {
  asList,
  asNumber,
  asRecord,
  inWords,
  isPluginError,
  type Missed,
  type MissedList,
  type Provider,
  type SourceCall,
} from '@reveille/kit'
import type { Logger } from 'pino'
import { onceForEach } from '../once-for-each.ts'
import type { LiveProvider } from '../plugin/index.ts'
import type { HostCall, RunnableSource } from './call.ts'

export interface CatchUpsOptions {
  /** The providers to ask, each for one endpoint. Another object is a changed one. */
  readonly live: () => readonly LiveProvider[]
  readonly log: Pick<Logger, 'info'>
}

/** No source in the configuration can be called so, since their names have no dots. */
const prefix = 'catch-up.'

/** The name of the source that catches up an endpoint; it is the name of a folder too. */
export function catchUpSource(endpoint: string): string {
  return `${prefix}${encodeURIComponent(endpoint)}`
}

/** Returns the sources that are live, one for each endpoint with `catchUp`. An unchanged one stays the same object. */
export function createCatchUps({ live, log }: CatchUpsOptions): () => readonly RunnableSource[] {
  const sourceOf = onceForEach(
    (asked: LiveProvider): RunnableSource => ({
      name: catchUpSource(asked.endpoint),
      run: (call, host) => asked.use((provider) => runCatchUp({ asked, provider, call, host, log })),
    }),
  )
  return () => live().map(sourceOf)
}

/** Milliseconds before the cursor that are asked for again, because clocks differ and a delivery is listed only once it has failed. */
const overlapMs = 300_000
/** The cursor is moved after so many events. */
const moveEvery = 100
/** Number of events between reports of the progress. */
const reportEvery = 25
/** Maximum number of ids remembered between the cursor and the overlap. Older ones are left to `dedupe`. */
const maxTaken = 10_000
/** The wait after a refusal of the gateway, and after one of the provider that a person has to fix. Milliseconds. */
const busyMs = 10_000
const fixMs = 300_000

/** Everything before `from` was accepted. */
interface Cursor {
  /** Milliseconds since the Unix epoch. */
  from: number
  /** The ids of what was accepted after `from` less the overlap, with their times. */
  readonly taken: Map<string, number>
}

const countNames = ['caughtUp', 'ignored', 'known', 'notTaken'] as const
type Counts = Record<(typeof countNames)[number], number> & { callsLeft?: number }

interface World extends Pick<CatchUpsOptions, 'log'> {
  readonly asked: LiveProvider
  readonly provider: Provider
  readonly call: SourceCall
  readonly host: HostCall
}

interface CatchUp extends World {
  readonly cursor: Cursor
  readonly counts: Counts
  /** Progress in the current list, as a sentence. */
  progress: string
  /** Events sent too long ago to be asked for, as a sentence. */
  gap: string
  report(state: 'working' | 'failing' | 'waiting', detail: string, times?: Record<string, number>): void
}

async function runCatchUp(world: World): Promise<void> {
  const { asked, provider, call } = world
  const { clock, signal } = call
  const everyMs = parseDuration(String(asked.given['every']))
  const counts: Counts = { caughtUp: 0, ignored: 0, known: 0, notTaken: 0 }
  const own: CatchUp = {
    ...world,
    cursor: await readCursor(call),
    counts,
    progress: '',
    gap: '',
    report: (state, detail, times = {}) =>
      call.report({ state, detail: asked.redact(detail), times, counts: { ...counts } }),
  }
  while (!signal.aborted) {
    try {
      const { took, problem } = await catchUp(own)
      const now = clock.now()
      const found =
        took === 0
          ? 'Nothing was missed.'
          : `${took.toLocaleString('en')} that could not be delivered were taken.`
      const times = { asked: now, asksAgain: now + everyMs }
      const outcome = problem ?? `${provider.title} was asked.`
      own.report(problem === undefined ? 'working' : 'waiting', `${outcome} ${found}${own.gap}`, times)
      await clock.sleep(everyMs, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!isPluginError(error) || error.retryable) throw error
      const fix = error.code === 'not-found' ? ` ${connectText(world)}` : ''
      own.report('waiting', `${error.message}${fix}`, { asksAgain: clock.now() + fixMs })
      await clock.sleep(fixMs, signal).catch(() => {})
    }
  }
}

/** Posts what was missed since the cursor. Returns how many, and what a person has to fix at the provider. */
async function catchUp(own: CatchUp) {
  const { asked, provider, call, counts, cursor } = own
  const { clock, signal } = call
  const lookBack = String(asked.given['lookBack'])
  const begun = clock.now()
  const earliest = begun - parseDuration(lookBack)
  if (cursor.from !== 0 && cursor.from < earliest)
    own.gap = ` What was sent between ${timeText(cursor.from)} and ${timeText(earliest)} is older than \`lookBack\` (${lookBack}) and was not asked for.`
  const list = await provider.missedSince(Math.max(cursor.from - overlapMs, earliest), {
    clock,
    signal,
    tokenFrom: `\`hooks.endpoints.${asked.endpoint}.catchUp.token\``,
    onLimited: (until) =>
      own.report(
        'working',
        `${provider.title} allows no further calls for ${inWords(until - clock.now())}; then it is asked on.${own.progress}`,
        { asksAgain: until },
      ),
    onCallsLeft: (calls) => {
      counts.callsLeft = calls
    },
  })
  const before = { ...counts }
  await postAll(own, list, begun)
  await moveCursor(own, begun)
  const [caughtUp = 0, ignored, known, notTaken] = countNames.map((name) => counts[name] - before[name])
  if (list.count > 0) {
    const facts = { source: catchUpSource(asked.endpoint), caughtUp, ignored, known, notTaken }
    own.log.info({ event: 'caught-up', ...facts, ms: clock.now() - begun })
  }
  return { took: caughtUp, problem: list.problem }
}

async function postAll(own: CatchUp, { count, items }: MissedList, begun: number): Promise<void> {
  const { provider, call, cursor } = own
  let seen = 0
  for await (const missed of items) {
    call.signal.throwIfAborted()
    seen += 1
    if (!cursor.taken.has(missed.id)) {
      await post(own, missed)
      cursor.taken.set(missed.id, missed.at)
    }
    if (seen % reportEvery === 0) {
      const leftMs = ((call.clock.now() - begun) / seen) * (count - seen)
      const [done, all] = [seen.toLocaleString('en'), count.toLocaleString('en')]
      own.progress = ` ${done} of ${all} are done.`
      own.report(
        'working',
        `${provider.title} could not deliver ${all}: ${done} are done, about ${inWords(leftMs)} left.`,
      )
    }
    if (seen % moveEvery === 0) await moveCursor(own, missed.at)
  }
  own.progress = ''
}

/** Posts one, and waits while the gateway can accept nothing. */
async function post(own: CatchUp, missed: Missed): Promise<void> {
  const { asked, provider, call, host, counts } = own
  const { endpoint } = asked
  const request = await missed.read()
  while (request !== undefined) {
    const { status, code, retryAfter, isDuplicate, isIgnored } = await host.post(
      { endpoint, ...request, client: `${provider.title}'s API`, authenticatedBy: 'provider-api' },
      call.signal,
    )
    if (status < 300) {
      counts[isDuplicate ? 'known' : isIgnored ? 'ignored' : 'caughtUp'] += 1
      return
    }
    const isClosed = code === 'NOT_FOUND'
    if (!isClosed && status !== 429 && status !== 503) break
    const why = isClosed ? 'has no such endpoint now' : `takes nothing now (${code || status})`
    own.report(
      'failing',
      `The gateway ${why}; what ${provider.title} could not deliver waits.${own.progress}`,
    )
    await call.clock.sleep((retryAfter ?? 0) * 1000 || busyMs, call.signal)
  }
  counts.notTaken += 1
}

async function moveCursor({ cursor, call }: CatchUp, to: number): Promise<void> {
  cursor.from = Math.max(cursor.from, to)
  for (const [id, at] of cursor.taken) if (at < cursor.from - overlapMs) cursor.taken.delete(id)
  await call.storage.write('cursor', { from: cursor.from, taken: [...cursor.taken].slice(-maxTaken) })
}

async function readCursor({ storage }: SourceCall): Promise<Cursor> {
  const stored = asRecord(await storage.read('cursor')) ?? {}
  const taken = asList(stored['taken']).flatMap((entry): [string, number][] => {
    const [id, at] = asList(entry)
    return typeof id === 'string' && typeof at === 'number' ? [[id, at]] : []
  })
  return { from: asNumber(stored['from']) ?? 0, taken: new Map(taken) }
}

/** The command that registers a webhook again which is gone from its provider. */
function connectText({ asked, provider }: World): string {
  const named = asked.endpoint === asked.name ? [] : ['--endpoint', asked.endpoint]
  const words = ['reveille connect', asked.name, ...(provider.connectArguments ?? []), ...named]
  return `If the webhook is gone, \`${words.join(' ')}\` registers it again.`
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
