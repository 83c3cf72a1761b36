/** Replay jobs: many requests that are done over, each once, also over restarts. */

import { useEffect } from 'preact/hooks'
import { goBack, hrefOf, type PageProps } from '../browser/router.ts'
import { useLoaded, useLoadedList } from '../data/load.ts'
import type { ReplayJob } from '../data/types.ts'
import { Badge, toneOf } from '../parts/badge.tsx'
import { IdText } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { Icon } from '../parts/icons.tsx'
import type { Row } from '../parts/list.tsx'
import { LoadedRows } from '../parts/loaded-rows.tsx'
import { Marked } from '../parts/marked.tsx'
import { Empty, Loading, Problem } from '../parts/notice.tsx'
import { OrderButton } from '../parts/order.tsx'
import { SectionTabs } from '../parts/section-tabs.tsx'
import { counted, Time } from '../parts/time.tsx'

const pollMs = 1_000

/** The stream does not say how far jobs are. */
function useReloadWhile(isRunning: boolean, reload: () => void): void {
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(reload, pollMs)
    return () => clearInterval(timer)
  }, [isRunning, reload])
}

export default function Jobs() {
  const list = useLoadedList<ReplayJob>('/jobs', { limit: 50 })
  useReloadWhile(list.data?.some(({ state }) => state === 'running') === true, list.reload)
  return (
    <>
      <h1>Replay jobs</h1>
      <SectionTabs />
      <LoadedRows list={list} what="jobs" label="Jobs, newest first" rowOf={rowOf}>
        <Empty title="There is no job.">
          Set filters on <a href={hrefOf('/live')}>Live</a>, and replay all requests that pass them.
        </Empty>
      </LoadedRows>
    </>
  )
}

function rowOf(job: ReplayJob): Row {
  return {
    id: job.id,
    href: hrefOf(`/jobs/${job.id}`),
    tone: toneOf(job.state),
    content: (
      <>
        <span class="row-time">
          <Time at={job.createdAt} />
        </span>
        <Badge state={job.state} />
        <span class="row-name">{counted(job.total, 'request')}</span>
        <span class="row-about">
          <Marked text={filterText(job)} />
        </span>
      </>
    ),
  }
}

function filterText({ filter }: ReplayJob): string {
  return Object.entries(filter)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

export function Job({ params: { id = '' } }: PageProps) {
  const { data, error, reload } = useLoaded<ReplayJob>(`/jobs/${encodeURIComponent(id)}`)
  useReloadWhile(data?.state === 'running', reload)
  const settled = data === undefined ? 0 : data.done + data.failed + data.skipped
  return (
    <article>
      <button type="button" class="back" onClick={() => goBack('/jobs')}>
        <Icon name="back" /> Replay jobs
      </button>
      <div class="record-head">
        <h1>Replay job</h1>
        {data !== undefined && <Badge state={data.state} />}
        <div class="actions">
          {data?.state === 'running' && (
            <OrderButton
              path={`/jobs/${id}/cancel`}
              label="Cancel"
              question="Leave the rest as it is?"
              done="The job is cancelled."
              after={reload}
            />
          )}
        </div>
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="the job" />}
      {data !== undefined && (
        <>
          <progress
            value={settled}
            max={Math.max(1, data.total)}
            aria-label={`${settled} of ${data.total}`}
          />
          <Facts
            facts={[
              ['id', <IdText key="id" id={data.id} />],
              ['requests', String(data.total)],
              ['accepted', String(data.done)],
              ['failed again', String(data.failed)],
              ['skipped', String(data.skipped)],
              ['filter', <Marked key="filter" text={filterText(data)} />],
              ['begun', <Time key="begun" at={data.createdAt} />],
              ['begun by', data.by],
              ['ended', data.endedAt !== undefined && <Time at={data.endedAt} />],
            ]}
          />
          {data.failures !== undefined && data.failures.length > 0 && (
            <section>
              <h2>Which failed or were skipped</h2>
              <ul class="plain">
                {data.failures.map(({ request, replay, state, reason }) => (
                  <li key={request}>
                    <Badge state={state} /> <a href={hrefOf(`/requests/${replay ?? request}`)}>{request}</a>{' '}
                    {reason !== undefined && <Marked text={reason} />}
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </article>
  )
}
