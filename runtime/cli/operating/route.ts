/** `reveille route` and `reveille route set`: where replies to `last` go. */

import { openClient } from '../client.ts'
import type { Io } from '../io.ts'
import { print } from '../print.ts'
import { addressText } from '../status-text.ts'

export async function showRoute(io: Io): Promise<number> {
  const { route, standIn } = await (await openClient(io)).ask('readRoute')
  const meanwhile = standIn ? `: replies to \`last\` go to ${addressText(standIn)} meanwhile` : ''
  const none = `No last route is set${meanwhile}. Set one: \`reveille route set CHANNEL TO\``
  return print(io, { route, standIn }, () => (route === null ? none : addressText(route)))
}

export async function setRoute(channel: string, to: string | undefined, io: Io): Promise<number> {
  const body = { channel, ...(to !== undefined && { to }) }
  const { route } = await (await openClient(io)).ask('setRoute', { body })
  return print(io, { route }, () => `Replies to \`last\` go to ${addressText(route)} from now on.`)
}
