/** Owns commands from outside a claim: the main session's last route, and tasks armed by the clock's owner. */

import type { DatabaseSync } from 'node:sqlite'
import type { Command, CommandResult, Route } from '../port.ts'
import type { Schedule } from './schedule.ts'

export type RoutingCommand = Exclude<Command, { type: 'cancel' | 'resume' | 'send' | 'replay-delivery' }>

export interface Routing {
  obey(command: RoutingCommand): CommandResult
}

export function createRouting(db: DatabaseSync, schedule: Schedule): Routing {
  const select = db.prepare('SELECT by_hand FROM route')
  const upsert = db.prepare('INSERT OR REPLACE INTO route VALUES (1, ?, ?, ?)')
  const remove = db.prepare('DELETE FROM route')

  const set = (route: Route, byHand: boolean) => {
    upsert.run(route.channel, route.to ?? null, byHand ? 1 : 0)
  }

  return {
    obey(command) {
      switch (command.type) {
        case 'set-route':
          set(command.route, true)
          return { ok: true }
        case 'offer-route': {
          const current = select.get() as { by_hand: number } | undefined
          if (current?.by_hand === 1) return { ok: false, reason: 'the route was set by hand' }
          if (command.route === undefined) remove.run()
          else set(command.route, false)
          return { ok: true }
        }
        case 'arm':
          schedule.arm(command.task)
          return { ok: true }
        case 'hasten':
          schedule.hasten(command.task, command.dueAt)
          return { ok: true }
      }
    },
  }
}
