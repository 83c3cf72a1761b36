/** The lists of what requests cause: runs, sessions, deliveries and replay jobs. One page draws them, and others, by their kind. */

import type { ComponentChildren } from 'preact'
import { hrefOf, type PageProps, path } from '../browser/router.ts'
import { keyOf, type Listed, useEvery, useLoadedList, useReloadOn } from '../data/load.ts'
import type { DeliveryRecord, Frame, ReplayJob, RunRecord, SessionSummary } from '../data/types.ts'
import { deliveryStates, runStates } from '../parts/badge.tsx'
import { ActionButton, Choices, TextFilter } from '../parts/controls.tsx'
import { type Row, RowList } from '../parts/list.tsx'
import { Empty, LoadedView, More } from '../parts/notice.tsx'
import { addressText, counted, filterText, spentText } from '../parts/words.tsx'

/** A filter, kept in the page's query. `choices`: values and their labels, of which the first is the default. */
interface Filter {
  readonly name: string
  readonly label: string
  readonly choices?: readonly (readonly [value: string, label: string])[]
}

export interface Kind<Item> {
  readonly title: string
  /** The route of the API, and the page of the console. */
  readonly path: string
  readonly order: string
  readonly filters: readonly Filter[]
  readonly rowOf?: (item: Item) => Row
  /** In place of rows. */
  readonly viewOf?: (item: Item, reload: () => void) => ComponentChildren
  readonly isRelevant?: (frame: Frame) => boolean
  /** True to poll the list every second, because the stream does not report its progress. */
  readonly isInProgress?: (items: readonly Item[]) => boolean
  readonly empty: (filterValues: Readonly<Record<string, string>>) => ComponentChildren
  readonly actions?: (filterValues: Readonly<Record<string, string>>, reload: () => void) => ComponentChildren
}

/** The first state is the default. */
export const stateFilter = (states: readonly string[]): Filter => ({
  name: 'state',
  label: 'State',
  choices: states.map((state) => [state, state] as const),
})

const runs: Kind<RunRecord> = {
  title: 'Runs',
  path: '/runs',
  order: 'newest first',
  filters: [
    stateFilter(['all', ...runStates]),
    {
      name: 'kind',
      label: 'Kind',
      choices: [
        ['run', 'Hook runs'],
        ['heartbeat', 'Heartbeats'],
        ['all', 'All'],
      ],
    },
    { name: 'sessionKey', label: 'Session' },
  ],
  rowOf: ({ id, state, createdAt, endpoint, kind, sessionKey, mapping, error, ...run }) => ({
    id,
    href: hrefOf(`/runs/${id}`),
    at: createdAt,
    state,
    name: run.name ?? (endpoint === undefined ? kind : `/${endpoint}`),
    status: spentText(run),
    about: error
      ? `${error.code}: ${error.message}`
      : [mapping, sessionKey, run.runner].filter(Boolean).join(' · '),
  }),
  isRelevant: ({ runs: changed = [] }) => changed.length > 0,
  empty: () => (
    <Empty title="No runs match.">
      A run starts when a mapping with <code>action: agent</code> matches a request.
    </Empty>
  ),
  actions: ({ state, kind, sessionKey }, reload) =>
    (state === 'failed' || state === 'timed-out') &&
    kind === 'run' &&
    sessionKey === '' && (
      <ActionButton
        path="/runs/retry"
        body={{ state }}
        words={[
          `Retry all that ${state === 'failed' ? 'failed' : 'timed out'}`,
          'The runs are queued again.',
          'Run all of them again with their stored prompts?',
        ]}
        onDone={reload}
      />
    ),
}

const sessions: Kind<SessionSummary> = {
  title: 'Sessions',
  path: '/sessions',
  order: 'most recently used first',
  filters: [],
  rowOf: ({ key, turns, lastAt }) => ({
    id: key,
    href: hrefOf(`/sessions/${encodeURIComponent(key)}`),
    at: lastAt,
    name: key,
    about: counted(turns, 'turn'),
  }),
  isRelevant: ({ runs: changed = [] }) => changed.length > 0,
  empty: () => <Empty title="There is no session yet.">An agent's first turn starts one.</Empty>,
}

