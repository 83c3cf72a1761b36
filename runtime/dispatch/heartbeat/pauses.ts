/** Owns when the main session is not asked, and when it is looked at next: quiet hours, nothing pending, a spent budget. */

import type { NewTask, Settlement, Work } from '../../store/port.ts'
import { heartbeatTask } from '../../store/tasks.ts'
import type { Exhausted } from '../budget.ts'
import type { PerformerOptions } from '../options.ts'
import { ownEvent } from '../posting.ts'
import { quietUntil } from './quiet-hours.ts'
import type { HeartbeatBoard } from './state.ts'

export interface HeartbeatPauses {
  /** Undefined where the quiet hours are no reason to wait. */
  quiet(work: Work): Settlement | undefined
  /** Undefined where there is something to ask. */
  idle(work: Work): Settlement | undefined
  spent(exhausted: Exhausted): Settlement
  /** Until the next look: at `nextAt`, else at the timer's next tick. */
  rest(at: number, facts: { readonly succeeded: boolean; readonly nextAt?: number }): NewTask[]
  /** Whether the main session's runner passes events on instead of answering them. */
  relays(): boolean
}

/**
 * One task stands for the timer and for the events that ask for `now`, and does not say which of them armed it: what
 * is pending decides. What puts a heartbeat off therefore settles its task as done and arms it for later, since a
 * task that waits to be tried again would keep such an event waiting, and a changed setting too.
 */
export function createHeartbeatPauses(options: PerformerOptions, board: HeartbeatBoard): HeartbeatPauses {
  const { current, log, mintId, now } = options
  /** The day whose spent budget the log tells of. */
  let toldDay: string | undefined

  function rest(at: number, facts: { readonly succeeded: boolean; readonly nextAt?: number }): NewTask[] {
    const nextAt = facts.nextAt ?? nextTick(at)
    board.rested(at, { nextAt, succeeded: facts.succeeded })
    return nextAt === undefined ? [] : [heartbeatTask(nextAt)]
  }

  /** In quiet hours it is their end, so that what comes meanwhile is shown then. */
  function nextTick(at: number): number | undefined {
    const { everyMs } = rules()
    return everyMs > 0 ? (quietEnd(at) ?? at + everyMs) : undefined
  }

  function quietEnd(at: number): number | undefined {
    const { quietHours } = rules()
    return quietHours && quietUntil(at, quietHours)
  }

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
    rest,
    relays,

    /** Who asked for `now` is heard in quiet hours too, and whoever events are passed on to has hours of their own. */
    quiet({ pending }) {
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

    /** Only a model has an answer to no events: there is nothing to pass on. */
    idle({ pending }) {
      if (pending.all > 0 || (rules().idle && !relays())) return undefined
      log.debug({ event: 'heartbeat-skipped', reason: 'nothing is pending' }, 'heartbeat skipped')
      return { effects: { tasks: rest(now(), { succeeded: false }) }, done: true }
    },

    /** Nothing is consumed, and whoever raises the budget finds the main session at its next tick or event. */
    spent({ what, day, nextDayAt, telling }) {
      const at = now()
      const reason = `${what} is spent for ${day} (UTC)`
      board.waited(at, 'budget', nextDayAt)
      if (toldDay !== day) {
        log.warn({ event: 'heartbeat-postponed', reason, inMs: nextDayAt - at }, 'heartbeat postponed')
      }
      toldDay = day
      const text = `No more runs and heartbeats are performed: ${reason}.`
      const event = ownEvent({ generation: current().generation }, text, { id: mintId(), at })
      return {
        effects: {
          ...(telling && { spend: telling, events: [event] }),
          tasks: [heartbeatTask(nextDayAt)],
        },
        done: true,
      }
    },
  }
}
