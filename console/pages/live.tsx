/** Live: what arrives, newest first, with how it ended and why. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { go, hrefOf, type PageProps, setQuery } from '../browser/router.ts'
import { type ApiError, post } from '../data/api.ts'
import { asApiError, useFrames, useLoaded, useLoadedList } from '../data/load.ts'
import type { Answer, Page, RequestRow } from '../data/types.ts'
import { ActionButton } from '../parts/action-button.tsx'
import { endOf, outcomes } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Choices, TextFilter } from '../parts/filters.tsx'
import { Icon } from '../parts/icons.tsx'
import { useKey } from '../parts/keys.ts'
import { type Row, RowList } from '../parts/list.tsx'
import { Empty, Loading, Problem } from '../parts/notice.tsx'
import { OpenIssues } from '../parts/open-issues.tsx'
import { counted } from '../parts/time.tsx'

/** Rows of the first page, and as many as a page holds that stays open for days. */
const pageRows = 100
const maxRows = 500
/** Rows are announced together, at most this often. Milliseconds. */
const announceMs = 5_000

const filterNames = [
  'outcome',
  'endpoint',
  'code',
  'mapping',
  'client',
  'deliveryId',
  'since',
  'until',
] as const
type Filters = Readonly<Partial<Record<(typeof filterNames)[number], string>>>

export function Live({ query }: PageProps) {
  const filters: Filters = Object.fromEntries(
    filterNames.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])),
  )
  // Another filter is another feed, which begins again.
  return (
    <>
      <h1>Live</h1>
      <OpenIssues />
      <Feed key={JSON.stringify(filters)} filters={filters} />
    </>
  )
}

function Feed({ filters }: { readonly filters: Filters }) {
  const { data, error, loadMore, reload } = useLoadedList<RequestRow>('/requests', {
    ...filters,
    limit: pageRows,
  })
  const [arrived, setArrived] = useState<readonly RequestRow[]>([])
  const [isPaused, setPaused] = useState(false)
  const [waiting, setWaiting] = useState<readonly RequestRow[]>([])
  const [missed, setMissed] = useState(0)
  const say = useAnnouncer()
  const counts = useCounts()

  useFrames((frame) => {
    if (frame === 'gap') {
      if (!isPaused) again()
      return
    }
    const rows = (frame.requests ?? []).filter((row) => passes(row, filters)).toReversed()
    counts.add(frame.requests ?? [])
    if (frame.skipped) setMissed((count) => count + (frame.skipped ?? 0))
    if (rows.length === 0) return
    const add = (known: readonly RequestRow[]) => merged(rows, known)
    if (isPaused) setWaiting(add)
    else {
      setArrived(add)
      say(rows)
    }
  })

  function again() {
    setArrived([])
    setWaiting([])
    setMissed(0)
    reload()
  }

  function togglePause() {
    announce(isPaused ? 'The feed goes on.' : 'The feed is paused.')
    setArrived((known) => merged(waiting, known))
    setWaiting([])
    setPaused(!isPaused)
  }
  useKey('p', togglePause)

  const rows = data && merged(arrived, data)
  return (
    <>
      <div class="toolbar">
        <Choices
          name="outcome"
          label="Outcome"
          value={filters.outcome ?? ''}
          choices={[
            ['', 'all', counts.all],
            ...outcomes.map((value) => [value, value, counts.of(value)] as const),
          ]}
        />
        <MoreFilters filters={filters} />
        <Button
          class={`pause ${isPaused ? 'primary' : ''}`}
          aria-pressed={isPaused}
          aria-keyshortcuts="p"
          onClick={togglePause}
        >
          <Icon name={isPaused ? 'play' : 'pause'} />
          <span>{isPaused ? 'Go on' : 'Pause'}</span>
        </Button>
      </div>
      {isPaused && waiting.length > 0 && (
        <Button class="arrivals" onClick={togglePause}>
          {counted(waiting.length, 'new request')}: show and go on
        </Button>
      )}
      {missed > 0 && (
        <p class="notice quiet">
          {counted(missed, 'request')} came faster than this page shows them.{' '}
          <Button class="small" onClick={again}>
            Read the list again
          </Button>
        </p>
      )}
      {rows !== undefined && rows.length > 1 && canReplayAll(filters) && <ReplayAll filters={filters} />}
      {error !== undefined && <Problem error={error} retry={again} />}
      {rows === undefined && error === undefined && <Loading label="requests" />}
      {rows !== undefined && rows.length === 0 && <NothingYet isFiltered={Object.keys(filters).length > 0} />}
      {rows !== undefined && rows.length > 0 && (
        <RowList label="Requests, newest first" rows={rows.map(rowOf)} />
      )}
      {loadMore !== undefined && (
        <Button class="more" onClick={loadMore}>
          Show older requests
        </Button>
      )}
    </>
  )
}

