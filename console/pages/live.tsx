/** Live: what arrives, newest first, with how it ended and why. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { go, hrefOf, type PageProps, setQuery } from '../browser/router.ts'
import { post } from '../data/api.ts'
import { useLoaded, useLoadedList, useReloadOn, useSending } from '../data/load.ts'
import type { Answer, Page, RequestRow } from '../data/types.ts'
import { endOf, outcomes } from '../parts/badge.tsx'
import { ActionButton, Button, Choices, TextFilter } from '../parts/controls.tsx'
import { Icon } from '../parts/icons.tsx'
import { useKey } from '../parts/keys.ts'
import { type Row, RowList } from '../parts/list.tsx'
import { Empty, LoadedView, More, Problem } from '../parts/notice.tsx'
import { OpenIssues } from '../parts/open-issues.tsx'
import { counted } from '../parts/words.tsx'

/** Rows are announced together, at most this often. Milliseconds. */
const announceMs = 5_000
/** Counts are long answers. Milliseconds. */
const countsPauseMs = 2_000

const textFilters = [
  ['endpoint', 'Endpoint'],
  ['mapping', 'Mapping'],
  ['code', 'Error code'],
  ['client', 'Client address'],
  ['deliveryId', "Sender's delivery id"],
] as const
const filterNames = ['outcome', 'since', 'until', ...textFilters.map(([name]) => name)] as const
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
  const list = useLoadedList<RequestRow>('/requests', { ...filters, limit: 100 })
  const { data: rows, reload } = list
  const [isPaused, setPaused] = useState(false)
  const [isBehind, setBehind] = useState(false)
  const counts = useCounts()
  useReloadOn(({ requests = [] }) => requests.length > 0, isPaused ? () => setBehind(true) : reload)
  useArrivalsAnnounced(rows)

  function togglePause() {
    announce(isPaused ? 'The feed goes on.' : 'The feed is paused.')
    setPaused(!isPaused)
    setBehind(false)
    if (isBehind) reload()
  }
  useKey('p', togglePause)

  return (
    <>
      <div class="toolbar">
        <Choices
          name="outcome"
          label="Outcome"
          value={filters.outcome ?? ''}
          choices={[
            ['', 'all', counts?.get('')],
            ...outcomes.map((value) => [value, value, counts?.get(value)] as const),
          ]}
        />
        <MoreFilters filters={filters} />
        <Button
          class={`end ${isPaused ? 'primary' : ''}`}
          aria-pressed={isPaused}
          aria-keyshortcuts="p"
          onClick={togglePause}
        >
          <Icon name={isPaused ? 'play' : 'pause'} />
          <span>{isPaused ? 'Go on' : 'Pause'}</span>
        </Button>
      </div>
      {isBehind && (
        <Button class="wide" onClick={togglePause}>
          New requests: show and go on
        </Button>
      )}
      {rows !== undefined && rows.length > 1 && canReplayAll(filters) && <ReplayAll filters={filters} />}
      <LoadedView loaded={list} label="requests">
        {(shown) =>
          shown.length === 0 ? (
            <NothingYet isFiltered={Object.keys(filters).length > 0} />
          ) : (
            <RowList label="Requests, newest first" rows={shown.map(rowOf)} />
          )
        }
      </LoadedView>
      <More list={list} label="Show older requests" />
    </>
  )
}

function MoreFilters({ filters }: { readonly filters: Filters }) {
  const { data } = useLoaded<Page<{ readonly name: string }>>('/endpoints')
  const set = filterNames.filter((name) => name !== 'outcome' && filters[name] !== undefined)
  return (
    <details class="more-filters" open={set.length > 0}>
      <summary>Filters {set.length > 0 && set.length}</summary>
      <div class="filter-fields">
        {textFilters.map(([name, label]) => (
          <TextFilter
            key={name}
            name={name}
            label={label}
            value={filters[name] ?? ''}
            options={name === 'endpoint' ? data?.items.map((endpoint) => endpoint.name) : []}
          />
        ))}
        <label class="field">
          <span>Since</span>
          <select
            value={filters.since ?? ''}
            onChange={(event) => setQuery({ since: timeBefore(event.currentTarget.value) })}
          >
            <option value="">ever</option>
            <option value="1">the last hour</option>
            <option value="8">the last 8 hours</option>
            <option value="24">the last day</option>
            <option value="168">the last week</option>
            {filters.since !== undefined && <option>{filters.since}</option>}
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
  const { answer, error, send } = useSending<{ readonly total: number }>()
  if (error !== undefined) return <Problem error={error} />
  if (answer === undefined) {
    const count = () => send(post('/requests/replay', { filter, dryRun: true }))
    return (
      <Button onClick={() => void count()}>
        <Icon name="replay" /> Replay all that pass …
      </Button>
    )
  }
  const { total } = answer
  if (total === 0) return <p>None of them can be replayed: their bodies are not kept.</p>
  const requests = counted(total, 'request')
  const question = `${requests} ${total === 1 ? 'is' : 'are'} done over, each once. What was delivered is not sent again.`
  return (
    <ActionButton
      path="/requests/replay"
      body={{ filter }}
      words={[`Replay ${requests}`, 'The replay has begun.', question]}
      onDone={() => go(hrefOf('/jobs'))}
      isPrimary
    />
  )
}

const hourMs = 3_600_000

/** A time, and no span, so that a link to a filtered list shows the same requests tomorrow. */
function timeBefore(hours: string): string | undefined {
  return hours === '' ? undefined : new Date(Date.now() - Number(hours) * hourMs).toISOString()
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

/** Says how many requests came, not each of them. */
function useArrivalsAnnounced(rows: readonly RequestRow[] | undefined): void {
  const newest = useRef(rows)
  newest.current = rows
  const known = useRef(rows)
  known.current ??= rows
  useEffect(() => {
    const timer = setInterval(() => {
      const now = newest.current ?? []
      const at = now.findIndex(({ id }) => id === known.current?.[0]?.id)
      const arrived = now.slice(0, at < 0 ? undefined : at)
      known.current = now
      const failed = arrived.filter(({ outcome }) => outcome === 'failed').length
      if (arrived.length > 0)
        announce(`${counted(arrived.length, 'new request')}${failed > 0 ? `, ${failed} failed` : ''}.`)
    }, announceMs)
    return () => clearInterval(timer)
  }, [])
}

/** Outcomes of the last hour's requests; the key of all of them is empty. */
function useCounts(): ReadonlyMap<string, number> | undefined {
  const { data, reload } = useLoaded<Answer<'readSeries'>>('/series', { minutes: 60 })
  useReloadOn(({ requests = [] }) => requests.length > 0, reload, countsPauseMs)
  if (data === undefined) return undefined
  const counts = outcomes.map((outcome) => [outcome, sum(data.outcomes[outcome])] as const)
  return new Map([...counts, ['', sum(counts.map(([, count]) => count))]])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
