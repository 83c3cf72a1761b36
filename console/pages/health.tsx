/** How the gateway is: what it did in the last hours as three plots, and the state of each of its parts. */

import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { hrefOf, type PageProps } from '../browser/router.ts'
import { useLoaded, useReloadOn } from '../data/load.ts'
import { openIssues } from '../data/open-issues.ts'
import type { Answer } from '../data/types.ts'
import { Badge, type Tone, toneOf } from '../parts/badge.tsx'
import { type Fact, Facts } from '../parts/facts.tsx'
import { Figure } from '../parts/figure.tsx'
import { Choices } from '../parts/filters.tsx'
import { Marked } from '../parts/marked.tsx'
import { Loading, Problem } from '../parts/notice.tsx'
import { Ago, counted, duration, Time } from '../parts/time.tsx'
import type { PlotLine } from '../plot/plot.ts'

/** Lists are of equal length, the oldest step first. */
type Series = Answer<'readSeries'>
type StoreHealth = Answer<'readHealth'>
type Status = Answer<'readStatus'>
type Node = Status['nodes'][number]

const refreshMs = 10_000
/** The plots of hours are long answers, and change slowly. */
const refreshOfHoursMs = 60_000
const ranges = [
  { value: '15', label: '15 minutes' },
  { value: '60', label: 'an hour' },
  { value: '360', label: '6 hours' },
] as const

export default function HealthPage({ query }: PageProps) {
  const minutes = ranges.find(({ value }) => value === query.get('minutes'))?.value ?? '60'
  const series = useLoaded<Series>('/series', { minutes: Number(minutes) })
  const status = useLoaded<Status>('/status')
  const store = useLoaded<StoreHealth>('/health')
  const { reload: readSeries } = series
  const { reload: readStatus } = status
  const { reload: readStore } = store
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) return
      readStatus()
      readStore()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [readStatus, readStore])
  useEffect(() => {
    const pause = minutes === '360' ? refreshOfHoursMs : refreshMs
    const timer = setInterval(() => document.hidden || readSeries(), pause)
    return () => clearInterval(timer)
  }, [readSeries, minutes])
  useReloadOn((frame) => frame.reload === true || frame.generation !== undefined, readStatus)
  return (
    <>
      <h1>Health</h1>
      {store.error !== undefined && <Problem error={store.error} retry={readStore} />}
      {store.data !== undefined && <Verdict store={store.data} status={status.data} />}
      <Choices name="minutes" label="How far back" value={minutes} choices={ranges} />
      {series.error !== undefined && <Problem error={series.error} retry={readSeries} />}
      {series.data === undefined && series.isLoading && <Loading what="the plots" />}
      {series.data !== undefined && <Plots series={series.data} minutes={Number(minutes)} />}
      {status.error !== undefined && <Problem error={status.error} retry={readStatus} />}
      {status.data !== undefined && <Parts status={status.data} store={store.data} />}
    </>
  )
}

/** One sentence for all of it, with what has to be done first. */
function Verdict({ store, status }: { readonly store: StoreHealth; readonly status: Status | undefined }) {
  const issues = openIssues.value ?? []
  const problems = [
    ...(store.writable ? [] : [`The store cannot be written: ${store.reason ?? 'it is tried again'}`]),
    ...(store.full ? ['The backlog is full, and requests are answered 503.'] : []),
    ...(status?.hooks.enabled === false ? ['Hooks are off: every request to them is answered 404.'] : []),
    ...(status?.channels ?? [])
      .filter(({ state }) => state !== 'open')
      .map(({ channel, state }) =>
        state === 'unconfigured'
          ? `Replies wait for the channel ${channel}, which is not configured.`
          : `The channel ${channel} is ${state}.`,
      ),
    ...(status?.sources ?? [])
      .filter(({ state }) => state === 'failing' || state === 'stopped')
      .map(({ source, state }) => `The source ${source} is ${state}.`),
    ...(status?.budgets ?? [])
      .filter(({ isSpent }) => isSpent)
      .map(({ key }) => `The budget ${key} is spent for today.`),
    ...(status !== undefined && configurationsOf(status.nodes) > 1
      ? ['The nodes serve different configurations.']
      : []),
    ...((status?.database?.oldestTransaction?.ageMs ?? 0) >= oldTransactionMs
      ? ['An old transaction keeps the database from removing dead rows.']
      : []),
    ...(status?.heartbeat.state === 'failing' ? ['The turns of the main session fail.'] : []),
    ...issues
      .slice(0, 1)
      .map(({ severity }) => `${counted(issues.length, 'open issue')}, the worst: ${severity}.`),
  ]
  const isBad = !store.writable || store.full || toneOf(issues[0]?.severity ?? '') === 'bad'
  return (
    <div class={`verdict edge note tone-${isBad ? 'bad' : problems.length > 0 ? 'warn' : 'good'}`}>
      {problems.length === 0 ? (
        <p>Everything works.</p>
      ) : (
        <ul>
          {problems.map((problem) => (
            <li key={problem}>
              <Marked text={problem} />
            </li>
          ))}
        </ul>
      )}
      <p>
        <a href={hrefOf('/issues')}>Issues</a> say what to do about what is wrong.
      </p>
    </div>
  )
}

