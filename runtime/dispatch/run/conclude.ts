/** Makes the settlement that ends a hook's run: history, summary and deliveries together. */

import { type RunResult, resultFields } from '../../agent/run-result.ts'
import { exchange } from '../../session/history.ts'
import { summaryEvent } from '../../session/summary.ts'
import type { Effects, EventRecord, RunRecord, Settlement, Work } from '../../store/port.ts'
import { type Changed, changesOf, names, stateKept } from '../changes.ts'
import { planDeliveries } from '../delivery/outgoing.ts'
import type { PerformerOptions } from '../performer-options.ts'
import { heartbeatFor } from '../posting.ts'

export interface Conclusion extends Changed {
  readonly result: RunResult
  readonly work: Work
  readonly at: number
  readonly spend?: Effects['spend']
  /** Turns that are deleted if this one succeeded. */
  readonly compact?: Effects['compact']
}

export function createConclude(options: PerformerOptions): (conclusion: Conclusion) => Settlement {
  const { log, mintId, observer } = options

  return function conclude(conclusion) {
    const { run, result, at } = conclusion
    reportEnd(run, result, at)
    observer?.runEnded?.(run, result)
    const isElsewhere = result.state === 'succeeded' && result.handedOver !== undefined
    // The system that took the turn over answers, summarises and delivers.
    const nothing = { run: { stage: 'delivered', deliveredAt: at } } as const
    const { run: fields, ...followed } = isElsewhere ? nothing : followUp(conclusion)
    return {
      effects: {
        run: { ...changesOf(conclusion), ...resultFields(result), ranAt: run.ranAt ?? at, ...fields },
        runnerState: stateKept(run, result),
        spend: conclusion.spend,
        compact: result.state === 'succeeded' ? conclusion.compact : undefined,
        ...followed,
      },
      done: true,
    }
  }

  function followUp({ run, result, work, at }: Conclusion) {
    const event = summarise(run, result, at)
    const reply = result.state === 'succeeded' ? result.reply : undefined
    log.info({ event: 'summary-posted', ...names(run), eventId: event.id }, 'summary posted')
    const { deliveries, tasks, open } = planDeliveries(options, run, { text: reply, route: work.route, at })
    // Nothing of a run without a reply is ever delivered: its summary is the last stage that it reaches.
    const isOver = reply !== undefined && !open
    return {
      run: {
        stage: isOver ? 'delivered' : 'summarised',
        summarisedAt: at,
        ...(isOver && { deliveredAt: at }),
        summaryEventId: event.id,
        deliveryIds: deliveries.map(({ id }) => id),
      },
      append: reply === undefined ? [] : [said(run, reply, at)],
      events: [event],
      deliveries,
      tasks: [...heartbeatFor(event, options), ...tasks],
    } as const
  }

  function summarise(run: RunRecord, result: RunResult, at: number): EventRecord {
    const label = 'the summary of a hook run'
    return summaryEvent(run, result, {
      id: mintId(),
      at,
      fence: (text) => options.fence(text, { label, randomId: options.randomId }),
    })
  }

  function reportEnd(run: RunRecord, result: RunResult, at: number) {
    const facts = {
      ...names(run),
      runner: run.runner,
      attempts: run.attempts.length,
      ms: at - (run.startedAt ?? at),
    }
    if (result.state === 'succeeded') {
      const { warnings = [], handedOver } = result
      const more = {
        ...(warnings.length > 0 ? { warnings: warnings.length } : {}),
        ...(handedOver === undefined ? {} : { handedOver: true }),
      }
      log.info({ event: 'run-succeeded', ...facts, ...more }, 'run succeeded')
    } else {
      const { code } = result.error
      log.warn(
        { event: `run-${result.state}`, ...facts, code, reason: result.reason },
        'run ended without a reply',
      )
    }
  }
}

function said({ id, sessionKey: session, prompt, startedAt }: RunRecord, reply: string, at: number) {
  const messages = exchange({ id, prompt, askedAt: startedAt ?? at, reply, answeredAt: at })
  return { session, turn: id, messages }
}
