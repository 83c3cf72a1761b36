/** `reveille route` and `reveille route set`: where replies to `last` go. */

import type { Route } from '../../store/port.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { openAdmin } from '../reading/admin-client.ts'
import { addressText } from './ending.ts'

export interface RouteOptions {
  readonly config?: string
  readonly json?: boolean
}

export async function showRoute(options: RouteOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const { route } = (await admin.get('/api/route')) as { readonly route: Route | null }
  const none = `No last route is set. Set one: ${pasted('route set CHANNEL TO', io)}`
  if (options.json) io.out(`${JSON.stringify({ route }, null, 2)}\n`)
  else io.out(`${route === null ? none : addressText(route)}\n`)
  return 0
}

export async function setRoute(route: Route, options: RouteOptions, io: Io): Promise<number> {
  const admin = await openAdmin(options, io)
  const answer = (await admin.give('PUT', '/api/route', route)) as { readonly route: Route }
  if (options.json) io.out(`${JSON.stringify({ route: answer.route }, null, 2)}\n`)
  else io.out(`Replies to \`last\` go to ${addressText(answer.route)} from now on.\n`)
  return 0
}
