/** Carries out the commands of the admin surface and of the gateway itself, each inside the batch's transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { Command, CommandResult, Route } from '../../port.ts'
import type { Parts } from '../parts.ts'
import { createAdminSend } from './admin-send.ts'
import { createRunCommands } from './run-commands.ts'

/** Carries out a command. `claimed` names the task whose claim hears of the cancel once this is committed. */
export type RunCommand = (command: Command) => CommandResult & { readonly claimed?: string }

export function createCommands(parts: Parts): RunCommand {
  const { db, schedule } = parts
  const runCommands = createRunCommands(parts)
  const adminSend = createAdminSend(parts)
  const routes = createRoutes(db)

  return (command) => {
    switch (command.type) {
      case 'cancel':
        return runCommands.cancel(command)
      case 'resume':
        return runCommands.resume(command)
      case 'send':
        return adminSend.send(command)
      case 'replay-delivery':
        return adminSend.replay(command)
      case 'set-route':
        return routes.set(command.route)
      case 'offer-route':
        return routes.offer(command.route)
      case 'schedule':
        schedule.add(command.task)
        return { ok: true }
      case 'expedite':
        schedule.expedite(command.task, command.dueAt)
        return { ok: true }
    }
  }
}

/** The last route of the main session: one that an operator set wins over the configured one. */
function createRoutes(db: DatabaseSync) {
  const select = db.prepare('SELECT by_hand FROM route')
  const upsert = db.prepare('INSERT OR REPLACE INTO route VALUES (1, ?, ?, ?)')
  const remove = db.prepare('DELETE FROM route')

  const write = (route: Route, byHand: boolean): CommandResult => {
    upsert.run(route.channel, route.to ?? null, byHand ? 1 : 0)
    return { ok: true }
  }

  return {
    set: (route: Route) => write(route, true),
    offer(route: Route | undefined): CommandResult {
      const current = select.get() as { by_hand: number } | undefined
      if (current?.by_hand === 1) return { ok: false, reason: 'the route was set by hand' }
      if (route !== undefined) return write(route, false)
      remove.run()
      return { ok: true }
    },
  }
}