function MoreFilters({ filters }: { readonly filters: Filters }) {
  const { data } = useLoaded<Page<{ readonly name: string }>>('/endpoints')
  const set = filterNames.filter((name) => name !== 'outcome' && filters[name] !== undefined)
  return (
    <details class="more-filters" open={set.length > 0}>
      <summary>Filters{set.length > 0 && <span class="count">{set.length}</span>}</summary>
      <div class="filter-fields">
        <TextFilter
          name="endpoint"
          label="Endpoint"
          value={filters.endpoint ?? ''}
          options={data?.items.map(({ name }) => name)}
        />
        <TextFilter name="mapping" label="Mapping" value={filters.mapping ?? ''} />
        <TextFilter name="code" label="Error code" value={filters.code ?? ''} />
        <TextFilter name="client" label="Client address" value={filters.client ?? ''} />
        <TextFilter name="deliveryId" label="Sender's delivery id" value={filters.deliveryId ?? ''} />
        <label class="field">
          <span>Since</span>
          <select
            value={sinceValue(filters.since)}
            onChange={(event) => setQuery({ since: timeBefore(event.currentTarget.value) })}
          >
            <option value="">ever</option>
            <option value="1">the last hour</option>
            <option value="8">the last 8 hours</option>
            <option value="24">the last day</option>
            <option value="168">the last week</option>
            {sinceValue(filters.since) === 'other' && <option value="other">{filters.since}</option>}
          </select>
        </label>
        {set.length > 0 && (
          <Button
            class="ghost"
            onClick={() => setQuery(Object.fromEntries(set.map((name) => [name, undefined])))}
          >
            Clear
          </Button>
        )}
      </div>
    </details>
  )
}

/** Requests of which nothing is kept cannot be replayed, and a feed without filters is everything. */
function canReplayAll({ outcome, ...others }: Filters): boolean {
  if (outcome === 'handshake') return false
  return outcome !== undefined || Object.keys(others).length > 0
}

/** Many at once: how many they are is asked first, and then the job goes on by itself. */
function ReplayAll({ filters: filter }: { readonly filters: Filters }) {
  const [total, setTotal] = useState<number>()
  const [error, setError] = useState<ApiError>()
  const count = () =>
    post<{ total: number }>('/requests/replay', { filter, dryRun: true }).then(
      (answer) => setTotal(answer.total),
      (cause: unknown) => setError(asApiError(cause)),
    )
  if (error !== undefined) return <Problem error={error} />
  return (
    <p>
      {total === undefined ? (
        <Button onClick={() => void count()}>
          <Icon name="replay" /> Replay all that pass …
        </Button>
      ) : total === 0 ? (
        'None of them can be replayed: their bodies are not kept.'
      ) : (
        <ActionButton
          path="/requests/replay"
          body={{ filter }}
          label={`Replay ${counted(total, 'request')}`}
          confirmation={`${counted(total, 'request')} ${total === 1 ? 'is' : 'are'} done over, each once. What was delivered is not sent again.`}
          doneMessage="The replay has begun."
          onDone={() => go(hrefOf('/jobs'))}
          isPrimary
        />
      )}
    </p>
  )
}

const hourMs = 3_600_000

/** A time, and no span, so that a link to a filtered list shows the same requests tomorrow. */
function timeBefore(hours: string): string | undefined {
  return hours === '' || hours === 'other'
    ? undefined
    : new Date(Date.now() - Number(hours) * hourMs).toISOString()
}

function sinceValue(since: string | undefined): string {
  return since === undefined ? '' : 'other'
}

