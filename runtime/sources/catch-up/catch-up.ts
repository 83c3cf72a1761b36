/**
 * A source for each endpoint with `catchUp`: at the start and from time to time it asks the provider for what it could not deliver,
 * and posts that to the endpoint, the oldest first.
 *
 *   list what was missed since the mark -> post one after the other -> move the mark -> wait -> list ...
 *
 * The mark moves after what it passes was taken, so that a crash makes something come twice, which the endpoint's `dedupe`
 * recognises, and never makes anything get lost.
 */

import {
  type CatchUpPolicy,
  type CatchUpProvider,
  isCatchUpProvider,
  parseDuration,
  type Snapshot,
} from '@reveille/engine'
import { isPluginError, listOf, numberOf, recordOf, type SourceCall, textOf } from '@reveille/kit'
import type { Logger } from 'pino'
import type { HostCall, RunnableSource } from '../call.ts'
import type { Feed, Missed } from './feed.ts'
import { createGitHubApi, createGitHubFeed } from './github.ts'
import { inWords, type ProviderApiOptions } from './provider-api.ts'
import { createStripeApi, createStripeFeed } from './stripe.ts'

export interface CatchUpsOptions {
  readonly current: () => Pick<Snapshot, 'endpoints' | 'settings'>
  readonly fetch: typeof globalThis.fetch
  readonly log: Pick<Logger, 'debug' | 'info'>
}

/** What is needed to ask for one endpoint. Two that are equal are the same source. */
interface Asked {
  readonly endpoint: string
  readonly provider: CatchUpProvider
  readonly policy: CatchUpPolicy
}

/** No source in the configuration can be called so, since their names have no dots. */
const prefix = 'catch-up.'

/** The name of the source that catches up what was sent to an endpoint; it is the name of a folder too. */
export function catchUpSource(endpoint: string): string {
  return `${prefix}${encodeURIComponent(endpoint)}`
}

/** Makes the sources of a configuration, one for each endpoint with `catchUp`. An unchanged one stays the same object. */
export function createCatchUps({ current, fetch, log }: CatchUpsOptions) {
  let known = new Map<string, RunnableSource>()
  return function sources(): readonly RunnableSource[] {
    const { endpoints, settings } = current()
    const next = new Map<string, RunnableSource>()
    if (settings.hooks.enabled)
      for (const [endpoint, { catchUp, verify }] of Object.entries(endpoints)) {
        const provider = verify?.provider
        if (catchUp === undefined || !isCatchUpProvider(provider)) continue
        const asked = { endpoint, provider, policy: catchUp }
        const key = JSON.stringify(asked)
        next.set(key, known.get(key) ?? createCatchUp(asked, { fetch, log }))
      }
    known = next
    return [...next.values()]
  }
}

const titles = { github: 'GitHub', stripe: 'Stripe' } as const

function createCatchUp(asked: Asked, world: Pick<CatchUpsOptions, 'fetch' | 'log'>): RunnableSource {
  const name = catchUpSource(asked.endpoint)
  return {
    name,
    run: (call, host) => runCatchUp(asked, call, host, world),
  }
}

/** How far before the mark is asked again, because clocks differ and a delivery is listed only once it has failed. Milliseconds. */
const overlapMs = 300_000
/** After so many events the mark is moved. */
const markEvery = 100
/** How often the progress is reported, in events. */
const reportEvery = 25
/** The most ids that are remembered of what lies between the mark and the overlap. Older ones are left to `dedupe`. */
const maxTaken = 10_000
/** How long a refusal of the gateway, or one of the provider that a person has to mend, is waited out. Milliseconds. */
const busyMs = 10_000
const mendMs = 300_000

/** How far everything was taken. */
interface Mark {
  /** Milliseconds since the Unix epoch. */
  from: number
  /** The ids of what was taken after `from` less the overlap, with their times. */
  readonly taken: Map<string, number>
}

