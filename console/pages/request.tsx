/** One request, from its bytes to what became of it: why it ended so, what it caused, what was sent, and doing it again. */

import { useEffect, useState } from 'preact/hooks'
import { hrefOf, type PageProps } from '../browser/router.ts'
import { mayDo } from '../data/api.ts'
import { useLoaded, useReloadOn } from '../data/load.ts'
import type { DryRun, EventRecord, RequestDetail, RunDetail } from '../data/types.ts'
import { Badge, endOf } from '../parts/badge.tsx'
import { ActionButton, Button, Choices } from '../parts/controls.tsx'
import { IdText } from '../parts/copy.tsx'
import { Icon } from '../parts/icons.tsx'
import { useKey } from '../parts/keys.ts'
import { Code, TextBlock } from '../parts/marked.tsx'
import { LoadedView } from '../parts/notice.tsx'
import { Facts, link, RecordPage, text, time } from '../parts/record.tsx'
import { RunOutcome } from '../parts/run-outcome.tsx'
import { Trace } from '../parts/trace.tsx'
import { bytes, duration } from '../parts/words.tsx'
import { Payload } from './request/payload.tsx'
import { Replay } from './request/replay.tsx'

type ReplayMode = 'closed' | 'as-it-was' | 'edited'

export function Request({ params: { id = '' }, query }: PageProps) {
  const [mode, setMode] = useState<ReplayMode>('closed')
  useKey('r', () => mayDo('operate') && setMode('as-it-was'))
  useEffect(() => setMode('closed'), [id])
  const buttons = (
    <>
      <Button
        class={mode === 'closed' ? 'primary' : ''}
        aria-keyshortcuts="r"
        onClick={() => setMode('as-it-was')}
      >
        <Icon name="replay" /> Replay
      </Button>
      <Button onClick={() => setMode('edited')}>Edit and replay</Button>
    </>
  )
  return (
    <RecordPage<RequestDetail & { readonly state?: undefined }>
      parent={['/live', 'Live']}
      path={`/requests/${encodeURIComponent(id)}`}
      kind="request"
      titleOf={(request) => text(request && `/${request.endpoint}`) ?? 'Request'}
      badgeOf={endOf}
      actions={() => mayDo('operate') && buttons}
      isRelevant={({ requests = [] }) => requests.some(({ replayOf }) => replayOf === id)}
    >
      {(request, reload) => (
        <>
          <Reason request={request} />
          {mode !== 'closed' && (
            <Replay
              key={mode}
              request={request}
              isEdited={mode === 'edited'}
              close={() => setMode('closed')}
            />
          )}
          {request.outcome === 'accepted' && <Caused request={request} />}
          <Why request={request} by={query.get('by') ?? (request.trace === undefined ? 'live' : 'stored')} />
          {request.outcome !== 'accepted' && <Caused request={request} />}
          <Received request={request} />
          <Payload request={request} />
          {request.forgottenAt === undefined && (
            <section>
              <ActionButton path="/requests/forget" body={{ ids: [id] }} onDone={reload} />
            </section>
          )}
        </>
      )}
    </RecordPage>
  )
}

function Reason({ request: { reason, code, failure, mapping } }: { readonly request: RequestDetail }) {
  if (reason ?? code ?? failure)
    return (
      <p class="lead">
        {text(reason)} {[code, failure].map((each) => each && <Code key={each} text={each} isQuiet />)}
      </p>
    )
  return mapping === undefined ? null : <p class="lead">Decided by {text(mapping)}.</p>
}

