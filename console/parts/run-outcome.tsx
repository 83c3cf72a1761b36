/** What became of a run: attempts, reply, summary and deliveries, and the orders that its state allows. */

import { hrefOf } from '../browser/router.ts'
import type { DeliveryRecord, RunDetail } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { Facts } from './facts.tsx'
import { Marked, TextBlock } from './marked.tsx'
import { OrderButton } from './order.tsx'
import { duration, Time } from './time.tsx'

export interface RunOutcomeProps {
  readonly run: RunDetail
  readonly reload: () => void
  /** Whether its title is a link to its own page, which also has the prompt. */
  readonly isLinked?: boolean
}

export function RunOutcome({ run, reload, isLinked = false }: RunOutcomeProps) {
  const { id, state, stage, error, reply, warnings = [], handedOver, summary, deliveries = [] } = run
  const isWithoutReply = state === 'failed' || state === 'timed-out' || state === 'cancelled'
  return (
    <div class="outcome">
      <div class="record-head">
        {isLinked && (
          <h3>
            <a href={hrefOf(`/runs/${id}`)}>Run {run.name === undefined ? '' : <Marked text={run.name} />}</a>
          </h3>
        )}
        <Badge state={state} />
        {isWithoutReply && <span class="quiet">no reply was sent</span>}
        {!isWithoutReply && stage !== state && <span class="quiet">reached: {stage}</span>}
        <div class="actions">
          <RunOrders run={run} reload={reload} />
        </div>
      </div>
      {error !== undefined && (
        <p class="problem-text">
          <code>{error.code}</code> <Marked text={error.message} />
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="notice">
          <Marked text={warning} />
        </p>
      ))}
      <RunFacts run={run} />
      {run.attempts.length > 0 && <Attempts run={run} />}
      {reply !== undefined && (
        <>
          <h4>Reply</h4>
          <TextBlock label="Reply of the agent" text={reply} />
        </>
      )}
      {handedOver !== undefined && (
        <p>
          Handed over: <Marked text={handedOver} />
        </p>
      )}
      {summary && (
        <>
          <h4>
            Summary for the main session <Badge state={summary.state} />
          </h4>
          <TextBlock label="Summary" text={summary.text} />
        </>
      )}
      {deliveries.some((each) => each !== undefined && each !== null) && (
        <>
          <h4>Deliveries</h4>
          <ul class="plain">
            {deliveries.map(
              (delivery) =>
                delivery && <DeliveryLine key={delivery.id} delivery={delivery} reload={reload} />,
            )}
          </ul>
        </>
      )}
    </div>
  )
}

export function RunOrders({ run: { id, kind, state, cancelRequestedAt }, reload }: RunOutcomeProps) {
  const canCancel = ['queued', 'running', 'parked'].includes(state) && cancelRequestedAt === undefined
  return (
    <>
      {state === 'parked' && (
        <OrderButton
          path={`/runs/${id}/resume`}
          label="Resume"
          done="The run is queued again."
          after={reload}
          isPrimary
        />
      )}
      {kind === 'run' && (state === 'failed' || state === 'timed-out') && (
        <OrderButton
          path={`/runs/${id}/retry`}
          label="Retry"
          done="The run is queued again."
          after={reload}
          isPrimary
        />
      )}
      {canCancel && (
        <OrderButton
          path={`/runs/${id}/cancel`}
          label="Cancel"
          question="Cancel this run?"
          done="The run is cancelled."
          after={reload}
        />
      )}
      {cancelRequestedAt !== undefined && state === 'running' && (
        <span class="quiet">is being cancelled</span>
      )}
    </>
  )
}

function RunFacts({ run }: { readonly run: RunDetail }) {
  const { timings, usage, coalesce, sessionKey, runner, model, progress, orders = [] } = run
  const tokens = usage && [
    usage.inputTokens !== undefined && `${usage.inputTokens.toLocaleString('en')} in`,
    usage.cachedInputTokens !== undefined && `${usage.cachedInputTokens.toLocaleString('en')} of them cached`,
    usage.outputTokens !== undefined && `${usage.outputTokens.toLocaleString('en')} out`,
  ]
  return (
    <Facts
      facts={[
        [
          'session',
          <a key="s" href={hrefOf(`/sessions/${encodeURIComponent(sessionKey)}`)}>
            {<Marked text={sessionKey} />}
          </a>,
        ],
        ['runner', <Marked key="r" text={model === undefined ? runner : `${runner}, ${model}`} />],
        ['waited', timings?.queuedMs !== undefined && duration(timings.queuedMs)],
        ['ran', timings?.runMs !== undefined && duration(timings.runMs)],
        ['in all', timings?.totalMs !== undefined && duration(timings.totalMs)],
        ['tokens', tokens?.filter(Boolean).join(', ')],
        ['cost', usage?.usd !== undefined && `$${usage.usd.toFixed(4)}`],
        [
          'requests',
          coalesce?.count !== undefined && coalesce.count > 1 && `${coalesce.count} became this run`,
        ],
        [
          'ordered',
          orders.length > 0 && (
            <Marked text={orders.map(({ order, by }) => `${order} by ${by}`).join(', ')} />
          ),
        ],
        [
          'progress',
          progress && (
            <Marked
              text={Object.entries(progress)
                .map(([name, value]) => `${name} ${value}`)
                .join(', ')}
            />
          ),
        ],
      ]}
    />
  )
}

function Attempts({ run: { attempts } }: { readonly run: RunDetail }) {
  return (
    <ol class="attempts" aria-label="Attempts">
      {attempts.map(({ number, startedAt, endedAt, outcome, reason }) => (
        <li key={number}>
          Attempt {number}, <Time at={startedAt} /> <Badge state={outcome ?? 'running'} />
          {endedAt !== undefined && <span class="quiet"> {duration(endedAt - startedAt)}</span>}
          {reason !== undefined && (
            <>
              {' '}
              <Marked text={reason} />
            </>
          )}
        </li>
      ))}
    </ol>
  )
}

export function DeliveryLine({
  delivery: { id, state, channel, to, code, reason, attempts, nextAt },
  reload,
}: {
  readonly delivery: DeliveryRecord
  readonly reload: () => void
}) {
  return (
    <li class="delivery">
      <a href={hrefOf(`/deliveries/${id}`)}>
        <Marked text={to === undefined ? channel : `${channel} to ${to}`} />
      </a>{' '}
      <Badge state={state} />
      {attempts > 1 && <span class="quiet"> {attempts} tries</span>}
      {state === 'pending' && nextAt !== undefined && (
        <span class="quiet">
          {' '}
          next try <Time at={nextAt} />
        </span>
      )}
      {(code !== undefined || reason !== undefined) && (
        <span>
          {' '}
          <Marked text={[code, reason].filter(Boolean).join(': ')} />
        </span>
      )}
      {state === 'parked' && <ReplayDelivery id={id} after={reload} />}
    </li>
  )
}

export function ReplayDelivery({ id, after }: { readonly id: string; readonly after: () => void }) {
  return (
    <OrderButton
      path={`/deliveries/${id}/replay`}
      label="Send again"
      done="The delivery is sent again."
      after={after}
      isPrimary
    />
  )
}
