/** Health of the gateway: its problems, three plots of the last hours, and the state of each of its parts. */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { hrefOf, type PageProps } from '../browser/router.ts'
import { useEvery, useLoaded, useReloadOn } from '../data/load.ts'
import type { Answer } from '../data/types.ts'
import { Badge, type Tone, toneOf } from '../parts/badge.tsx'
import { Choices } from '../parts/controls.tsx'
import { Figure, type PlotLine } from '../parts/figure.tsx'
import { Code, Marked } from '../parts/marked.tsx'
import { LoadedView, Problem } from '../parts/notice.tsx'
import { OpenIssues, openIssues } from '../parts/open-issues.tsx'
import { type Fact, Facts, text, time } from '../parts/record.tsx'
import { counted, dollars, duration, Time } from '../parts/words.tsx'

/** Lists are of equal length, the oldest step first. */
type Series = Answer<'readSeries'>
type StoreHealth = Answer<'readHealth'>
type Status = Answer<'readStatus'>

const refreshMs = 10_000
const minuteMs = 60_000
const ranges = [
  ['15', '15 minutes'],
  ['60', 'an hour'],
  ['360', '6 hours'],
] as const

export function Health({ query }: PageProps) {
  const minutes = ranges.find(([value]) => value === query.get('minutes'))?.[0] ?? '60'
  const series = useLoaded<Series>('/series', { minutes })
  const status = useLoaded<Status>('/status')
  const store = useLoaded<StoreHealth>('/health')
  useEvery(refreshMs, status.reload)
  useEvery(refreshMs, store.reload)
  // The plots of hours are long answers, and change slowly.
  useEvery(minutes === '360' ? minuteMs : refreshMs, series.reload)
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, status.reload)
  const parts = status.data && partsOf(status.data, store.data)
  return (
    <>
      <h1>Health</h1>
      {store.error !== undefined && <Problem error={store.error} retry={store.reload} />}
      {parts !== undefined && <Verdict parts={parts} />}
      <Choices name="minutes" label="How far back" value={minutes} choices={ranges} />
      <LoadedView loaded={series} label="the plots">
        {(data) => <Plots series={data} minutes={Number(minutes)} />}
      </LoadedView>
      {status.error !== undefined && <Problem error={status.error} retry={status.reload} />}
      {parts !== undefined && <Parts parts={parts} />}
    </>
  )
}

/** The parts that want a look, and the open issues. Without either, everything works. */
function Verdict({ parts }: { readonly parts: readonly Part[] }) {
  const problems = parts.filter(({ tone }) => tone === 'bad' || tone === 'warn')
  const isBad = problems.some(({ tone }) => tone === 'bad')
  return (
    <>
      {problems.length > 0 && (
        <ul class={`edge note tone-${isBad ? 'bad' : 'warn'}`}>
          {problems.map(({ title, state, problem = state }) => (
            <li key={title}>
              <Marked text={`${title}: ${problem}`} />
            </li>
          ))}
        </ul>
      )}
      <OpenIssues />
      {problems.length === 0 && openIssues.value?.length === 0 && (
        <p class="edge note tone-good">Everything works.</p>
      )}
    </>
  )
}

function Plots({ series, minutes }: { readonly series: Series; readonly minutes: number }) {
  const { mix, latency, load, hasMoney, ...axis } = useMemo(
    () => figuresOf(series, minutes),
    [series, minutes],
  )
  return (
    <div class="figures">
      <Figure title="Requests per minute" {...mix} {...axis} format={short} />
      <Figure title="Time to accept" {...latency} {...axis} format={milliseconds} />
      <Figure
        title="Backlog and spend"
        {...load}
        {...axis}
        format={short}
        formatSecond={hasMoney ? dollars : short}
      />
    </div>
  )
}

const milliseconds = (value: number) => `${short(value)} ms`

function short(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(value)
}

type Values = readonly (number | null)[]