function NothingYet({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No request passes these filters.">
      <a href={hrefOf('/live')}>Show all</a>
    </Empty>
  ) : (
    <Empty title="Nothing has arrived yet.">
      Each request to a hook shows here as it comes, with how it ended.
    </Empty>
  )
}

function rowOf(request: RequestRow): Row {
  const { id, endpoint, status, receivedAt, count = 1, replayOf } = request
  return {
    id,
    href: hrefOf(`/requests/${id}`),
    at: receivedAt,
    ...endOf(request),
    name: `/${endpoint}`,
    status,
    tags: [...(replayOf === undefined ? [] : ['replay']), ...(count > 1 ? [`× ${count}`] : [])],
    about: about(request),
  }
}

/** Reason for its outcome, or its effects. */
function about({ reason, code, failure, mapping, actions }: RequestRow): string {
  if (reason !== undefined)
    return [failure ?? (code === undefined ? undefined : code), reason].filter(Boolean).join(': ')
  const caused = actions.map(({ kind }) => (kind === 'agent' ? 'run' : 'event'))
  const parts = [mapping, caused.length > 2 ? `${caused.length} actions` : caused.join(', ')]
  return parts.filter(Boolean).join(' → ')
}

/** Newest first, each once, and no more than a page can hold. */
function merged(newer: readonly RequestRow[], older: readonly RequestRow[]): readonly RequestRow[] {
  if (newer.length === 0) return older
  const ids = new Set(newer.map(({ id }) => id))
  return [...newer, ...older.filter(({ id }) => !ids.has(id))].slice(0, Math.max(maxRows, older.length))
}

/** The same filters as those of the list in the API. */
function passes(row: RequestRow, filters: Filters): boolean {
  const { since, until, ...same } = filters
  if (since !== undefined && row.receivedAt < timeOf(since)) return false
  if (until !== undefined && row.receivedAt >= timeOf(until)) return false
  return Object.entries(same).every(([name, value]) => row[name as keyof RequestRow] === value)
}

function timeOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Date.parse(text)
}

/** Says how many requests came, not each of them. */
function useAnnouncer(): (rows: readonly RequestRow[]) => void {
  const waiting = useRef<RequestRow[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return (rows) => {
    waiting.current.push(...rows)
    timer.current ??= setTimeout(() => {
      const failed = waiting.current.filter(({ outcome }) => outcome === 'failed').length
      announce(`${counted(waiting.current.length, 'new request')}${failed > 0 ? `, ${failed} failed` : ''}.`)
      waiting.current = []
      timer.current = undefined
    }, announceMs)
  }
}

/** Outcomes of the last hour's requests. The series leaves out its newest seconds, which the list and what arrives make up for. */
function useCounts() {
  const { data } = useLoaded<Answer<'readSeries'>>('/series', { minutes: 60 })
  const end = data && data.from + data.stepMs * (data.outcomes['accepted']?.length ?? 0)
  const recent = useLoaded<Page<RequestRow>>(end === undefined ? undefined : '/requests', {
    since: end,
    limit: 500,
  })
  const [added, setAdded] = useState<Readonly<Record<string, number>>>({})
  const listed = recent.data?.items
  const stepsOf: Readonly<Record<string, readonly number[]>> | undefined = data?.outcomes
  const of = (outcome: string): number | undefined =>
    stepsOf && sum(stepsOf[outcome] ?? []) + countOf(listed ?? [], outcome) + (added[outcome] ?? 0)
  return {
    of,
    all: data && outcomes.reduce((total, outcome) => total + (of(outcome) ?? 0), 0),
    add(rows: readonly RequestRow[]) {
      // Before the list is there it will have these rows, and afterwards it may have the first of them.
      const others = rows.filter(({ id }) => listed !== undefined && !listed.some((row) => row.id === id))
      if (others.length === 0) return
      setAdded((last) => {
        const next: Record<string, number> = { ...last }
        for (const outcome of outcomes) next[outcome] = (next[outcome] ?? 0) + countOf(others, outcome)
        return next
      })
    },
  }
}

function countOf(rows: readonly RequestRow[], outcome: string): number {
  return sum(rows.flatMap((row) => (row.outcome === outcome ? (row.count ?? 1) : [])))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
