/** The pages of one record each: a run, a session, a delivery, an event, a replay job. */

import { useState } from 'preact/hooks'
import { hrefOf, type PageProps } from '../browser/router.ts'
import { mayDo } from '../data/api.ts'
import type {
  DeliveryRecord,
  EventRecord,
  ReplayJob,
  RunDetail,
  Session as SessionRecord,
} from '../data/types.ts'
import { Badge } from '../parts/badge.tsx'
import { ActionButton, Field } from '../parts/controls.tsx'
import { IdText } from '../parts/copy.tsx'
import { Code, TextBlock } from '../parts/marked.tsx'
import { Empty } from '../parts/notice.tsx'
import { Facts, link, RecordPage, text, time } from '../parts/record.tsx'
import { ReplayDelivery, RunOutcome } from '../parts/run-outcome.tsx'
import { addressText, filterText, Time } from '../parts/words.tsx'

export function Run({ params: { id = '' } }: PageProps) {
  return (
    <RecordPage<RunDetail>
      parent={['/runs', 'Runs']}
      path={`/runs/${encodeURIComponent(id)}`}
      kind="run"
      // It is beside its outcome.
      badgeOf={() => undefined}
      titleOf={(run) => text(run?.name) ?? 'Run'}
      isRelevant={({ runs = [], deliveries = [] }, run) =>
        runs.some((each) => each.id === id) || deliveries.some((each) => run?.deliveryIds.includes(each.id))
      }
    >
      {(run, reload) => (
        <>
          <RunOutcome run={run} reload={reload} />
          <section>
            <h2>What it was given</h2>
            <Facts
              facts={[
                ['id', IdText({ id: run.id })],
                ['at', time(run.createdAt)],
                ['request', link('/requests', run.requestId)],
                ['endpoint', text(run.endpoint && `/${run.endpoint}`)],
                ['mapping', text(run.mapping)],
                ['reply goes to', text(destinationOf(run))],
                ['timeout', `${run.timeoutSeconds} s`],
              ]}
            />
            <h3>Prompt</h3>
            <TextBlock label="Prompt" text={run.prompt} />
            {run.message !== run.prompt && (
              <details>
                <summary>Message as rendered, without the boundary</summary>
                <TextBlock label="Message" text={run.message} />
              </details>
            )}
          </section>
          <Joined run={run} />
        </>
      )}
    </RecordPage>
  )
}

function destinationOf({ deliver, deliverTo, channel, to }: RunDetail): string {
  return deliver ? (deliverTo ?? [{ channel, to }]).map(addressText).join(', ') : 'nowhere'
}