/** As the command line has it. Milliseconds. */
const oldTransactionMs = 300_000

function configurationsOf(nodes: readonly Node[]): number {
  return new Set(nodes.flatMap(({ digest = [] }) => digest)).size
}

/** More points than this say no more. */
const maxPoints = 180

function Plots({ series, minutes }: { readonly series: Series; readonly minutes: number }) {
  const { mix, latency, load, hasMoney } = useMemo(() => figuresOf(series), [series])
  const to = series.from + series.backlog.length * series.stepMs
  const span = [to - minutes * 60_000, to] as const
  return (
    <div class="figures">
      <Figure title="Requests per minute" {...mix} span={span} format={whole} />
      <Figure title="Time to accept" {...latency} span={span} format={milliseconds} />
      <Figure
        title="Backlog and spend"
        {...load}
        span={span}
        format={whole}
        formatSecond={hasMoney ? money : whole}
      />
    </div>
  )
}

const milliseconds = (value: number) => `${short(value)} ms`
const whole = (value: number) => short(value)
const money = (value: number) => `$${value >= 1 || value === 0 ? short(value) : value.toPrecision(2)}`

function short(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 }).format(value)
}

function figuresOf({ stepMs, from, outcomes, acceptMs, backlog, tokens, usd }: Series) {
  const size = Math.max(1, Math.ceil(backlog.length / maxPoints))
  const ms = stepMs * size
  const times = groups(backlog, size).map((_, index) => from + index * ms)
  const perMinute = (...lists: readonly (readonly number[] | undefined)[]) => {
    const sums = lists.map((list = []) => groups(list, size).map(sum))
    return times.map((_, index) => (sum(sums.map((one) => one[index] ?? 0)) * 60_000) / ms)
  }
  const { accepted, ignored, skipped, duplicate, handshake, failed, refused } = outcomes
  const mix: PlotLine[] = [
    { label: 'accepted', colour: '--good', values: perMinute(accepted), isArea: true },
    {
      label: 'without effect',
      colour: '--plot-quiet',
      values: perMinute(ignored, skipped, duplicate, handshake),
      dash: [6, 3],
    },
    { label: 'refused', colour: '--warn', values: perMinute(refused), dash: [2, 2] },
    { label: 'failed', colour: '--bad', values: perMinute(failed) },
  ]
  const p50 = groups(acceptMs.p50, size).map(meanOf)
  const p99 = groups(acceptMs.p99, size).map(maxOf)
  const hasMoney = usd.some((amount) => amount > 0)
  const spent = hasMoney ? usd : tokens
  const cumulative = runningTotal(groups(spent, size).map(sum))
  const waiting = groups(backlog, size).map((group) => group.at(-1) ?? 0)
  const total = (list: readonly number[] | undefined) => sum(list ?? [])
  const without = total(ignored) + total(skipped) + total(duplicate) + total(handshake)
  return {
    mix: {
      times,
      lines: mix,
      summary: `${counted(total(accepted), 'request')} accepted, ${without.toLocaleString('en')} without effect, ${total(refused).toLocaleString('en')} refused, ${total(failed).toLocaleString('en')} failed.`,
    },
    latency: {
      times,
      lines: [
        { label: 'half are faster (p50)', colour: '--accent', values: p50 },
        { label: '99 of 100 are faster (p99)', colour: '--warn', values: p99, dash: [6, 3] },
      ] satisfies PlotLine[],
      summary: latencySummary(p50, p99),
    },
    load: {
      times,
      lines: [
        { label: 'waiting runs and deliveries', colour: '--accent', values: waiting, isArea: true },
        {
          label: hasMoney ? 'spent, US dollars' : 'spent, tokens',
          colour: '--warn',
          values: cumulative,
          isOfSecondAxis: true,
          dash: [6, 3],
        },
      ] satisfies PlotLine[],
      summary: `${(waiting.at(-1) ?? 0).toLocaleString('en')} waiting now, ${Math.max(0, ...waiting).toLocaleString('en')} at most; ${
        hasMoney ? `$${sum(usd).toFixed(2)}` : counted(sum(tokens), 'token')
      } spent.`,
    },
    hasMoney,
  }
}

