/** Deliveries: what was sent, what waits, and what is parked until it is sent again. One event is shown here too. */

import { goBack, hrefOf, type PageProps } from '../browser/router.ts'
import { useLoaded, useLoadedList, useReloadOn } from '../data/load.ts'
import type { DeliveryRecord, EventRecord } from '../data/types.ts'
import { Badge, deliveryStates, toneOf } from '../parts/badge.tsx'
import { IdText } from '../parts/copy.tsx'
import { Facts } from '../parts/facts.tsx'
import { Choices, TextFilter } from '../parts/filters.tsx'
import { Icon } from '../parts/icons.tsx'
import type { Row } from '../parts/list.tsx'
import { LoadedRows } from '../parts/loaded-rows.tsx'
import { Marked, TextBlock } from '../parts/marked.tsx'
import { Empty, Loading, Problem } from '../parts/notice.tsx'
import { ReplayDelivery } from '../parts/run-outcome.tsx'
import { SectionTabs } from '../parts/section-tabs.tsx'
import { Time } from '../parts/time.tsx'

export default function Deliveries({ query }: PageProps) {
  const state = query.get('state') ?? ''
  const channel = query.get('channel') ?? ''
  const list = useLoadedList<DeliveryRecord>('/deliveries', { state, channel, limit: 100 })
  useReloadOn(({ deliveries = [] }) => deliveries.length > 0, list.reload)
  return (
    <>
      <h1>Deliveries</h1>
      <SectionTabs />
      <div class="toolbar">
        <Choices
          name="state"
          label="State"
          value={state}
          choices={[{ value: '', label: 'all' }, ...deliveryStates.map((value) => ({ value, label: value }))]}
        />
        <TextFilter name="channel" label="Channel" value={channel} />
      </div>
      <LoadedRows list={list} what="deliveries" label="Deliveries, newest first" rowOf={rowOf}>
        <Empty title={state === 'parked' ? 'Nothing is parked.' : 'There is no such delivery.'} />
      </LoadedRows>
    </>
  )
}

function rowOf({ id, state, createdAt, channel, to, code, reason, attempts, text }: DeliveryRecord): Row {
  return {
    id,
    href: hrefOf(`/deliveries/${id}`),
    tone: toneOf(state),
    content: (
      <>
        <span class="row-time">
          <Time at={createdAt} />
        </span>
        <Badge state={state} />
        <span class="row-name">
          <Marked text={to === undefined ? channel : `${channel} to ${to}`} />
        </span>
        <span class="row-status">{attempts > 1 && `${attempts} tries`}</span>
        <span class="row-about">
          <Marked text={[code, reason].filter(Boolean).join(': ') || text.slice(0, 160)} />
        </span>
      </>
    ),
  }
}

export function Delivery({ params: { id = '' } }: PageProps) {
  const { data, error, reload } = useLoaded<DeliveryRecord>(`/deliveries/${encodeURIComponent(id)}`)
  useReloadOn(({ deliveries = [] }) => deliveries.some((each) => each.id === id), reload)
  return (
    <article>
      <button type="button" class="back" onClick={() => goBack('/deliveries')}>
        <Icon name="back" /> Deliveries
      </button>
      <div class="record-head">
        <h1>Delivery</h1>
        {data !== undefined && <Badge state={data.state} />}
        <div class="actions">{data?.state === 'parked' && <ReplayDelivery id={id} after={reload} />}</div>
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="the delivery" />}
      {data !== undefined && (
        <>
          {(data.code !== undefined || data.reason !== undefined) && (
            <p class="lead">
              {data.code !== undefined && (
                <code>
                  <Marked text={data.code} />
                </code>
              )}{' '}
              {data.reason !== undefined && <Marked text={data.reason} />}
            </p>
          )}
          <Facts
            facts={[
              ['id', <IdText key="id" id={data.id} />],
              [
                'to',
                <Marked
                  key="to"
                  text={data.to === undefined ? data.channel : `${data.channel} to ${data.to}`}
                />,
              ],
              ['run', data.runId && <a href={hrefOf(`/runs/${data.runId}`)}>{data.runId}</a>],
              ['made', <Time key="made" at={data.createdAt} />],
              [data.runId === undefined ? 'sent by' : 'replayed by', data.by],
              ['tries', String(data.attempts)],
              ['messages sent', data.receipts.length > 0 && String(data.receipts.length)],
              [
                'next try',
                data.state === 'pending' && data.nextAt !== undefined && <Time at={data.nextAt} />,
              ],
              ['ended', data.endedAt !== undefined && <Time at={data.endedAt} />],
            ]}
          />
          {data.unsureSince !== undefined && (
            <p class="notice">
              Since <Time at={data.unsureSince} /> it is not known whether the last message arrived.
            </p>
          )}
          <h2>Text</h2>
          <TextBlock label="Text of the delivery" text={data.text} />
        </>
      )}
    </article>
  )
}

export function Event({ params: { id = '' } }: PageProps) {
  const { data, error, reload } = useLoaded<EventRecord>(`/events/${encodeURIComponent(id)}`)
  return (
    <article>
      <button type="button" class="back" onClick={() => goBack('/runs')}>
        <Icon name="back" /> Back
      </button>
      <div class="record-head">
        <h1>Event</h1>
        {data !== undefined && <Badge state={data.state} />}
      </div>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading what="the event" />}
      {data !== undefined && (
        <>
          <Facts
            facts={[
              ['id', <IdText key="id" id={data.id} />],
              ['at', <Time key="at" at={data.createdAt} />],
              ['session', <Marked key="session" text={data.session} />],
              ['wakes it', data.mode === 'now' ? 'at once' : 'at the next heartbeat'],
              [
                'from request',
                data.origin.requestId && (
                  <a href={hrefOf(`/requests/${data.origin.requestId}`)}>{data.origin.requestId}</a>
                ),
              ],
              [
                'from run',
                data.origin.runId && <a href={hrefOf(`/runs/${data.origin.runId}`)}>{data.origin.runId}</a>,
              ],
              [
                'shown by',
                data.consumedBy && <a href={hrefOf(`/runs/${data.consumedBy}`)}>{data.consumedBy}</a>,
              ],
            ]}
          />
          <h2>As a model sees it</h2>
          <TextBlock label="Prompt of the event" text={data.prompt} />
        </>
      )}
    </article>
  )
}