/** The requests of a coalesced group, each with its message where that is kept. */
function Joined({ run: { coalesce, joined = [], requestId } }: { readonly run: RunDetail }) {
  const ids = coalesce?.requestIds ?? []
  const others: readonly { requestId: string; at?: number; message?: string }[] =
    joined.length > 0 ? joined : ids.map((id) => ({ requestId: id }))
  if (coalesce === undefined || others.every((each) => each.requestId === requestId)) return null
  return (
    <section>
      <h2>Requests that became this run</h2>
      <ul class="stack plain">
        {others.map(({ requestId: id, at, message }) => (
          <li key={id}>
            {link('/requests', id)} {time(at)}
            {message !== undefined && <TextBlock label="Message" text={message} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

const roles = { user: 'To the agent', assistant: 'The agent', summary: 'Summary of older messages' } as const

export function Session({ params: { key = '' } }: PageProps) {
  return (
    <RecordPage<SessionRecord & { readonly state?: undefined }>
      parent={['/sessions', 'Sessions']}
      path={`/sessions/${encodeURIComponent(key)}`}
      kind="session"
      titleOf={() => text(key)}
      isRelevant={({ runs = [] }) => runs.length > 0}
    >
      {({ messages = [] }) => (
        <>
          <p>
            <a href={hrefOf('/runs', { sessionKey: key, kind: 'all' })}>Runs of this session</a>
          </p>
          {messages.length === 0 && <Empty title="It holds no messages." />}
          <ol class="stack plain" aria-label="Messages, oldest first">
            {messages.map(({ role, text: said, at, turn }, index) => (
              <li key={index}>
                <p class="quiet">
                  <strong>{roles[role]}</strong> <Time at={at} /> {link('/runs', turn, 'run')}
                </p>
                <TextBlock label={roles[role]} text={said} />
              </li>
            ))}
          </ol>
        </>
      )}
    </RecordPage>
  )
}

export function Delivery({ params: { id = '' } }: PageProps) {
  return (
    <RecordPage<DeliveryRecord>
      parent={['/deliveries', 'Deliveries']}
      path={`/deliveries/${encodeURIComponent(id)}`}
      kind="delivery"
      actions={({ state }, reload) => state === 'parked' && <ReplayDelivery id={id} after={reload} />}
      isRelevant={({ deliveries = [] }) => deliveries.some((each) => each.id === id)}
    >
      {(delivery, reload) => (
        <>
          {(delivery.code !== undefined || delivery.reason !== undefined) && (
            <p class="lead">
              {delivery.code !== undefined && <Code text={delivery.code} />} {text(delivery.reason)}
            </p>
          )}
          {delivery.state === 'parked' && <OtherAddress delivery={delivery} reload={reload} />}
          <Facts
            facts={[
              ['id', IdText({ id })],
              ['to', text(addressText(delivery))],
              ['run', link('/runs', delivery.runId)],
              ['made', time(delivery.createdAt)],
              [delivery.runId === undefined ? 'sent by' : 'replayed by', delivery.by],
              ['tries', String(delivery.attempts)],
              ['messages sent', delivery.receipts.length > 0 && String(delivery.receipts.length)],
              ['next try', delivery.state === 'pending' && time(delivery.nextAt)],
              ['ended', time(delivery.endedAt)],
            ]}
          />
          {delivery.unsureSince !== undefined && (
            <p class="notice card">
              Since <Time at={delivery.unsureSince} /> it is not known whether the last message arrived.
            </p>
          )}
          <h2>Text</h2>
          <TextBlock label="Text of the delivery" text={delivery.text} />
        </>
      )}
    </RecordPage>
  )
}

interface OtherAddressProps {
  readonly delivery: DeliveryRecord
  readonly reload: () => void
}

/** A parked text can go elsewhere: without a route the route is set, and otherwise the text is sent to the other address as well. */
function OtherAddress({ delivery, reload }: OtherAddressProps) {
  const [channel, setChannel] = useState('')
  const [to, setTo] = useState('')
  const hasNoRoute = delivery.code === 'NO_ROUTE'
  const address = { channel, ...(to !== '' && { to }) }
  if (!mayDo('operate')) return null
  return (
    <div class="toolbar">
      <Field label="Another channel" value={channel} onText={setChannel} />
      <Field label="Recipient" value={to} onText={setTo} />
      {hasNoRoute ? (
        <ActionButton path="/route" method="PUT" body={address} onDone={reload} />
      ) : (
        <ActionButton
          path="/deliveries"
          body={{ ...address, text: delivery.text }}
          renderAnswer={(answer) =>
            link('/deliveries', (answer as { readonly deliveryId?: string }).deliveryId)
          }
        />
      )}
    </div>
  )
}

export function Event({ params: { id = '' } }: PageProps) {
  return (
    <RecordPage<EventRecord>
      parent={['/runs', 'Back']}
      path={`/events/${encodeURIComponent(id)}`}
      kind="event"
    >
      {({ createdAt, session, mode, origin, consumedBy, prompt }) => (
        <>
          <Facts
            facts={[
              ['id', IdText({ id })],
              ['at', time(createdAt)],
              ['session', text(session)],
              ['wakes it', mode === 'now' ? 'at once' : 'at the next heartbeat'],
              ['from request', link('/requests', origin.requestId)],
              ['from run', link('/runs', origin.runId)],
              ['shown by', link('/runs', consumedBy)],
            ]}
          />
          <h2>As a model sees it</h2>
          <TextBlock label="Prompt of the event" text={prompt} />
        </>
      )}
    </RecordPage>
  )
}

export function Job({ params: { id = '' } }: PageProps) {
  return (
    <RecordPage<ReplayJob>
      parent={['/jobs', 'Replay jobs']}
      path={`/jobs/${encodeURIComponent(id)}`}
      kind="replay job"
      isInProgress={({ state }) => state === 'running'}
      actions={({ state }, reload) =>
        state === 'running' && <ActionButton path={`/jobs/${id}/cancel`} onDone={reload} />
      }
    >
      {({ total, done, failed, skipped, filter, createdAt, by, endedAt, failures = [] }) => (
        <>
          <progress
            value={done + failed + skipped}
            max={Math.max(1, total)}
            aria-label={`${done + failed + skipped} of ${total}`}
          />
          <Facts
            facts={[
              ['id', IdText({ id })],
              ['requests', String(total)],
              ['accepted', String(done)],
              ['failed again', String(failed)],
              ['skipped', String(skipped)],
              ['filter', text(filterText(filter))],
              ['begun', time(createdAt)],
              ['begun by', by],
              ['ended', time(endedAt)],
            ]}
          />
          {failures.length > 0 && (
            <section>
              <h2>Which failed or were skipped</h2>
              <ul class="stack plain">
                {failures.map(({ request, replay, state, reason }) => (
                  <li key={request}>
                    <Badge state={state} /> {link('/requests', replay ?? request, request)} {text(reason)}
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </RecordPage>
  )
}
