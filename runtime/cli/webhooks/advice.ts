/** Advises once a source is connected: what still keeps its events from an agent, and how to see that it works. */

import { stat } from 'node:fs/promises'
import type { Configuration } from '@reveille/engine'
import type { Connection } from '@reveille/kit'
import { assumedRoute } from '../../dispatch/index.ts'
import { sourcesFolder } from '../../sources/index.ts'
import { connectionTo } from '../client.ts'
import { createGatewayView } from '../doctor/gateway-view.ts'
import type { Io } from '../io.ts'
import { pasted, shellWord } from '../pasted.ts'

export async function adviceFor(
  { settings, mappings }: Configuration,
  { preset, howToTry, endpoints = {} }: Connection,
  io: Io,
) {
  const hasOwnChannel = mappings.some(
    ({ origin, value }) => origin.kind === 'preset' && origin.name === preset && value.channel !== undefined,
  )
  const view = createGatewayView(await connectionTo(settings, io), io)
  const isRunning = (await view.reach()).is === 'there'
  const hasRoute =
    settings.agents.route !== undefined ||
    assumedRoute(settings.channels)?.to !== undefined ||
    hasOwnChannel ||
    (isRunning && (await isRouted()))

  /** Whether a running gateway has a last route. */
  async function isRouted(): Promise<boolean> {
    try {
      const { route } = await (await view.admin()).ask('readRoute')
      return route !== null
    } catch {
      return false
    }
  }

  const isSilent = Object.keys(settings.channels).length === 0
  return {
    /** What keeps events from an agent. */
    warnings: [
      ...(settings.hooks.enabled ? [] : ['hooks.enabled is not true: nothing is taken until it is.']),
      ...(isSilent ? [`There is no channel for replies yet: ${pasted('init channel slack', io)}`] : []),
      ...(isSilent || hasRoute
        ? []
        : [`Nothing says where replies go: ${pasted('route set CHANNEL', io)}, or agents.route.`]),
      ...Object.entries(endpoints).flatMap(([name, policy]) => ledAstray(name, policy, settings.hooks.path)),
      ...(await ownedByAnother(settings.gateway.dataDir)),
    ],
    /** The next steps, in lines. */
    next: [
      isRunning
        ? `The gateway at ${view.address} takes it up by itself.`
        : `Start the gateway, which runs the source: ${pasted('start', io)}`,
      ...(howToTry === undefined ? [] : [`${howToTry}, and see what comes of it: ${pasted('runs', io)}`]),
      `The state of the source: ${pasted('status', io)}`,
    ],
  }
}

/** A proxy may lead another path to the gateway, but a path with another end is more often a slip. */
function ledAstray(endpoint: string, { verify }: Readonly<Record<string, unknown>>, path: string): string[] {
  const { audience } = (verify ?? {}) as { readonly audience?: unknown }
  const posted = typeof audience === 'string' ? URL.parse(audience) : null
  if (posted === null || posted.pathname.endsWith(`/${endpoint}`)) return []
  return [
    `Notifications are posted to ${audience}, and the gateway takes them at ${path}/${endpoint}: correct --push-endpoint, unless something leads from there to here.`,
  ]
}

/** Root may set a mailbox up for a gateway that runs as another user. */
async function ownedByAnother(dataDir: string): Promise<string[]> {
  const folder = sourcesFolder(dataDir)
  const [whole, part] = await Promise.all(
    [stat(dataDir), stat(folder)].map((each) => each.catch(() => undefined)),
  )
  if (whole === undefined || part === undefined || whole.uid === part.uid) return []
  return [
    `${folder} does not belong to the owner of the data folder, as whom the gateway may run: \`chown -R ${whole.uid}:${whole.gid} ${shellWord(folder)}\``,
  ]
}
