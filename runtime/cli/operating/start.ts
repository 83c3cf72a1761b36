/** `reveille start`: runs the gateway in the foreground until it is stopped. */

import inspector from 'node:inspector'
import { flushCompileCache } from 'node:module'
import { constants } from 'node:os'
import { createGateway, type Gateway } from '../../gateway.ts'
import { ListenError } from '../../http/index.ts'
import { neverBlock } from '../../observe/standard-error.ts'
import { ConfigurationError } from '../../reload/start.ts'
import { StoreError } from '../../store/port.ts'
import { findCloudflared, type TunnelOptions } from '../../tunnel.ts'
import { badUsage, failure, storeFailure } from '../command-failure.ts'
import { findConfiguration, formatDiagnostics } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { createReloadSignal, createStopSignal } from '../signals.ts'
import { bannerText } from './banner.ts'
import { writeFirst } from './init.ts'

/** Milliseconds that the exit waits for standard output to accept what was written. */
const lastOutputMs = 1000

export async function start(io: Io, options: CommandOptions): Promise<number> {
  neverBlock(process.stdout)
  const port = portOf(io, options)
  const tunnel = await tunnelOf(io, options)
  openInspector(io, options)
  const isFirst = await writeFirst(io, options)
  const configFile = findConfiguration(io)
  const { gateway, address } = await openGateway(
    configFile,
    options,
    { host: options.host ?? (io.env['REVEILLE_HOST'] || undefined), port, tunnel },
    io,
  )
  const stop = createStopSignal({
    signals: process,
    onInsist(signal) {
      if (gateway.isStuck()) process.kill(process.pid, 'SIGKILL')
      process.exit(128 + constants.signals[signal])
    },
  })
  const reloading = createReloadSignal({
    signals: process,
    platform: process.platform,
    hasTerminal: process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY,
    onReload: () => void reload(gateway),
    onTerminalGone() {
      // The signal then ends the process by default, since there is nowhere left to report anything.
      reloading.close()
      process.kill(process.pid, 'SIGHUP')
    },
  })
  // A service's journal needs no lines to paste.
  if (options.init || isFirst || io.columns !== undefined) {
    const tunnelled = Promise.race([gateway.publicUrl(), stop.first.then(() => undefined)])
    const publicUrl = await within(maxTunnelMs, tunnelled)
    const watch = options.watch ?? true
    io.out(`${await bannerText(gateway, { address, publicUrl, configFile, watch }, io)}\n`)
  }
  // A gateway that is killed would leave the next one nothing of what was compiled.
  flushCompileCache()
  // A supervisor restarts a gateway whose exit code is not 0.
  const end = await Promise.race([stop.first, gateway.failed])
  const isFailure = typeof end !== 'string'
  const closing = gateway.close(isFailure ? { graceMs: 0 } : {}).then(() => true)
  const isClosed = await within(maxCloseMs, closing)
  stop.close()
  reloading.close()
  // The handlers are gone, so the signal ends the process; a failure must not look like a stop on request.
  if (!isClosed || gateway.isStuck()) process.kill(process.pid, isFailure ? 'SIGKILL' : end)
  setTimeout(() => process.exit(), lastOutputMs).unref()
  return isFailure ? 1 : 0
}

/** Milliseconds that the banner waits for the address of a tunnel; the log then has it later. */
const maxTunnelMs = 15_000
/** The grace period of running turns, and the time that the rest of a close takes unless a disk hangs. Milliseconds. */
const maxCloseMs = 45_000

/** Undefined where the time is over first. */
async function within<Value>(ms: number, work: Promise<Value>): Promise<Value | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, ms, undefined)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}

/** The log says what came of it, as after a changed file, also where nothing did. */
async function reload(gateway: Gateway): Promise<void> {
  try {
    const { outcome, generation } = await gateway.reload()
    gateway.log.info({ event: 'reload-asked', by: 'SIGHUP', outcome, generation })
  } catch {
    // The gateway is closing, which the log says already.
  }
}

/** @throws CommandFailure (bad usage) */
function portOf({ env }: Io, { port }: CommandOptions): number | undefined {
  const text = port ?? (env['REVEILLE_PORT'] || undefined)
  return text === undefined ? undefined : parsePort(text, port === undefined ? 'REVEILLE_PORT' : '--port')
}

/** @throws CommandFailure (bad usage, or no `cloudflared`) */
async function tunnelOf(io: Io, { tunnel, tunnelPort }: CommandOptions): Promise<TunnelOptions | undefined> {
  if (!tunnel && tunnelPort === undefined) return undefined
  const port = tunnelPort === undefined ? 0 : parsePort(tunnelPort, '--tunnel-port')
  if (!tunnel) return { port }
  const cloudflared = await findCloudflared(io.env)
  if (cloudflared === undefined) throw failure(withoutCloudflared)
  return { port, cloudflared }
}

const withoutCloudflared = `--tunnel needs the program cloudflared, which is in no folder of PATH. Install it:

  macOS    brew install cloudflared
  Windows  winget install --id Cloudflare.cloudflared
  Linux    a package or the program itself, from https://pkg.cloudflare.com

Another tunnel, such as ngrok or Tailscale Funnel, can lead to a port of your choice: \`reveille start --tunnel-port 8788\`.`

/** @throws CommandFailure (bad usage) */
function parsePort(text: string, name: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw badUsage(`${name} must be a whole number from 0 to 65535; 0 takes a free port.`)
}

/**
 * Opens the inspector of this process. With `NODE_OPTIONS=--inspect` the Node.js that only starts the gateway would take
 * the port.
 *
 * @throws CommandFailure
 */
function openInspector(io: Io, { inspect }: CommandOptions): void {
  if (inspect === undefined) return
  const port = inspect === true ? 9229 : parsePort(inspect, '--inspect')
  if (inspector.url() === undefined) inspector.open(port, '127.0.0.1')
  if (inspector.url() === undefined)
    throw failure(`No debugger can attach at port ${port}. Choose another one: --inspect=${port + 1}`)
  io.err(
    'Every program of this machine that reaches that port can run code as this user. Transforms have no deadline.\n',
  )
}

/** Settings from the options and the environment, which override the configuration. */
interface Given {
  readonly host: string | undefined
  readonly port: number | undefined
  readonly tunnel: TunnelOptions | undefined
}

/** @throws CommandFailure with a message for the operator */
async function openGateway(
  configFile: string,
  { poll, watch, lastGood, role, node }: CommandOptions,
  { host, port, tunnel }: Given,
  io: Io,
): Promise<{ gateway: Gateway; address: string }> {
  let gateway: Gateway | undefined
  try {
    gateway = await createGateway({
      configFile,
      env: io.env,
      poll,
      watch,
      lastGood,
      ...(role && { role }),
      node: node ?? (io.env['REVEILLE_NODE'] || undefined),
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      ...(tunnel && { tunnel }),
    })
    return { gateway, address: await gateway.listen() }
  } catch (error) {
    await gateway?.close({ graceMs: 0 })
    if (error instanceof ConfigurationError) {
      const found = formatDiagnostics(error.diagnostics, io)
      const way = error.lastGeneration === undefined ? '' : `\n\n${lastGoodText(error.lastGeneration)}`
      throw failure(`${found}${way}`, { cause: error })
    }
    if (error instanceof ListenError) throw failure(error.message, { cause: error })
    if (error instanceof StoreError) throw storeFailure(error)
    throw error
  }
}

function lastGoodText(generation: number): string {
  return `Generation ${generation} was live last. \`reveille start --last-good\` serves it meanwhile, with its settings and policies.`
}
