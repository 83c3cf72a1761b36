/** `reveille route` and `reveille route set`: where replies to `last` go. */

import type { Route } from '../../store/port.ts'
import type { CommandOptions, Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { addressText } from './delivery-text.ts'

export interface RouteAnswer {
  readonly route: Route | null
  /** Where replies to `last` go while there is no route; absent where they go nowhere. */
  readonly standIn?: Route
}

export async function showRoute(options: CommandOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const { route, standIn } = (await admin.get('/api/route')) as RouteAnswer
  const meanwhile = standIn ? `: replies to \`last\` go to ${addressText(standIn)} meanwhile` : ''
  const none = `No last route is set${meanwhile}. Set one: ${pasted('route set CHANNEL TO', io)}`
  if (options.json) io.out(`${JSON.stringify({ route, standIn }, null, 2)}\n`)
  else io.out(`${route === null ? none : addressText(route)}\n`)
  return 0
}

export async function setRoute(
  channel: string,
  to: string | undefined,
  options: CommandOptions,
  io: Io,
): Promise<number> {
  const admin = await openAdmin(options, io)
  const answer = (await admin.sendJson('PUT', '/api/route', { channel, to })) as { readonly route: Route }
  if (options.json) io.out(`${JSON.stringify({ route: answer.route }, null, 2)}\n`)
  else io.out(`Replies to \`last\` go to ${addressText(answer.route)} from now on.\n`)
  return 0
}