const deliveries: Kind<DeliveryRecord> = {
  title: 'Deliveries',
  path: '/deliveries',
  order: 'newest first',
  filters: [stateFilter(['all', ...deliveryStates]), { name: 'channel', label: 'Channel' }],
  rowOf: ({ id, state, createdAt, code, reason, attempts, text, ...address }) => ({
    id,
    href: hrefOf(`/deliveries/${id}`),
    at: createdAt,
    state,
    name: addressText(address),
    status: attempts > 1 && `${attempts} tries`,
    about: [code, reason].filter(Boolean).join(': ') || text.slice(0, 160),
  }),
  isRelevant: ({ deliveries: changed = [] }) => changed.length > 0,
  empty: ({ state }) => <Empty title={state === 'parked' ? 'Nothing is parked.' : 'No deliveries match.'} />,
}

const jobs: Kind<ReplayJob> = {
  title: 'Replay jobs',
  path: '/jobs',
  order: 'newest first',
  filters: [],
  rowOf: ({ id, state, createdAt, total, filter }) => ({
    id,
    href: hrefOf(`/jobs/${id}`),
    at: createdAt,
    state,
    name: counted(total, 'request'),
    about: filterText(filter),
  }),
  isInProgress: (items) => items.some(({ state }) => state === 'running'),
  empty: () => (
    <Empty title="There are no replay jobs.">
      Set filters on <a href={hrefOf('/live')}>Live</a>, and replay all requests that match.
    </Empty>
  ),
}

const kinds = [runs, sessions, deliveries, jobs]

export const Runs = (props: PageProps) => <List kind={runs} {...props} />
export const Sessions = (props: PageProps) => <List kind={sessions} {...props} />
export const Deliveries = (props: PageProps) => <List kind={deliveries} {...props} />
export const Jobs = (props: PageProps) => <List kind={jobs} {...props} />

export function List<Item extends Listed>({ kind, query }: { readonly kind: Kind<Item> } & PageProps) {
  const { title, filters, rowOf, viewOf, isRelevant, isInProgress } = kind
  const filterValues: Record<string, string> = {}
  for (const { name, choices } of filters) filterValues[name] = query.get(name) ?? choices?.[0]?.[0] ?? ''
  const queryValues = Object.entries(filterValues).map(([name, value]) => [
    name,
    value === 'all' ? '' : value,
  ])
  const list = useLoadedList<Item>(kind.path, { ...Object.fromEntries(queryValues), limit: 100 })
  const { data, reload } = list
  useReloadOn((frame) => isRelevant?.(frame) === true, reload)
  useEvery(data && isInProgress?.(data) ? 1_000 : undefined, reload)
  const plural = title.toLowerCase()
  return (
    <>
      <h1>{title}</h1>
      <nav class="toolbar" aria-label="Runs, sessions, deliveries and jobs" hidden={viewOf !== undefined}>
        {kinds.map(({ path: to, title: name }) => (
          <a
            key={to}
            class="button small"
            href={hrefOf(to)}
            aria-current={path.value === to ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {filters.length > 0 && (
        <div class="toolbar">
          {filters.map(({ name, label, choices }) => {
            const props = { name, label, value: filterValues[name] ?? '' }
            return choices === undefined ? (
              <TextFilter key={name} {...props} />
            ) : (
              <Choices key={name} {...props} choices={choices} />
            )
          })}
        </div>
      )}
      {kind.actions?.(filterValues, reload)}
      <LoadedView loaded={list} label={plural}>
        {(items) =>
          items.length === 0 ? (
            kind.empty(filterValues)
          ) : rowOf === undefined ? (
            <ul class="stack plain">
              {items.map((item) => (
                <li key={keyOf(item)}>{viewOf?.(item, reload)}</li>
              ))}
            </ul>
          ) : (
            <RowList label={`${title}, ${kind.order}`} rows={items.map(rowOf)} />
          )
        }
      </LoadedView>
      <More list={list} label={`Show older ${plural}`} />
    </>
  )
}
