/** Owns what is said once a mailbox is connected: what stands in its way still, and how to see that it works. */

import type { Configuration } from '@reveille/engine'
import { createGatewayView } from '../doctor/gateway-view.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'

export interface Advice {
  /** What stands in the way. */
  readonly warnings: readonly string[]
  /** Lines. */
  readonly next: readonly string[]
}

export async function adviceFor(
  { settings, mappings }: Configuration,
  account: string,
  io: Io,
): Promise<Advice> {
  const hasOwnChannel = mappings.some(
    ({ origin, value }) => origin.kind === 'preset' && origin.name === 'gmail' && value.channel !== undefined,
  )
  const view = createGatewayView(settings, io)
  const isRunning = (await view.reach()).is === 'there'
  const hasRoute = settings.agents.route !== undefined || hasOwnChannel || (isRunning && (await isRouted()))

  /** By `reveille route set`, or because somebody wrote last. */
  async function isRouted(): Promise<boolean> {
    try {
      const { route } = (await (await view.admin()).get('/api/route')) as { readonly route: unknown }
      return route !== null
    } catch {
      return false
    }
  }

  const isSilent = Object.keys(settings.channels).length === 0
  return {
    warnings: [
      ...(settings.hooks.enabled ? [] : ['hooks.enabled is not true: no mail is taken until it is.']),
      ...(isSilent ? [`There is no channel for replies yet: ${pasted('init channel slack', io)}`] : []),
      ...(isSilent || hasRoute
        ? []
        : [`Nothing says where replies go: ${pasted('route set CHANNEL', io)}, or agents.route.`]),
    ],
    next: [
      isRunning
        ? `The gateway at ${view.address} takes it up by itself.`
        : `Start the gateway, which watches the mailbox: ${pasted('start', io)}`,
      `Send a mail to ${account}, and see what comes of it: ${pasted('runs', io)}`,
      `How the watch fares: ${pasted('status', io)}`,
    ],
  }
}