/** The trace as it was when the request came, and by the mappings of today where the body is kept. */
function Why({ request, by }: { readonly request: RequestDetail; readonly by: string }) {
  const { id, trace, bodyKept, outcome } = request
  const explained = useLoaded<DryRun>(
    by === 'live' && bodyKept === true ? `/requests/${id}/explain` : undefined,
    { generation: 'live' },
  )
  if (trace === undefined && bodyKept !== true) return null
  return (
    <section>
      <header class="line">
        <h2>{outcome === 'accepted' ? 'Why it matched' : 'Why'}</h2>
        {trace !== undefined && bodyKept === true && (
          <Choices
            name="by"
            label="Explained by"
            value={by}
            choices={[
              ['stored', 'as it was'],
              ['live', "by today's mappings"],
            ]}
          />
        )}
      </header>
      {by === 'stored' && trace !== undefined && (
        <>
          <Trace explanation={{ candidates: trace.candidates }} />
          {trace.more > 0 && <p class="quiet">… and {trace.more} more.</p>}
          {trace.isForm === true && <p class="quiet">Its body was read as a form.</p>}
        </>
      )}
      {by === 'live' && (
        <LoadedView loaded={explained} label="the explanation">
          {(answer) => (
            <>
              {trace === undefined && (
                <p class="quiet">By today's mappings, as no trace was stored with it.</p>
              )}
              <Trace {...answer} />
            </>
          )}
        </LoadedView>
      )}
    </section>
  )
}

/** The runs and events that it caused, and what became of them. */
function Caused({ request: { actions, replays = [] } }: { readonly request: RequestDetail }) {
  return (
    <>
      {actions.length > 0 && (
        <section>
          <h2>What it caused</h2>
          {actions.map(({ kind, id, duplicateOf }) => (
            <div key={id} class="card">
              {duplicateOf !== undefined && (
                <p class="quiet">
                  Came before, with request {link('/requests', duplicateOf, duplicateOf.slice(-8))}.
                </p>
              )}
              {kind === 'agent' ? <CausedRun id={id} /> : <CausedEvent id={id} />}
            </div>
          ))}
        </section>
      )}
      {replays.length > 0 && (
        <section>
          <h2>Replays of it</h2>
          <ul class="stack plain">
            {replays.map((replay) => (
              <li key={replay}>{link('/requests', replay)}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function CausedRun({ id }: { readonly id: string }) {
  const loaded = useLoaded<RunDetail>(`/runs/${id}`)
  useReloadOn(({ runs = [] }) => runs.some((run) => run.id === id), loaded.reload)
  return (
    <LoadedView loaded={loaded} label="the run">
      {(run) => <RunOutcome run={run} reload={loaded.reload} isLinked />}
    </LoadedView>
  )
}

function CausedEvent({ id }: { readonly id: string }) {
  const loaded = useLoaded<EventRecord>(`/events/${id}`)
  useReloadOn(({ events = [] }) => events.some((event) => event.id === id), loaded.reload)
  return (
    <LoadedView loaded={loaded} label="the event">
      {({ state, text }) => (
        <>
          <p>
            {link('/events', id, 'Event for the main session')} <Badge state={state} />
          </p>
          <TextBlock label="Text of the event" text={text} />
        </>
      )}
    </LoadedView>
  )
}

function Received({ request }: { readonly request: RequestDetail }) {
  const { id, client, deliveryId, mapping, generation, generationDigest } = request
  const spent = Object.entries(request.timings ?? {}).flatMap(([name, ms]) =>
    typeof ms === 'number' ? [`${name} ${duration(ms)}`] : [],
  )
  const digest = generationDigest === undefined ? '' : ` (${generationDigest.slice(0, 8)})`
  return (
    <section>
      <h2>Received</h2>
      <Facts
        facts={[
          ['id', IdText({ id })],
          ['at', time(request.receivedAt)],
          ['replay of', link('/requests', request.replayOf)],
          ['replayed by', request.by],
          ["sender's delivery id", deliveryId && <IdText id={deliveryId} />],
          ['client', client && <a href={hrefOf('/live', { client })}>{text(client)}</a>],
          [
            'authenticated by',
            request.authenticatedBy === 'provider-api' && 'the API of the provider, which was asked for it',
          ],
          ['mapping', mapping && <a href={hrefOf('/live', { mapping })}>{text(mapping)}</a>],
          ['generation', <a href={hrefOf('/changes')}>{`${generation}${digest}`}</a>],
          ['answered', `HTTP ${request.status}`],
          ['body', bytes(request.bodyBytes)],
          ['took', spent.join(', ')],
          ['node', request.node],
          ['forgotten', time(request.forgottenAt)],
          ['forgotten by', request.forgottenBy],
        ]}
      />
    </section>
  )
}
