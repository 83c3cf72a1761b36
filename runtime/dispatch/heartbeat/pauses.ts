/** Decides when the main session is not asked and when it is due next: quiet hours, nothing pending, a spent budget. */

import { ownEvent } from '../../session/summary.ts'
import type { NewTask, Settlement, Work } from '../../store/port.ts'
import { heartbeatTask } from '../../store/task-keys.ts'
import type { Exhausted } from '../budget.ts'
import type { PerformerOptions } from '../performer-options.ts'
import { quietUntil } from './quiet-hours.ts'
import type { HeartbeatBoard } from './state.ts'

export type HeartbeatPauses = ReturnType<typeof createHeartbeatPauses>

/**
 * One task stands for the timer and for the events that ask for `now`, and does not say which of them scheduled it: the
 * pending events decide. A heartbeat that is put off therefore settles its task as done and schedules it for later. A task
 * that waits for its next try would keep events that ask for `now`, and changed settings, waiting.
 */
export function createHeartbeatPauses(options: PerformerOptions, board: HeartbeatBoard) {
  const { current, log, mintId, now } = options
  /** The last day whose spent budget was logged. */
  let reportedDay: string | undefined

  /** Schedules the next heartbeat: at `nextAt`, otherwise at the timer's next tick. */
  function scheduleNext(
    at: number,
    facts: { readonly succeeded: boolean; readonly nextAt?: number },
  ): NewTask[] {
    const nextAt = facts.nextAt ?? nextTick(at)
    board.rested(at, { nextAt, succeeded: facts.succeeded })
    return nextAt === undefined ? [] : [heartbeatTask(nextAt)]
  }

  /** In quiet hours the next tick is at their end, so that events that come meanwhile are shown then. */
  function nextTick(at: number): number | undefined {
    const { everyMs } = rules()
    return everyMs > 0 ? (quietEnd(at) ?? at + everyMs) : undefined
  }

  function quietEnd(at: number): number | undefined {
    const { quietHours } = rules()
    return quietHours && quietUntil(at, quietHours)
  }

  /** Returns whether the main session's runner passes events on instead of answering them. */
  function relays(): boolean {
    return options.relays?.(defaults().runner) === true
  }

  function rules() {
    return defaults().heartbeat
  }

  function defaults() {
    return current().snapshot.settings.agents.defaults
  }

  return {
    scheduleNext,
    relays,

    /**
     * Puts the heartbeat off to the end of the quiet hours. Undefined if they are no reason to wait: events that asked for
     * `now` are shown in quiet hours too, and a system that events are passed on to has hours of its own.
     */
    quiet({ pending }: Work): Settlement | undefined {
      const at = now()
      const until = pending.now > 0 || relays() ? undefined : quietEnd(at)
      if (until === undefined) return undefined
      log.debug(
        { event: 'heartbeat-postponed', reason: 'quiet hours', inMs: until - at },
        'heartbeat postponed',
      )
      board.waited(at, 'quiet', until)
      return { effects: { tasks: [heartbeatTask(until)] }, done: true }
    },

    /**
     * Puts the heartbeat off to the next tick. Undefined if there is something to ask. Without events only a model can be
     * asked: there is nothing to pass on.
     */
    idle({ pending }: Work): Settlement | undefined {
      if (pending.all > 0 || (rules().idle && !relays())) return undefined
      log.debug({ event: 'heartbeat-skipped', reason: 'nothing is pending' }, 'heartbeat skipped')
      return { effects: { tasks: scheduleNext(now(), { succeeded: false }) }, done: true }
    },

    /** Puts the heartbeat off to the next day. Nothing is consumed. After the budget was raised, the main session goes on with its next tick or event. */
    spent({ what, day, nextDayAt, report }: Exhausted): Settlement {
      const at = now()
      const reason = `${what} is spent for ${day} (UTC)`
      board.waited(at, 'budget', nextDayAt)
      if (reportedDay !== day) {
        log.warn({ event: 'heartbeat-postponed', reason, inMs: nextDayAt - at }, 'heartbeat postponed')
      }
      reportedDay = day
      const text = `No more runs and heartbeats are performed: ${reason}.`
      const event = ownEvent({ generation: current().generation }, text, { id: mintId(), at })
      return {
        effects: {
          ...(report && { spend: report, events: [event] }),
          tasks: [heartbeatTask(nextDayAt)],
        },
        done: true,
      }
    },
  }
}
