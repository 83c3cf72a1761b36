/** Health of the gateway: its problems, three plots of the last hours, and the state of each of its parts. */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { hrefOf, type PageProps } from '../browser/router.ts'
import { useEvery, useLoaded, useReloadOn } from '../data/load.ts'
import { openIssues } from '../data/open-issues.ts'
import type { Answer } from '../data/types.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import { type Fact, Facts, text, time } from '../parts/facts.tsx'
import { Figure, type PlotLine } from '../parts/figure.tsx'
import { Choices } from '../parts/filters.tsx'
import { Code, Marked } from '../parts/marked.tsx'
import { Loading, Problem } from '../parts/notice.tsx'
import { OpenIssues } from '../parts/open-issues.tsx'
import { dollars } from '../parts/texts.ts'
import { Ago, counted, duration } from '../parts/time.tsx'

/** Lists are of equal length, the oldest step first. */
type Series = Answer<'readSeries'>
type StoreHealth = Answer<'readHealth'>
type Status = Answer<'readStatus'>

const refreshMs = 10_000
/** The plots of hours are long answers, and change slowly. */
const refreshOfHoursMs = 60_000
const minuteMs = 60_000
const ranges = [
  ['15', '15 minutes'],
  ['60', 'an hour'],
  ['360', '6 hours'],
] as const

export default function HealthPage({ query }: PageProps) {
  const minutes = ranges.find(([value]) => value === query.get('minutes'))?.[0] ?? '60'
  const series = useLoaded<Series>('/series', { minutes: Number(minutes) })
  const status = useLoaded<Status>('/status')
  const store = useLoaded<StoreHealth>('/health')
  useEvery(refreshMs, status.reload)
  useEvery(refreshMs, store.reload)
  useEvery(minutes === '360' ? refreshOfHoursMs : refreshMs, series.reload)
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, status.reload)
  return (
    <>
      <h1>Health</h1>
      {store.error !== undefined && <Problem error={store.error} retry={store.reload} />}
      {store.data !== undefined && status.data !== undefined && (
        <Verdict store={store.data} status={status.data} />
      )}
      <Choices name="minutes" label="How far back" value={minutes} choices={ranges} />
      {series.error !== undefined && <Problem error={series.error} retry={series.reload} />}
      {series.data === undefined && series.isLoading && <Loading label="the plots" />}
      {series.data !== undefined && <Plots series={series.data} minutes={Number(minutes)} />}
      {status.error !== undefined && <Problem error={status.error} retry={status.reload} />}
      {status.data !== undefined && <Parts status={status.data} store={store.data} />}
    </>
  )
}

/** Problems without an issue, and then the open issues. Without either, everything works. */
function Verdict({ store, status }: { readonly store: StoreHealth; readonly status: Status }) {
  const issues = openIssues.value
  const problems = [
    !store.writable && `The store cannot be written: ${store.reason ?? 'it is tried again'}`,
    store.full && 'The backlog is full, and requests are answered 503.',
    !status.hooks.enabled && 'Hooks are off: every request to them is answered 404.',
    ...status.channels.map(({ channel, state, parked }) => {
      const waiting = parked > 0 && `${counted(parked, 'reply', 'replies')} to the channel ${channel} parked.`
      return state === 'open' || state === 'probing'
        ? waiting
        : `The channel ${channel} is ${state}. ${waiting || ''}`
    }),
    ...status.sources.map(
      ({ source, state }) =>
        (state === 'failing' || state === 'stopped') && `The source ${source} is ${state}.`,
    ),
    ...status.budgets.map(({ key, isSpent }) => isSpent && `The budget ${key} is spent for today.`),
    configurationsOf(status) > 1 && 'The nodes serve different configurations.',
    isOld(status) && 'An old transaction keeps the database from removing dead rows.',
    status.heartbeat.state === 'failing' && 'The turns of the main session fail.',
  ].filter((problem) => typeof problem === 'string')
  const isBad = !store.writable || store.full
  return (
    <>
      {problems.length > 0 && (
        <ul class={`edge note tone-${isBad ? 'bad' : 'warn'}`}>
          {problems.map((problem) => (
            <li key={problem}>
              <Marked text={problem} />
            </li>
          ))}
        </ul>
      )}
      <OpenIssues />
      {problems.length === 0 && issues?.length === 0 && <p class="edge note tone-good">Everything works.</p>}
    </>
  )
}

/** As the command line has it. Milliseconds. */
const oldTransactionMs = 300_000