/** Steps are minutes, the last of which ends now: a rate of less would be a peak that nobody has seen. */
function figuresOf({ stepMs, from, outcomes, acceptMs, backlog, tokens, usd }: Series, minutes: number) {
  const size = minuteMs / stepMs
  /** Null where the list does not go back so far. */
  const byMinute = (list: Values, join: (minute: Values) => number | null) =>
    Array.from({ length: minutes }, (_, index) => {
      const end = list.length - (minutes - 1 - index) * size
      return end <= 0 ? null : join(list.slice(Math.max(0, end - size), end))
    })
  const { accepted, ignored, skipped, duplicate, handshake, failed, refused } = outcomes
  const without = ignored.map((count, step) => sum([count, skipped[step], duplicate[step], handshake[step]]))
  const hasMoney = usd.some((amount) => amount > 0)
  let total = 0
  const totals = (hasMoney ? usd : tokens).map((spent) => (total += spent))
  const number = (list: Values) => sum(list).toLocaleString('en')
  const dash = '6 3'
  const mix: PlotLine[] = [
    { label: 'accepted', colour: '--good', values: byMinute(accepted, sum), isArea: true },
    { label: 'without effect', colour: '--quiet', values: byMinute(without, sum), dash },
    { label: 'refused', colour: '--warn', values: byMinute(refused, sum), dash: '2 2' },
    { label: 'failed', colour: '--bad', values: byMinute(failed, sum) },
  ]
  const latency: PlotLine[] = [
    { label: 'median (p50)', colour: '--accent', values: byMinute(acceptMs.p50, meanOf) },
    { label: '99th percentile (p99)', colour: '--warn', values: byMinute(acceptMs.p99, maxOf), dash },
  ]
  const waiting = { label: 'waiting runs and deliveries', colour: '--accent', isArea: true }
  const spent = { label: `spent, ${hasMoney ? 'US dollars' : 'tokens'}`, colour: '--warn', dash }
  const load: PlotLine[] = [
    { ...waiting, values: byMinute(backlog, maxOf) },
    { ...spent, values: byMinute(totals, maxOf), isOfSecondScale: true },
  ]
  const [median, highest] = [meanOf(acceptMs.p50), maxOf(acceptMs.p99)]
  const cost = hasMoney ? dollars(total) : counted(total, 'token')
  return {
    mix: {
      lines: mix,
      summary: `${counted(sum(accepted), 'request')} accepted, ${number(without)} without effect, ${number(refused)} refused, ${number(failed)} failed.`,
    },
    latency: {
      lines: latency,
      summary:
        median === null || highest === null
          ? 'No request was accepted in this time.'
          : `The median is ${milliseconds(median)}; the 99th percentile is ${milliseconds(highest)} at most.`,
    },
    load: {
      lines: load,
      summary: `${number(backlog.slice(-1))} waiting now, ${number([maxOf(backlog)])} at most; ${cost} spent.`,
    },
    hasMoney,
    from: from + backlog.length * stepMs - minutes * minuteMs,
    stepMs: minuteMs,
  }
}

function sum(list: readonly (number | null | undefined)[]): number {
  return list.reduce<number>((total, value) => total + (value ?? 0), 0)
}

/** Null where nothing is known. */
function meanOf(list: Values): number | null {
  const known = list.filter((value) => value !== null)
  return known.length === 0 ? null : sum(known) / known.length
}

