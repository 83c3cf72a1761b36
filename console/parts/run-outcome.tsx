/** The outcome of a run: attempts, reply, summary and deliveries, and the orders that its state allows. */

import type { DeliveryRecord, RunDetail } from '../data/types.ts'
import { Badge } from './badge.tsx'
import { ActionButton } from './controls.tsx'
import { TextBlock } from './marked.tsx'
import { Facts, link, text, time } from './record.tsx'
import { addressText, dollars, duration, filterText, Time } from './words.tsx'

interface RunOutcomeProps {
  readonly run: RunDetail
  readonly reload: () => void
  /** True if its title is a link to its own page, which also has the prompt. */
  readonly isLinked?: boolean
}

export function RunOutcome({ run, reload, isLinked = false }: RunOutcomeProps) {
  const { id, state, stage, error, reply, warnings = [], handedOver, summary } = run
  const sent = (run.deliveries ?? []).filter((delivery) => delivery != null)
  const isWithoutReply = state === 'failed' || state === 'timed-out' || state === 'cancelled'
  return (
    <div class="stack">
      <div class="toolbar">
        {isLinked && <h3>{link('/runs', id, `Run ${run.name ?? ''}`)}</h3>}
        <Badge state={state} />
        {isWithoutReply && <span class="quiet">no reply was sent</span>}
        {!isWithoutReply && stage !== state && <span class="quiet">reached: {stage}</span>}
        <div class="toolbar end">
          <RunOrders run={run} reload={reload} />
        </div>
      </div>
      {error !== undefined && (
        <p class="note tone-bad">
          <code>{error.code}</code> {text(error.message)}
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="notice card">
          {text(warning)}
        </p>
      ))}
      <RunFacts run={run} />
      {run.attempts.length > 0 && (
        <ol class="stack plain" aria-label="Attempts">
          {run.attempts.map((attempt) => (
            <Attempt key={attempt.number} attempt={attempt} />
          ))}
        </ol>
      )}
      {reply !== undefined && (
        <>
          <h4>Reply</h4>
          <TextBlock label="Reply of the agent" text={reply} />
        </>
      )}
      {handedOver !== undefined && <p>Handed over: {text(handedOver)}</p>}
      {summary && (
        <>
          <h4>
            Summary for the main session <Badge state={summary.state} />
          </h4>
          <TextBlock label="Summary" text={summary.text} />
        </>
      )}
      {sent.length > 0 && (
        <>
          <h4>Deliveries</h4>
          <ul class="stack plain">
            {sent.map((delivery) => (
              <DeliveryLine key={delivery.id} delivery={delivery} reload={reload} />
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

function RunOrders({ run: { id, kind, state, cancelRequestedAt }, reload }: RunOutcomeProps) {
  const isCancelling = cancelRequestedAt !== undefined
  const allowed = {
    resume: state === 'parked',
    retry: kind === 'run' && (state === 'failed' || state === 'timed-out'),
    cancel: !isCancelling && ['queued', 'running', 'parked'].includes(state),
  }
  return (
    <>
      {Object.entries(allowed).map(([name, isAllowed]) => {
        const path = `/runs/${id}/${name}`
        return (
          isAllowed && <ActionButton key={name} path={path} onDone={reload} isPrimary={name !== 'cancel'} />
        )
      })}
      {isCancelling && state === 'running' && <span class="quiet">is being cancelled</span>}
    </>
  )
}

function RunFacts({ run }: { readonly run: RunDetail }) {
  const { timings, usage = {}, coalesce, sessionKey, runner, model, progress = {} } = run
  const tokens = [
    [usage.inputTokens, 'in'],
    [usage.cachedInputTokens, 'of them cached'],
    [usage.outputTokens, 'out'],
  ].flatMap(([count, what]) => (count === undefined ? [] : [`${count.toLocaleString('en')} ${what}`]))
  const took = (ms: number | undefined) => ms !== undefined && duration(ms)
  return (
    <Facts
      facts={[
        ['session', link('/sessions', sessionKey)],
        ['runner', text(model === undefined ? runner : `${runner}, ${model}`)],
        ['waited', took(timings?.queuedMs)],
        ['ran', took(timings?.runMs)],
        ['in all', took(timings?.totalMs)],
        ['tokens', tokens.join(', ')],
        ['cost', usage.usd !== undefined && dollars(usage.usd)],
        [
          'requests',
          coalesce?.count !== undefined && coalesce.count > 1 && `${coalesce.count} became this run`,
        ],
        ['ordered', text(run.orders?.map(({ order, by }) => `${order} by ${by}`).join(', '))],
        ['progress', text(filterText(progress))],
      ]}
    />
  )
}

function Attempt({ attempt }: { readonly attempt: RunDetail['attempts'][number] }) {
  const { number, startedAt, endedAt, outcome, reason } = attempt
  return (
    <li>
      Attempt {number}, <Time at={startedAt} /> <Badge state={outcome ?? 'running'} />{' '}
      {endedAt !== undefined && <span class="quiet">{duration(endedAt - startedAt)}</span>} {text(reason)}
    </li>
  )
}

interface DeliveryLineProps {
  readonly delivery: DeliveryRecord
  readonly reload: () => void
}

function DeliveryLine({ delivery, reload }: DeliveryLineProps) {
  const { id, state, code, reason, attempts, nextAt } = delivery
  return (
    <li class="line">
      {link('/deliveries', id, addressText(delivery))} <Badge state={state} />
      {attempts > 1 && <span class="quiet">{attempts} tries</span>}
      {state === 'pending' && nextAt && <span class="quiet">next try {time(nextAt)}</span>}
      {text([code, reason].filter(Boolean).join(': '))}
      {state === 'parked' && <ReplayDelivery id={id} after={reload} />}
    </li>
  )
}

export function ReplayDelivery({ id, after }: { readonly id: string; readonly after: () => void }) {
  return <ActionButton path={`/deliveries/${id}/replay`} onDone={after} isPrimary />
}
