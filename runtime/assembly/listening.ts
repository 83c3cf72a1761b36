/** Listens for requests, at the gateway's address and for a tunnel. */

import type { Settings } from '@reveille/engine'
import { realTimers } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import { writeGatewayFile } from '../gateway-file.ts'
import { type HookSurface, listen, openTunnelListener, type TunnelListener } from '../http/index.ts'
import type { Log } from '../observe/log.ts'
import { clientHeaderOf, createTunnel, type Tunnel, type TunnelOptions } from '../tunnel.ts'
import type { Configured } from './configure.ts'
import type { Assembly } from './options.ts'

export type Listening = ReturnType<typeof createListening>

export function createListening(
  { options, listening }: Assembly,
  { settings, current, log }: Configured,
  { app, hooks }: { readonly app: FastifyInstance; readonly hooks: HookSurface },
) {
  const { host = settings.gateway.host, port = settings.gateway.port } = options
  let tunnelListener: TunnelListener | undefined
  let tunnel: Tunnel | undefined

  /** @throws ListenError */
  async function openTunnel(tunnelOptions: TunnelOptions): Promise<void> {
    const { port, cloudflared: file } = tunnelOptions
    tunnelListener = await openTunnelListener(hooks, { port, clientHeader: clientHeaderOf(tunnelOptions) })
    const target = tunnelListener.address
    log.info({ event: 'tunnel-listening', address: target })
    if (file !== undefined) tunnel = createTunnel({ file, target, log, timers: realTimers })
  }

  return {
    tunnelAddress: () => tunnelListener?.address,
    /** The tunnel's address on the internet, once it has one. */
    tunnelUrl: () => tunnel?.publicUrl(),
    /** Resolves with that address, or with undefined if there is none yet. */
    tunnelOpened: async () => tunnel?.opened,
    /** @throws ListenError */
    async begin(): Promise<string> {
      const url = await listen(app, { host, port, fd: passedSocket(options.env ?? process.env) })
      listening.began = true
      await announce(url, settings, log)
      if (options.tunnel) await openTunnel(options.tunnel)
      const { hooks: now } = current().snapshot.settings
      const hint = 'Write `enabled: true` under `hooks:`.'
      if (!now.enabled) log.warn({ event: 'hooks-off', path: now.path, hint })
      return url
    },
    /** Requests under way have their replies before the tunnel ends. */
    endTunnel: () => tunnelListener?.close().then(() => tunnel?.close()),
  }
}

/**
 * The descriptor of the socket that systemd passes to the process that it starts, and keeps open while that is restarted:
 * https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
 */
function passedSocket({ LISTEN_PID: pid, LISTEN_FDS: count }: NodeJS.ProcessEnv): number | undefined {
  return pid === String(process.pid) && Number(count) > 0 ? 3 : undefined
}

/** Writes the address to the log, and to the file in which commands look for it. */
async function announce(address: string, settings: Settings, log: Log): Promise<void> {
  await writeGatewayFile(settings, address, Date.now()).catch((error) =>
    log.warn({ event: 'gateway-file-not-written', err: error }, 'commands look for the gateway by its files'),
  )
  log.info({ event: 'gateway-listening', address, admin: settings.gateway.tokens.length > 0 })
}
