/** Runs: what agents were asked to do, and how far they are. */

import { hrefOf, type PageProps } from '../browser/router.ts'
import { useLoadedList, useReloadOn } from '../data/load.ts'
import type { RunRecord } from '../data/types.ts'
import { Badge, runStates, toneOf } from '../parts/badge.tsx'
import { Choices, TextFilter } from '../parts/filters.tsx'
import type { Row } from '../parts/list.tsx'
import { LoadedRows } from '../parts/loaded-rows.tsx'
import { Marked } from '../parts/marked.tsx'
import { Empty } from '../parts/notice.tsx'
import { OrderButton } from '../parts/order.tsx'
import { SectionTabs } from '../parts/section-tabs.tsx'
import { Time } from '../parts/time.tsx'

export default function Runs({ query }: PageProps) {
  const state = query.get('state') ?? ''
  const sessionKey = query.get('sessionKey') ?? ''
  const kind = query.get('kind') ?? 'run'
  const filters = { state, sessionKey, kind: kind === 'all' ? '' : kind }
  const list = useLoadedList<RunRecord>('/runs', { ...filters, limit: 100 })
  useReloadOn(({ runs = [] }) => runs.length > 0, list.reload)
  return (
    <>
      <h1>Runs</h1>
      <SectionTabs />
      <div class="toolbar">
        <Choices
          name="state"
          label="State"
          value={state}
          choices={[{ value: '', label: 'all' }, ...runStates.map((value) => ({ value, label: value }))]}
        />
        <Choices
          name="kind"
          label="Kind"
          value={kind}
          choices={[
            { value: 'run', label: 'of hooks' },
            { value: 'heartbeat', label: 'heartbeats' },
            { value: 'all', label: 'both' },
          ]}
        />
        <TextFilter name="sessionKey" label="Session" value={sessionKey} />
      </div>
      {(state === 'failed' || state === 'timed-out') && kind === 'run' && sessionKey === '' && (
        <OrderButton
          path="/runs/retry"
          body={{ state }}
          label={`Retry all that ${state === 'failed' ? 'failed' : 'timed out'}`}
          question="Perform all of them again from their stored prompts?"
          done="The runs are queued again."
          after={list.reload}
        />
      )}
      <LoadedRows list={list} what="runs" label="Runs, newest first" rowOf={rowOf}>
        <Empty title="There is no such run.">
          A request that a mapping with <code>action: agent</code> matches begins one.
        </Empty>
      </LoadedRows>
    </>
  )
}

function rowOf(run: RunRecord): Row {
  const { id, state, createdAt, endpoint, kind, sessionKey, runner, mapping, error } = run
  return {
    id,
    href: hrefOf(`/runs/${id}`),
    tone: toneOf(state),
    content: (
      <>
        <span class="row-time">
          <Time at={createdAt} />
        </span>
        <Badge state={state} />
        <span class="row-name">
          <Marked text={run.name ?? (endpoint === undefined ? kind : `/${endpoint}`)} />
        </span>
        <span class="row-status">
          <Marked text={runner} />
        </span>
        <span class="row-about">
          <Marked
            text={
              error === undefined
                ? [mapping, sessionKey].filter(Boolean).join(' · ')
                : `${error.code}: ${error.message}`
            }
          />
        </span>
      </>
    ),
  }
}
