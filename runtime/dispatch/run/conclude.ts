/** Owns what follows from the end of a hook's run: history, summary and deliveries, all in one settlement. */

import { type Ending, endingFields } from '../../agent/ending.ts'
import { exchange } from '../../session/history.ts'
import { summaryEvent } from '../../session/summary.ts'
import type { Effects, EventRecord, RunRecord, Settlement, Work } from '../../store/port.ts'
import { type Changed, changesOf, names, stateKept } from '../changes.ts'
import { planDeliveries, reportUnsent } from '../delivery/outgoing.ts'
import type { PerformerOptions } from '../options.ts'
import { heartbeatFor } from '../posting.ts'

export interface Conclusion extends Changed {
  readonly ending: Ending
  readonly work: Work
  readonly at: number
  readonly spend?: Effects['spend']
  /** Turns that are not shown again, once this one succeeded. */
  readonly compact?: Effects['compact']
}

export function createConclude(options: PerformerOptions): (conclusion: Conclusion) => Settlement {
  const { current, log, mintId } = options

  return function conclude(conclusion) {
    const { run, ending, at } = conclusion
    reportEnd(run, ending, at)
    const isElsewhere = ending.state === 'succeeded' && ending.handedOver !== undefined
    const { run: fields, ...followed } = isElsewhere ? nothingFollows(at) : followUp(conclusion)
    return {
      effects: {
        run: { ...changesOf(conclusion), ...endingFields(ending), ranAt: run.ranAt ?? at, ...fields },
        runnerState: stateKept(run, ending),
        spend: conclusion.spend,
        compact: ending.state === 'succeeded' ? conclusion.compact : undefined,
        ...followed,
      },
      done: true,
    }
  }

  /** Whoever took the turn over answers, summarises and delivers. */
  function nothingFollows(at: number) {
    return { run: { stage: 'delivered', deliveredAt: at } } as const
  }

  function followUp({ run, ending, work, at }: Conclusion) {
    const event = summarise(run, ending, at)
    const reply = ending.state === 'succeeded' ? ending.reply : undefined
    const { settings } = current().snapshot
    const { deliveries, tasks, open } = planDeliveries(run, reply, {
      route: work.route,
      channels: { channel: options.channel, channels: settings.channels },
      ackToken: settings.agents.defaults.heartbeat.ackToken,
      mintId,
      at,
    })
    log.info({ event: 'summary-posted', ...names(run), eventId: event.id }, 'summary posted')
    for (const delivery of deliveries) reportUnsent(log, run, delivery)
    return {
      run: {
        stage: open ? 'summarised' : 'delivered',
        summarisedAt: at,
        ...(open ? {} : { deliveredAt: at }),
        summaryEventId: event.id,
        deliveryIds: deliveries.map(({ id }) => id),
      },
      append: reply === undefined ? [] : [said(run, reply, at)],
      events: [event],
      deliveries,
      tasks: [...heartbeatFor(event, options), ...tasks],
    } as const
  }

  function summarise(run: RunRecord, ending: Ending, at: number): EventRecord {
    const label = 'the summary of a hook run'
    return summaryEvent(run, ending, {
      id: mintId(),
      at,
      fence: (text) => options.fence(text, { label, randomId: options.randomId }),
    })
  }

  function reportEnd(run: RunRecord, ending: Ending, at: number) {
    const facts = {
      ...names(run),
      runner: run.runner,
      attempts: run.attempts.length,
      ms: at - (run.startedAt ?? at),
    }
    if (ending.state === 'succeeded') {
      const { warnings = [], handedOver } = ending
      const more = {
        ...(warnings.length > 0 ? { warnings: warnings.length } : {}),
        ...(handedOver === undefined ? {} : { handedOver: true }),
      }
      log.info({ event: 'run-succeeded', ...facts, ...more }, 'run succeeded')
    } else {
      const { code } = ending.error
      log.warn(
        { event: `run-${ending.state}`, ...facts, code, reason: ending.reason },
        'run ended without a reply',
      )
    }
  }
}

function said({ id, sessionKey: session, prompt, startedAt }: RunRecord, reply: string, at: number) {
  const messages = exchange({ id, prompt, askedAt: startedAt ?? at, reply, answeredAt: at })
  return { session, turn: id, messages }
}