const isOld = ({ database }: Status) => (database?.oldestTransaction?.ageMs ?? 0) >= oldTransactionMs

function configurationsOf({ nodes }: Status): number {
  return new Set(nodes.flatMap(({ sharedDigest = [] }) => sharedDigest)).size
}

/** More steps than this say no more. */
const maxSteps = 180

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

/** Steps of at least a minute, the last of which ends now: a rate of less would be a peak that nobody has seen. */
function figuresOf(
  { stepMs: listMs, from, outcomes, acceptMs, backlog, tokens, usd }: Series,
  minutes: number,
) {
  const listed = Math.ceil((minutes * minuteMs) / listMs)
  const size = Math.max(Math.ceil(minuteMs / listMs), Math.ceil(listed / maxSteps))
  const steps = Math.ceil(listed / size)
  /** Puts steps of the list together; undefined where it does not go back so far. */
  const grouped = <Value, Result>(list: readonly Value[], join: (group: Value[]) => Result) =>
    Array.from({ length: steps }, (_, index) => {
      const end = list.length - (steps - 1 - index) * size
      return end <= 0 ? null : join(list.slice(Math.max(0, end - size), end))
    })
  const stepMs = size * listMs
  const perMinute = (...lists: readonly (readonly number[] | undefined)[]) =>
    grouped(
      backlog.map((_, index) => sum(lists.map((list) => list?.[index] ?? 0))),
      (group) => (sum(group) * minuteMs) / stepMs,
    )
  const { accepted, ignored, skipped, duplicate, handshake, failed, refused } = outcomes
  const hasMoney = usd.some((amount) => amount > 0)
  const spent = hasMoney ? usd : tokens
  const totals = spent.map((_, index) => sum(spent.slice(0, index + 1)))
  const number = (list: readonly number[] = []) => sum(list).toLocaleString('en')
  const without = [ignored, skipped, duplicate, handshake].flatMap((list = []) => list)
  const dash = '6 3'
  return {
    mix: {
      lines: [
        { label: 'accepted', colour: '--good', values: perMinute(accepted), isArea: true },
        {
          label: 'without effect',
          colour: '--quiet',
          values: perMinute(ignored, skipped, duplicate, handshake),
          dash,
        },
        { label: 'refused', colour: '--warn', values: perMinute(refused), dash: '2 2' },
        { label: 'failed', colour: '--bad', values: perMinute(failed) },
      ] satisfies PlotLine[],
      summary: `${counted(sum(accepted ?? []), 'request')} accepted, ${number(without)} without effect, ${number(refused)} refused, ${number(failed)} failed.`,
    },
    latency: {
      lines: [
        { label: 'median (p50)', colour: '--accent', values: grouped(acceptMs.p50, meanOf) },
        { label: '99th percentile (p99)', colour: '--warn', values: grouped(acceptMs.p99, maxOf), dash },
      ] satisfies PlotLine[],
      summary: latencySummary(meanOf(acceptMs.p50), maxOf(acceptMs.p99)),
    },
    load: {
      lines: [
        {
          label: 'waiting runs and deliveries',
          colour: '--accent',
          values: grouped(backlog, maxOf),
          isArea: true,
        },
        {
          label: hasMoney ? 'spent, US dollars' : 'spent, tokens',
          colour: '--warn',
          values: grouped(totals, maxOf),
          isOfSecondScale: true,
          dash,
        },
      ] satisfies PlotLine[],
      summary: `${number(backlog.slice(-1))} waiting now, ${number([Math.max(0, ...backlog)])} at most; ${
        hasMoney ? dollars(sum(usd)) : counted(sum(tokens), 'token')
      } spent.`,
    },
    hasMoney,
    from: from + backlog.length * listMs - steps * stepMs,
    stepMs,
  }
}

function latencySummary(median: number | null, percentile99: number | null): string {
  if (median === null || percentile99 === null) return 'No request was accepted in this time.'
  return `The median is ${milliseconds(median)}; the 99th percentile is ${milliseconds(percentile99)} at most.`
}

const sum = (list: readonly number[]) => list.reduce((total, value) => total + value, 0)
const knownCount = (list: readonly (number | null)[]) => list.filter((value) => value !== null)

function meanOf(list: readonly (number | null)[]): number | null {
  const known = knownCount(list)
  return known.length === 0 ? null : sum(known) / known.length
}

function maxOf(list: readonly (number | null)[]): number | null {
  const known = knownCount(list)
  return known.length === 0 ? null : Math.max(...known)
}