function latencySummary(p50: readonly (number | null)[], p99: readonly (number | null)[]): string {
  const [middle, most] = [meanOf(p50), maxOf(p99)]
  if (middle === null || most === null) return 'No request was accepted in this time.'
  return `Half of the requests were accepted within ${milliseconds(middle)}; at worst, 99 of 100 within ${milliseconds(most)}.`
}

function groups<Value>(list: readonly Value[], size: number): Value[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}

const sum = (list: readonly number[]) => list.reduce((total, value) => total + value, 0)

function runningTotal(list: readonly number[]): number[] {
  let total = 0
  return list.map((value) => {
    total += value
    return total
  })
}

const knownOf = (list: readonly (number | null)[]) => list.filter((value) => value !== null)

function meanOf(list: readonly (number | null)[]): number | null {
  const known = knownOf(list)
  return known.length === 0 ? null : sum(known) / known.length
}

function maxOf(list: readonly (number | null)[]): number | null {
  const known = knownOf(list)
  return known.length === 0 ? null : Math.max(...known)
}

function Part({
  title,
  tone,
  state,
  children,
}: {
  title: string
  tone: Tone
  state: string
  children?: ComponentChildren
}) {
  return (
    <section class={`part tone-${tone}`} aria-label={title}>
      <h3>
        <Marked text={title} /> <Badge state={state} tone={tone} />
      </h3>
      {children}
    </section>
  )
}

function Parts({ status, store }: { readonly status: Status; readonly store: StoreHealth | undefined }) {
  const {
    heartbeat,
    channels,
    sources,
    budgets,
    backlog,
    hooks,
    publicUrl,
    files,
    lastGood,
    nodes,
    database,
    log,
    day,
  } = status
  return (
    <>
      <h2>Parts</h2>
      <div class="parts">
        {store !== undefined && (
          <Part
            title="Store"
            tone={store.writable ? 'good' : 'bad'}
            state={store.writable ? 'writable' : 'not writable'}
          >
            <Facts
              facts={[
                ['Reason', store.reason !== undefined && <Marked text={store.reason} />],
                [
                  'Waiting',
                  `${backlog.waiting.toLocaleString('en')} of ${backlog.limit.toLocaleString('en')}`,
                ],
                ['Pending events', store.events.toLocaleString('en')],
                ['Commits since the start', store.commits.toLocaleString('en')],
              ]}
            />
          </Part>
        )}
        <Part title="Hooks" tone={hooks.enabled ? 'good' : 'warn'} state={hooks.enabled ? 'on' : 'off'}>
          <Facts
            facts={[
              ['Path', <code key="path">{hooks.path}</code>],
              ['Tunnel', publicUrl !== null && <code key="tunnel">{`${publicUrl}${hooks.path}`}</code>],
            ]}
          />
        </Part>
        <Part
          title="Files"
          tone={lastGood ? 'warn' : 'good'}
          state={files.watched ? 'watched' : 'read on request'}
        >
          <Facts
            facts={[
              ['Read', <Ago key="read" at={files.readAt} />],
              [
                'Stand-in',
                lastGood !== null && 'an earlier generation serves for files that are broken since the start',
              ],
            ]}
          />
          <p>
            <a href={hrefOf('/changes')}>Changes</a>
          </p>
        </Part>
        <Heartbeat heartbeat={heartbeat} />
        {channels.map(({ channel, state, code, reason, until, pending, parked }) => (
          <Part key={channel} title={`Channel ${channel}`} tone={channelTones[state] ?? 'warn'} state={state}>
            <Facts
              facts={[
                ['Code', code],
                ['Reason', reason !== undefined && <Marked text={reason} />],
                ['Tried again', until !== undefined && <Time at={until} />],
                ['Pending', pending > 0 && pending],
                ['Parked', parked > 0 && parked],
              ]}
            />
            {parked > 0 && (
              <p>
                <a href={hrefOf('/deliveries', { state: 'parked', channel })}>Parked deliveries</a>
              </p>
            )}
          </Part>
        ))}
        {sources.map(({ source, state, detail, since, times = {} }) => (
          <Part key={source} title={`Source ${source}`} tone={sourceTones[state] ?? 'warn'} state={state}>
            <p>
              <Marked text={detail} />
            </p>
            <Facts
              facts={[
                ['Since', <Time key="since" at={since} />],
                ...Object.entries(times).map(([name, at]): Fact => [name, <Time key={name} at={at} />]),
              ]}
            />
          </Part>
        ))}
        {budgets.map((budget) => (
          <Budget key={budget.key} budget={budget} day={day} />
        ))}
        {database !== null && <Database database={database} />}
        {(nodes.length > 1 || database !== null) &&
          nodes.map((node) => (
            <NodePart key={node.id} node={node} tone={configurationsOf(nodes) > 1 ? 'warn' : 'good'} />
          ))}
        <Part
          title="Log"
          tone={log.droppedLines > 0 ? 'warn' : 'good'}
          state={log.droppedLines > 0 ? 'lines dropped' : 'complete'}
        >
          <Facts facts={[['Dropped lines', log.droppedLines > 0 && log.droppedLines.toLocaleString('en')]]} />
        </Part>
      </div>
    </>
  )
}

