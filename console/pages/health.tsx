/** Health of the gateway: its problems, three plots of the last hours, and the state of each of its parts. */

import type { ComponentChildren } from 'preact'
import { hrefOf, type PageProps } from '../browser/router.ts'
import { useEvery, useLoaded, useReloadOn } from '../data/load.ts'
import type { Answer } from '../data/types.ts'
import { Badge, type Tone, toneOf } from '../parts/badge.tsx'
import { Choices } from '../parts/controls.tsx'
import { Figure } from '../parts/figure.tsx'
import { Code } from '../parts/marked.tsx'
import { LoadedView, Problem } from '../parts/notice.tsx'
import { OpenIssues, openIssues } from '../parts/open-issues.tsx'
import { type Fact, Facts, text, time } from '../parts/record.tsx'
import { counted, dollars, duration, Time } from '../parts/words.tsx'

/** Lists are of equal length, the oldest step first. */
type Series = Answer<'readSeries'>
type StoreHealth = Answer<'readHealth'>
type Status = Answer<'readStatus'>

const refreshMs = 10_000
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
  useEvery(refreshMs, series.reload)
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, status.reload)
  const parts = status.data && partsOf(status.data, store.data)
  return (
    <>
      <h1>Health</h1>
      {store.error !== undefined && <Problem error={store.error} retry={store.reload} />}
      {parts !== undefined && <Verdict parts={parts} />}
      <Choices name="minutes" label="How far back" value={minutes} choices={ranges} />
      <LoadedView loaded={series} label="the plots">
        {(data) => <Plots series={data} />}
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
          {problems.map(({ title, state }) => (
            <li key={title}>{text(`${title}: ${state}`)}</li>
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

function Plots({ series }: { readonly series: Series }) {
  const { outcomes, acceptMs, backlog, tokens, usd, ...axis } = series
  const { accepted, ignored, skipped, duplicate, handshake, failed, refused } = outcomes
  const without = ignored.map((count, step) => sum([count, skipped[step], duplicate[step], handshake[step]]))
  const hasMoney = usd.some((amount) => amount > 0)
  let total = 0
  const spent = (hasMoney ? usd : tokens).map((amount) => (total += amount))
  const number = (list: Values) => sum(list).toLocaleString('en')
  const dash = '6 3'
  return (
    <div class="figures">
      <Figure
        title="Requests per minute"
        summary={`${counted(sum(accepted), 'request')} accepted, ${number(without)} without effect, ${number(refused)} refused, ${number(failed)} failed.`}
        {...axis}
        lines={[
          { label: 'accepted', colour: '--good', values: accepted, isArea: true },
          { label: 'without effect', colour: '--quiet', values: without, dash },
          { label: 'refused', colour: '--warn', values: refused, dash: '2 2' },
          { label: 'failed', colour: '--bad', values: failed },
        ]}
        format={short}
      />
      <Figure
        title="Time to accept"
        summary={latencyText(acceptMs)}
        {...axis}
        lines={[
          { label: 'median (p50)', colour: '--accent', values: acceptMs.p50 },
          { label: '99th percentile (p99)', colour: '--warn', values: acceptMs.p99, dash },
        ]}
        format={milliseconds}
      />
      <Figure
        title="Backlog and spend"
        summary={`${number(backlog.slice(-1))} waiting now, ${number([Math.max(...backlog)])} at most; ${hasMoney ? dollars(total) : counted(total, 'token')} spent.`}
        {...axis}
        lines={[
          { label: 'waiting runs and deliveries', colour: '--accent', values: backlog, isArea: true },
          {
            label: `spent, ${hasMoney ? 'US dollars' : 'tokens'}`,
            colour: '--warn',
            values: spent,
            dash,
            isOfSecondScale: true,
          },
        ]}
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

type Values = readonly (number | null | undefined)[]

function latencyText({ p50, p99 }: Series['acceptMs']): string {
  const medians = p50.filter((ms) => ms !== null)
  if (medians.length === 0) return 'No request was accepted in this time.'
  const highest = Math.max(...p99.map((ms) => ms ?? 0))
  return `The median is ${milliseconds(sum(medians) / medians.length)}; the 99th percentile is ${milliseconds(highest)} at most.`
}

function sum(list: Values): number {
  return list.reduce<number>((total, value) => total + (value ?? 0), 0)
}

interface Part {
  readonly title: string
  readonly tone: Tone
  readonly state: string
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
              {text(title)} <Badge state={state} tone={tone} />
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
  const { backlog, hooks, publicUrl, files, lastGood, heartbeat, log, day } = status
  const { state, failures, nextAt, code } = heartbeat
  const { droppedLines } = log
  return [
    ...(store === undefined ? [] : [storePart(store, backlog)]),
    {
      title: 'Hooks',
      tone: hooks.enabled ? 'good' : 'warn',
      state: hooks.enabled ? 'on' : 'off: requests to them are answered 404',
      facts: [
        ['Path', Code({ text: hooks.path })],
        ['Tunnel', publicUrl !== null && Code({ text: `${publicUrl}${hooks.path}` })],
      ],
    },
    {
      title: 'Files',
      tone: lastGood ? 'warn' : 'good',
      state: lastGood ? 'broken at the start: an earlier generation is live' : watching(files.watched),
      facts: [['Read', Time({ at: files.readAt, isAgo: true })]],
      more: <a href={hrefOf('/changes')}>Changes</a>,
    },
    {
      title: 'Main session',
      tone: toneOf(state),
      state: heartbeatStates[state] ?? state,
      facts: [
        ['Failed in a row', failures],
        ['Last failure', code && Code({ text: code })],
        ['Next turn', time(nextAt)],
      ],
    },
    ...status.channels.map(channelPart),
    ...status.sources.map(sourcePart),
    ...status.budgets.map((budget) => budgetPart(budget, day)),
    ...nodeParts(status),
    {
      title: 'Log',
      tone: droppedLines > 0 ? 'warn' : 'good',
      state: droppedLines > 0 ? `${counted(droppedLines, 'line')} dropped` : 'complete',
    },
  ]
}

const watching = (isWatched: boolean) => (isWatched ? 'watched' : 'read on request')

const heartbeatStates: Readonly<Record<string, string>> = {
  quiet: 'quiet hours',
  budget: "today's budget is spent",
}

function storePart(
  { writable, full, reason, events, commits }: StoreHealth,
  { waiting, limit }: Status['backlog'],
): Part {
  const isFull = full && 'full: requests are answered 503'
  return {
    title: 'Store',
    tone: writable && !full ? 'good' : 'bad',
    state: writable ? isFull || 'writable' : 'not writable',
    facts: [
      ['Reason', text(reason)],
      ['Waiting', `${waiting.toLocaleString('en')} of ${limit.toLocaleString('en')}`],
      ['Pending events', events.toLocaleString('en')],
      ['Commits since the start', commits.toLocaleString('en')],
    ],
  }
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
    tone: state !== 'open' ? toneOf(state) : parked > 0 ? 'warn' : 'good',
    state: parked > 0 ? `${state}, ${parked} parked` : state,
    facts: [
      ['Code', code],
      ['Reason', text(reason)],
      ['Tried again', time(until)],
      ['Pending', pending],
    ],
    more: parked > 0 && <a href={hrefOf('/deliveries', { state: 'parked', channel })}>Parked deliveries</a>,
  }
}

function sourcePart({ source, state, detail, since, times = {} }: Status['sources'][number]): Part {
  return {
    title: `Source ${source}`,
    tone: toneOf(state),
    state,
    facts: Object.entries({ since, ...times }).map(([name, at]) => [name, time(at)]),
    more: text(detail),
  }
}

function budgetPart(budget: Status['budgets'][number], day: string): Part {
  const { key, limit, isSpent } = budget
  const kinds = (['runs', 'tokens', 'usd'] as const).flatMap((kind) => {
    const most = limit[kind]
    return most === undefined ? [] : [{ kind, spent: budget[kind], most }]
  })
  const isNear = kinds.some(({ spent, most }) => spent >= most * 0.8)
  return {
    title: key,
    tone: isSpent ? 'bad' : isNear ? 'warn' : 'good',
    state: isSpent ? 'spent' : isNear ? 'nearly spent' : 'within the limit',
    more: kinds.map(({ kind, spent, most }) => (
      <label key={kind} class="field">
        {spent.toLocaleString('en')} of {most.toLocaleString('en')} {kind} on {day} (UTC)
        <meter min={0} max={most} high={most * 0.8} value={Math.min(spent, most)} />
      </label>
    )),
  }
}

/** As the command line has it. Milliseconds. */
const oldTransactionMs = 300_000

/** A single process on SQLite is no cluster, and has none. */
function nodeParts({ nodes, database }: Status): readonly Part[] {
  const differ = new Set(nodes.flatMap(({ sharedDigest = [] }) => sharedDigest)).size > 1
  const listed = nodes.length > 1 || database !== null ? nodes : []
  const parts = listed.map((node): Part => {
    const { name, role, version, generation, digest = '', startedAt, leads, wakeUp, isSelf } = node
    return {
      title: `Node ${name}${isSelf ? ' (this one)' : ''}`,
      tone: differ ? 'warn' : 'good',
      state: differ ? `${role}: nodes serve different configurations` : role,
      facts: [
        ['Version', version],
        ['Generation', generation !== undefined && `${generation} (${digest.slice(0, 8)})`],
        ['Since', time(startedAt)],
        ['Leads', leads.join(', ')],
        ['Wakes', wakeUp === 'poll' && 'by asking: notifications do not arrive'],
      ],
    }
  })
  if (database === null) return parts
  const { version, oldestTransaction: oldest } = database
  const isOld = oldest !== undefined && oldest.ageMs >= oldTransactionMs
  const age = isOld && `${duration(oldest.ageMs)}, of ${oldest.by}: dead rows cannot be removed`
  return [
    {
      title: 'Database',
      tone: isOld ? 'warn' : 'good',
      state: `PostgreSQL ${version}${isOld ? ': an old transaction is open' : ''}`,
      facts: [['Oldest transaction', age]],
    },
    ...parts,
  ]
}