interface Part {
  readonly title: string
  readonly tone?: Tone
  readonly state: string
  readonly facts?: readonly Fact[]
  readonly more?: ComponentChildren
}

function Parts({ status, store }: { readonly status: Status; readonly store: StoreHealth | undefined }) {
  const { backlog, hooks, publicUrl, files, lastGood, log } = status
  const parts: readonly Part[] = [
    ...(store === undefined ? [] : [storePart(store, backlog)]),
    {
      title: 'Hooks',
      tone: hooks.enabled ? 'good' : 'warn',
      state: hooks.enabled ? 'on' : 'off',
      facts: [
        ['Path', Code({ text: hooks.path })],
        ['Tunnel', publicUrl !== null && Code({ text: `${publicUrl}${hooks.path}` })],
      ],
    },
    {
      title: 'Files',
      tone: lastGood ? 'warn' : 'good',
      state: files.watched ? 'watched' : 'read on request',
      facts: [
        ['Read', Ago({ at: files.readAt })],
        [
          'Last good',
          lastGood !== null && 'an earlier generation is live: the files were broken at the start',
        ],
      ],
      more: <a href={hrefOf('/changes')}>Changes</a>,
    },
    heartbeatPart(status.heartbeat),
    ...status.channels.map(channelPart),
    ...status.sources.map(sourcePart),
    ...status.budgets.map((budget) => budgetPart(budget, status.day)),
    ...nodeParts(status),
    {
      title: 'Log',
      tone: log.droppedLines > 0 ? 'warn' : 'good',
      state: log.droppedLines > 0 ? 'lines dropped' : 'complete',
      facts: [['Dropped lines', log.droppedLines > 0 && log.droppedLines.toLocaleString('en')]],
    },
  ]
  return (
    <>
      <h2>Parts</h2>
      <div class="parts">
        {parts.map(({ title, tone = 'good', state, facts = [], more }) => (
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

function storePart({ writable, reason, events, commits }: StoreHealth, backlog: Status['backlog']): Part {
  return {
    title: 'Store',
    tone: writable ? 'good' : 'bad',
    state: writable ? 'writable' : 'not writable',
    facts: [
      ['Reason', text(reason)],
      ['Waiting', `${backlog.waiting.toLocaleString('en')} of ${backlog.limit.toLocaleString('en')}`],
      ['Pending events', events.toLocaleString('en')],
      ['Commits since the start', commits.toLocaleString('en')],
    ],
  }
}

const tones: Readonly<Record<string, Tone>> = {
  open: 'good',
  held: 'bad',
  probing: 'busy',
  working: 'good',
  waiting: 'busy',
  starting: 'busy',
  'held-elsewhere': 'busy',
  failing: 'bad',
  stopped: 'bad',
  idle: 'good',
  running: 'busy',
  quiet: 'quiet',
}

function channelPart({
  channel,
  state,
  code,
  reason,
  until,
  pending,
  parked,
}: Status['channels'][number]): Part {
  return {
    title: `Channel ${channel}`,
    tone: tones[state] ?? 'warn',
    state,
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
    tone: tones[state] ?? 'warn',
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
    tone: tones[state] ?? 'warn',
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

/** A single process on SQLite is no cluster, and has none. */
function nodeParts(status: Status): readonly Part[] {
  const { nodes, database } = status
  const oldest = database?.oldestTransaction
  return [
    ...(database === null
      ? []
      : [
          {
            title: 'Database',
            tone: isOld(status) ? 'warn' : 'good',
            state: `PostgreSQL ${database.version}`,
            facts: [
              ['Oldest transaction', isOld(status) && oldest && `${duration(oldest.ageMs)}, of ${oldest.by}`],
            ],
          } satisfies Part,
        ]),
    ...(nodes.length > 1 || database !== null ? nodes : []).map((node): Part => {
      const { name, role, version, generation, digest, startedAt, leads, wakeUp, isSelf } = node
      return {
        title: `Node ${name}${isSelf ? ' (this one)' : ''}`,
        tone: configurationsOf(status) > 1 ? 'warn' : 'good',
        state: role,
        facts: [
          ['Version', version],
          ['Generation', generation !== undefined && `${generation} (${digest?.slice(0, 8)})`],
          ['Since', time(startedAt)],
          ['Leads', leads.join(', ')],
          ['Wakes', wakeUp === 'poll' && 'by asking: notifications do not arrive'],
        ],
      }
    }),
  ]
}