function Database({ database }: { readonly database: NonNullable<Status['database']> }) {
  const { version, oldestTransaction } = database
  const isOld = (oldestTransaction?.ageMs ?? 0) >= oldTransactionMs
  return (
    <Part title="Database" tone={isOld ? 'warn' : 'good'} state={`PostgreSQL ${version}`}>
      <Facts
        facts={[
          [
            'Oldest transaction',
            oldestTransaction !== undefined &&
              isOld &&
              `${duration(oldestTransaction.ageMs)}, of ${oldestTransaction.by}`,
          ],
        ]}
      />
    </Part>
  )
}

function NodePart({ node, tone }: { readonly node: Node; readonly tone: Tone }) {
  const { name, role, version, generation, digest, startedAt, leads, wakeUp, isSelf } = node
  return (
    <Part title={`Node ${name}${isSelf ? ' (this one)' : ''}`} tone={tone} state={role}>
      <Facts
        facts={[
          ['Version', version],
          ['Generation', generation !== undefined && `${generation} (${digest?.slice(0, 8)})`],
          ['Since', <Time key="since" at={startedAt} />],
          ['Leads', leads.length > 0 && leads.join(', ')],
          ['Wakes', wakeUp === 'poll' && 'by asking: notifications do not arrive'],
        ]}
      />
    </Part>
  )
}

const channelTones: Readonly<Record<string, Tone>> = {
  open: 'good',
  held: 'bad',
  probing: 'busy',
  unconfigured: 'warn',
}
const sourceTones: Readonly<Record<string, Tone>> = {
  working: 'good',
  waiting: 'busy',
  starting: 'busy',
  'held-elsewhere': 'busy',
  failing: 'bad',
  stopped: 'bad',
}
const heartbeatTones: Readonly<Record<string, Tone>> = {
  idle: 'good',
  running: 'busy',
  failing: 'bad',
  quiet: 'quiet',
  budget: 'warn',
}
const heartbeatWords: Readonly<Record<string, string>> = {
  quiet: 'It waits for the end of the quiet hours.',
  budget: "It waits for the next day, because today's budget is spent.",
}

function Heartbeat({ heartbeat: { state, failures, nextAt, code } }: Pick<Status, 'heartbeat'>) {
  return (
    <Part title="Main session" tone={heartbeatTones[state] ?? 'warn'} state={state}>
      {heartbeatWords[state] !== undefined && <p>{heartbeatWords[state]}</p>}
      <Facts
        facts={[
          ['Failed in a row', failures > 0 && failures],
          ['Last failure', code !== undefined && <code>{code}</code>],
          [
            'Next turn',
            nextAt !== undefined && (nextAt > Date.now() ? `in ${duration(nextAt - Date.now())}` : 'due'),
          ],
        ]}
      />
    </Part>
  )
}

function Budget({ budget, day }: { readonly budget: Status['budgets'][number]; readonly day: string }) {
  const { key, limit, isSpent } = budget
  const kinds = (['runs', 'tokens', 'usd'] as const).filter((kind) => limit[kind] !== undefined)
  const share = Math.max(0, ...kinds.map((kind) => (budget[kind] ?? 0) / (limit[kind] || 1)))
  return (
    <Part
      title={key}
      tone={isSpent ? 'bad' : share >= 0.8 ? 'warn' : 'good'}
      state={isSpent ? 'spent' : `${Math.round(share * 100)} %`}
    >
      {kinds.map((kind) => {
        const [spent, most] = [budget[kind] ?? 0, limit[kind] ?? 0]
        const write = (value: number) =>
          kind === 'usd' ? `$${value.toFixed(2)}` : `${value.toLocaleString('en')} ${kind}`
        return (
          <label key={kind} class="budget">
            <span>
              {write(spent)} of {write(most)} on {day} (UTC)
            </span>
            <meter min={0} max={most} high={most * 0.8} value={Math.min(spent, most)} />
          </label>
        )
      })}
    </Part>
  )
}
