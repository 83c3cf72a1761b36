/** `reveille route` and `reveille route set`: where replies to `last` go. */

import { openClient } from '../client.ts'
import type { CommandOptions, Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { print } from '../print.ts'
import { addressText } from '../status-text.ts'

export async function showRoute(options: CommandOptions, io: Io): Promise<number> {
  const { route, standIn } = await (await openClient(options, io)).ask('readRoute')
  const meanwhile = standIn ? `: replies to \`last\` go to ${addressText(standIn)} meanwhile` : ''
  const none = `No last route is set${meanwhile}. Set one: ${pasted('route set CHANNEL TO', io)}`
  print(io, options.json, { route, standIn }, () => (route === null ? none : addressText(route)))
  return 0
}

export async function setRoute(
  channel: string,
  to: string | undefined,
  options: CommandOptions,
  io: Io,
): Promise<number> {
  const body = { channel, ...(to !== undefined && { to }) }
  const { route } = await (await openClient(options, io)).ask('setRoute', { body })
  print(io, options.json, { route }, () => `Replies to \`last\` go to ${addressText(route)} from now on.`)
  return 0
}