function maxOf(list: Values): number | null {
  const known = list.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

interface Part {
  readonly title: string
  readonly tone: Tone
  readonly state: string
  /** What is wrong, where the state does not say it. */
  readonly problem?: string
  readonly facts?: readonly Fact[]
  readonly more?: ComponentChildren
}

function Parts({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <>
      <h2>Parts</h2>
      <div class="parts">
        {parts.map(({ title, tone, state, facts = [], more }) => (
          <section key={title} class={`card edge tone-${tone}`} aria-label={title}>
            <h3>
              <Marked text={title} /> <Badge state={state} tone={tone} />
            </h3>
            <Facts facts={facts} />
            {more}
          </section>
        ))}
      </div>
    </>
  )
}

function partsOf(status: Status, store: StoreHealth | undefined): readonly Part[] {
  const { backlog, hooks, publicUrl, files, lastGood, log } = status
  const { droppedLines } = log
  return [
    ...(store === undefined ? [] : [storePart(store, backlog)]),
    {
      title: 'Hooks',
      tone: hooks.enabled ? 'good' : 'warn',
      state: hooks.enabled ? 'on' : 'off',
      problem: 'off, so that every request to them is answered 404.',
      facts: [
        ['Path', Code({ text: hooks.path })],
        ['Tunnel', publicUrl !== null && Code({ text: `${publicUrl}${hooks.path}` })],
      ],
    },
    {
      title: 'Files',
      tone: lastGood ? 'warn' : 'good',
      state: files.watched ? 'watched' : 'read on request',
      problem: 'an earlier generation is live, as they were broken at the start.',
      facts: [['Read', Time({ at: files.readAt, isAgo: true })]],
      more: <a href={hrefOf('/changes')}>Changes</a>,
    },
    heartbeatPart(status.heartbeat),
    ...status.channels.map(channelPart),
    ...status.sources.map(sourcePart),
    ...status.budgets.map((budget) => budgetPart(budget, status.day)),
    ...nodeParts(status),
    {
      title: 'Log',
      tone: droppedLines > 0 ? 'warn' : 'good',
      state: droppedLines > 0 ? 'lines dropped' : 'complete',
      facts: [['Dropped lines', droppedLines > 0 && droppedLines.toLocaleString('en')]],
    },
  ]
}

function storePart(
  { writable, full, reason, events, commits }: StoreHealth,
  backlog: Status['backlog'],
): Part {
  return {
    title: 'Store',
    tone: writable && !full ? 'good' : 'bad',
    state: writable ? (full ? 'full' : 'writable') : 'not writable',
    problem: writable
      ? 'the backlog is full, and requests are answered 503.'
      : `not writable: ${reason ?? 'it is tried again'}`,
    facts: [
      ['Reason', text(reason)],
      ['Waiting', `${backlog.waiting.toLocaleString('en')} of ${backlog.limit.toLocaleString('en')}`],
      ['Pending events', events.toLocaleString('en')],
      ['Commits since the start', commits.toLocaleString('en')],
    ],
  }
}

function channelPart(status: Status['channels'][number]): Part {
  const { channel, state, code, reason, until, pending, parked } = status
  return {
    title: `Channel ${channel}`,
    tone: state !== 'open' ? toneOf(state) : parked > 0 ? 'warn' : 'good',
    state,
    problem: parked > 0 ? `${state}, ${counted(parked, 'reply', 'replies')} parked.` : state,
    facts: [
      ['Code', code],
      ['Reason', text(reason)],
      ['Tried again', time(until)],
      ['Pending', pending > 0 && pending],
      ['Parked', parked > 0 && parked],
    ],
    more: parked > 0 && <a href={hrefOf('/deliveries', { state: 'parked', channel })}>Parked deliveries</a>,
  }
}

function sourcePart({ source, state, detail, since, times = {} }: Status['sources'][number]): Part {
  return {
    title: `Source ${source}`,
    tone: toneOf(state),
    state,
    facts: [['Since', time(since)], ...Object.entries(times).map(([name, at]): Fact => [name, time(at)])],
    more: text(detail),
  }
}

const heartbeatWords: Readonly<Record<string, string>> = {
  quiet: 'It waits for the end of the quiet hours.',
  budget: "It waits for the next day, because today's budget is spent.",
}

function heartbeatPart({ state, failures, nextAt, code }: Status['heartbeat']): Part {
  return {
    title: 'Main session',
    tone: toneOf(state),
    state,
    facts: [
      ['Failed in a row', failures > 0 && failures],
      ['Last failure', code && Code({ text: code })],
      [
        'Next turn',
        nextAt !== undefined && (nextAt > Date.now() ? `in ${duration(nextAt - Date.now())}` : 'due'),
      ],
    ],
    more: heartbeatWords[state],
  }
}

function budgetPart(budget: Status['budgets'][number], day: string): Part {
  const { key, limit, isSpent } = budget
  const kinds = (['runs', 'tokens', 'usd'] as const).filter((kind) => limit[kind] !== undefined)
  const share = Math.max(0, ...kinds.map((kind) => (budget[kind] ?? 0) / (limit[kind] || 1)))
  return {
    title: key,
    tone: isSpent ? 'bad' : share >= 0.8 ? 'warn' : 'good',
    state: isSpent ? 'spent' : `${Math.round(share * 100)} %`,
    more: kinds.map((kind) => {
      const [spent, most] = [budget[kind] ?? 0, limit[kind] ?? 0]
      const write = (value: number) =>
        kind === 'usd' ? dollars(value) : `${value.toLocaleString('en')} ${kind}`
      return (
        <label key={kind} class="field">
          {write(spent)} of {write(most)} on {day} (UTC)
          <meter min={0} max={most} high={most * 0.8} value={Math.min(spent, most)} />
        </label>
      )
    }),
  }
}

/** As the command line has it. Milliseconds. */
const oldTransactionMs = 300_000

/** A single process on SQLite is no cluster, and has none. */
function nodeParts({ nodes, database }: Status): readonly Part[] {
  const differ = new Set(nodes.flatMap(({ sharedDigest = [] }) => sharedDigest)).size > 1
  const listed = nodes.length > 1 || database !== null ? nodes : []
  const parts = listed.map((node): Part => {
    const { name, role, version, generation, digest, startedAt, leads, wakeUp, isSelf } = node
    return {
      title: `Node ${name}${isSelf ? ' (this one)' : ''}`,
      tone: differ ? 'warn' : 'good',
      state: role,
      problem: 'not all nodes serve the same configuration.',
      facts: [
        ['Version', version],
        ['Generation', generation !== undefined && `${generation} (${digest?.slice(0, 8)})`],
        ['Since', time(startedAt)],
        ['Leads', leads.join(', ')],
        ['Wakes', wakeUp === 'poll' && 'by asking: notifications do not arrive'],
      ],
    }
  })
  if (database === null) return parts
  const { version, oldestTransaction: oldest } = database
  const isOld = (oldest?.ageMs ?? 0) >= oldTransactionMs
  return [
    {
      title: 'Database',
      tone: isOld ? 'warn' : 'good',
      state: `PostgreSQL ${version}`,
      problem: 'an old transaction keeps it from removing dead rows.',
      facts: [['Oldest transaction', isOld && oldest && `${duration(oldest.ageMs)}, of ${oldest.by}`]],
    },
    ...parts,
  ]
}
