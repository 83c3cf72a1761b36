/** One run: what the agent was given, what it answered, and what became of the answer. */

import { goBack, hrefOf, type PageProps } from '../browser/router.ts'
import { useLoaded, useReloadOn } from '../data/load.ts'
import type { RunDetail } from '../data/types.ts'
import { IdText } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { Icon } from '../parts/icons.tsx'
import { Marked, TextBlock } from '../parts/marked.tsx'
import { Loading, Problem } from '../parts/notice.tsx'
import { RunOutcome } from '../parts/run-outcome.tsx'
import { Time } from '../parts/time.tsx'

export default function Run({ params: { id = '' } }: PageProps) {
  const { data, error, reload } = useLoaded<RunDetail>(`/runs/${encodeURIComponent(id)}`)
  useReloadOn(({ runs = [], deliveries = [] }) => {
    const mine = new Set(data?.deliveryIds)
    return runs.some((run) => run.id === id) || deliveries.some((delivery) => mine.has(delivery.id))
  }, reload)
  return (
    <article>
      <button type="button" class="back" onClick={() => goBack('/runs')}>
        <Icon name="back" /> Runs
      </button>
      <h1>{data?.name === undefined ? 'Run' : <Marked text={data.name} />}</h1>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="the run" />}
      {data !== undefined && (
        <>
          <RunOutcome run={data} reload={reload} />
          <section>
            <h2>What it was given</h2>
            <Facts
              facts={[
                ['id', <IdText key="id" id={data.id} />],
                ['at', <Time key="at" at={data.createdAt} />],
                [
                  'request',
                  data.requestId && <a href={hrefOf(`/requests/${data.requestId}`)}>{data.requestId}</a>,
                ],
                ['endpoint', data.endpoint && <Marked text={`/${data.endpoint}`} />],
                ['mapping', data.mapping && <Marked text={data.mapping} />],
                ['reply goes to', <Marked key="to" text={destinationOf(data)} />],
                ['timeout', `${data.timeoutSeconds} s`],
              ]}
            />
            <h3>Prompt</h3>
            <TextBlock label="Prompt" text={data.prompt} />
            {data.message !== data.prompt && (
              <details class="fold">
                <summary>Message as rendered, without the boundary</summary>
                <TextBlock label="Message" text={data.message} />
              </details>
            )}
          </section>
          <Joined run={data} />
        </>
      )}
    </article>
  )
}

function destinationOf({ deliver, deliverTo, channel, to }: RunDetail): string {
  if (!deliver) return 'nowhere'
  const targets = deliverTo ?? [{ channel, to }]
  return targets
    .map((target) => (target.to === undefined ? target.channel : `${target.channel} to ${target.to}`))
    .join(', ')
}

/** The requests of a burst, each with its message where that is kept. */
function Joined({ run: { coalesce, joined = [], requestId } }: { readonly run: RunDetail }) {
  const ids = coalesce?.requestIds ?? []
  const others: readonly { requestId: string; at?: number; message?: string }[] =
    joined.length > 0 ? joined : ids.map((id) => ({ requestId: id }))
  if (coalesce === undefined || others.every((each) => each.requestId === requestId)) return null
  return (
    <section>
      <h2>Requests that became this run</h2>
      <ul class="plain">
        {others.map(({ requestId: id, at, message }) => (
          <li key={id}>
            <a href={hrefOf(`/requests/${id}`)}>{id}</a>
            {at !== undefined && (
              <>
                {' '}
                <Time at={at} />
              </>
            )}
            {message !== undefined && <TextBlock label="Message" text={message} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