async function runCatchUp(
  { endpoint, provider, policy }: Asked,
  call: SourceCall,
  host: HostCall,
  world: Pick<CatchUpsOptions, 'fetch' | 'log'>,
): Promise<void> {
  const { clock, signal } = call
  const name = catchUpSource(endpoint)
  const title = titles[provider]
  const everyMs = parseDuration(policy.every)
  const lookBackMs = parseDuration(policy.lookBack)
  const counts: Record<string, number> = { caughtUp: 0, ignored: 0, known: 0, notTaken: 0 }
  let progress = ''
  let gap = ''
  const report = (
    state: 'working' | 'failing' | 'waiting',
    detail: string,
    times: Readonly<Record<string, number>> = {},
  ) => call.report({ state, detail, times, counts })

  const feed = createFeed({
    fetch: world.fetch,
    log: world.log,
    token: policy.token,
    tokenFrom: `\`hooks.endpoints.${endpoint}.catchUp.token\``,
    base: policy.api,
    clock,
    signal,
    onLimited: (until) =>
      report(
        'working',
        `${title} allows no further calls for ${inWords(until - clock.now())}; then it is asked on.${progress}`,
        { asksAgain: until },
      ),
    onCallsLeft: (calls) => {
      counts['callsLeft'] = calls
    },
  })

  function createFeed(options: ProviderApiOptions): Feed {
    const hookId = String(policy.hookId)
    return provider === 'github'
      ? createGitHubFeed(createGitHubApi(policy, options), hookId)
      : createStripeFeed(createStripeApi(options), hookId)
  }

  const mark = await readMark(call)
  while (!signal.aborted) {
    try {
      const { took, problem } = await catchUp()
      const now = clock.now()
      const found =
        took === 0
          ? 'Nothing was missed.'
          : `${took.toLocaleString('en')} that could not be delivered were taken.`
      const times = { asked: now, asksAgain: now + everyMs }
      if (problem === undefined) report('working', `${title} was asked. ${found}${gap}`, times)
      else report('waiting', `${problem} ${found}${gap}`, times)
      await clock.sleep(everyMs, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!isPluginError(error) || error.retryable) throw error
      const fix = error.code === 'not-found' ? ` ${connectText({ endpoint, provider, policy })}` : ''
      report('waiting', `${error.message}${fix}`, { asksAgain: clock.now() + mendMs })
      await clock.sleep(mendMs, signal).catch(() => {})
    }
  }

  /** Takes what was missed since the mark. Returns how many, and what a person has to mend at the provider. */
  async function catchUp(): Promise<{ readonly took: number; readonly problem: string | undefined }> {
    const begun = clock.now()
    const earliest = begun - lookBackMs
    if (mark.from !== 0 && mark.from < earliest)
      gap = ` What was sent between ${timeText(mark.from)} and ${timeText(earliest)} is older than \`lookBack\` (${policy.lookBack}) and was not asked for.`
    const { count, items, problem } = await feed.missedSince(Math.max(mark.from - overlapMs, earliest))
    let seen = 0
    const before = numbersOf(counts)
    for await (const missed of items) {
      signal.throwIfAborted()
      seen += 1
      if (!mark.taken.has(missed.id)) {
        await take(missed)
        mark.taken.set(missed.id, missed.at)
      }
      if (seen % reportEvery === 0) {
        const leftMs = ((clock.now() - begun) / seen) * (count - seen)
        progress = ` ${seen.toLocaleString('en')} of ${count.toLocaleString('en')} are done.`
        report(
          'working',
          `${title} could not deliver ${count.toLocaleString('en')}: ${seen.toLocaleString('en')} are done, about ${inWords(leftMs)} left.`,
        )
      }
      if (seen % markEvery === 0) await moveMark(missed.at)
    }
    progress = ''
    await moveMark(begun)
    const after = numbersOf(counts)
    const [caughtUp, ignored, known, notTaken] = after.map((number, index) => number - (before[index] ?? 0))
    const ms = clock.now() - begun
    if (count > 0)
      world.log.info({ event: 'caught-up', source: name, caughtUp, ignored, known, notTaken, ms })
    return { took: caughtUp ?? 0, problem }
  }

  /** Posts one, and waits while the gateway can take nothing. */
  async function take(missed: Missed): Promise<void> {
    const request = await missed.read()
    if (request === undefined) {
      counts['notTaken'] = (counts['notTaken'] ?? 0) + 1
      return
    }
    for (;;) {
      const posted = await host.post(
        { endpoint, ...request, by: `${title}'s API`, authenticatedBy: 'provider-api' },
        signal,
      )
      const { status, code = '', retryAfter } = posted
      if (status < 300) {
        const kind = posted.isDuplicate ? 'known' : posted.isIgnored ? 'ignored' : 'caughtUp'
        counts[kind] = (counts[kind] ?? 0) + 1
        return
      }
      const isBusy = status === 429 || status === 503
      const isClosed = code === 'NOT_FOUND'
      if (!isBusy && !isClosed) {
        counts['notTaken'] = (counts['notTaken'] ?? 0) + 1
        return
      }
      const why = isClosed ? 'has no such endpoint now' : `takes nothing now (${code || status})`
      report('failing', `The gateway ${why}; what ${title} could not deliver waits.${progress}`)
      await clock.sleep((retryAfter ?? 0) * 1000 || busyMs, signal)
    }
  }

  async function moveMark(to: number): Promise<void> {
    mark.from = Math.max(mark.from, to)
    for (const [id, at] of mark.taken) if (at < mark.from - overlapMs) mark.taken.delete(id)
    const newest = [...mark.taken].slice(-maxTaken)
    await call.storage.write('mark', { from: mark.from, taken: newest })
  }
}

/** The command that registers a webhook which is gone from its provider. */
function connectText({ endpoint, provider, policy: { repo, org } }: Asked): string {
  const of = repo ?? (org === undefined ? undefined : `--org ${org}`)
  const named = endpoint === provider ? [] : ['--endpoint', endpoint]
  const command = ['reveille connect', provider, ...(of === undefined ? [] : [of]), ...named].join(' ')
  return `If the webhook is gone, \`${command}\` registers it again.`
}

const countNames = ['caughtUp', 'ignored', 'known', 'notTaken'] as const

function numbersOf(counts: Readonly<Record<string, number>>): readonly number[] {
  return countNames.map((name) => counts[name] ?? 0)
}

async function readMark({ storage }: SourceCall): Promise<Mark> {
  const kept = recordOf(await storage.read('mark')) ?? {}
  const taken = listOf(kept['taken']).flatMap((entry) => {
    const [id, at] = listOf(entry)
    const time = numberOf(at)
    const text = textOf(id)
    return text === undefined || time === undefined ? [] : [[text, time] as const]
  })
  return { from: numberOf(kept['from']) ?? 0, taken: new Map(taken) }
}

function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
