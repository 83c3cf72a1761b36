/**
 * Makes hooks reachable from the internet through a tunnel: a listener that serves hooks alone, and the program `cloudflared` that leads
 * there, which is started again whenever it ends.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { devNull } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Timers } from '@reveille/engine'
import { cut } from './cut.ts'
import type { Log } from './observe/log.ts'

export interface TunnelOptions {
  /** The port of the listener; 0 takes a free one. */
  readonly port: number
  /** The path of `cloudflared`. Absent: another program leads to the listener. */
  readonly cloudflared?: string
}

/**
 * The header to whose list a tunnel appends the address of its client: that of Cloudflare's edge, which replaces what a client sends
 * (https://developers.cloudflare.com/fundamentals/reference/http-headers/), else the usual one.
 */
export function clientHeaderOf({ cloudflared }: TunnelOptions): string {
  return cloudflared === undefined ? 'x-forwarded-for' : 'cf-connecting-ip'
}

/** Finds `cloudflared` in the folders of PATH. Resolves with undefined if it is in none. */
export async function findCloudflared(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const name = process.platform === 'win32' ? 'cloudflared.exe' : 'cloudflared'
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, name)
    const isProgram = path.isAbsolute(folder) && access(file, constants.X_OK)
    if (
      isProgram &&
      (await isProgram.then(
        () => true,
        () => false,
      ))
    )
      return file
  }
  return undefined
}

export type Tunnel = ReturnType<typeof createTunnel>

type Child = ChildProcessByStdio<Writable, null, Readable>

const firstPauseMs = 1000
const maxPauseMs = 60_000
/** Milliseconds that `cloudflared` may take to exit. */
const endMs = 5000
/** Maximum length of a line of `cloudflared` that is quoted in the log. Characters. */
const maxLineLength = 300

/** The gateway's secrets are not among these. */
const passedOn = [
  'PATH',
  'HOME',
  'TMPDIR',
  'SystemRoot',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
]

/**
 * The address that Cloudflare gave the tunnel is alone in a line of a box; a message about a failure has that of its API.
 * https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/do-more-with-tunnels/trycloudflare/
 */
const publicAddress = /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com\b/

/**
 * Runs `cloudflared` with its own process group, so that Ctrl-C does not end it before the requests under way have their replies. It
 * ends with the gateway also where that is killed: a shell beside it reads a pipe that only the gateway holds open.
 */
function startCloudflared(file: string, target: string): Child {
  // The file that a user may have for tunnels of another kind must not be read.
  const args = ['--config', devNull, 'tunnel', '--no-autoupdate', '--url', target]
  const watch = 'exec 3<&0; (cat <&3 >/dev/null; kill $$) 2>/dev/null & exec "$0" "$@" 3<&- </dev/null'
  const isPosix = process.platform !== 'win32'
  const [program, ...words] = isPosix ? ['/bin/sh', '-c', watch, file, ...args] : [file, ...args]
  return spawn(program as string, words, {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: Object.fromEntries(passedOn.map((name) => [name, process.env[name]])),
    detached: isPosix,
    windowsHide: true,
  })
}

export function createTunnel({
  file,
  target,
  log,
  timers,
}: {
  /** The path of `cloudflared`. */
  readonly file: string
  /** Where the tunnel leads: `http://127.0.0.1:41234`. */
  readonly target: string
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly timers: Timers
}) {
  const first = Promise.withResolvers<string | undefined>()
  let child: Child | undefined
  let publicUrl: string | undefined
  let pauseMs = firstPauseMs
  let timer: unknown
  let isClosing = false

  function start(): void {
    timer = undefined
    const started = startCloudflared(file, target)
    child = started
    let lastError = ''
    started.stdin.on('error', () => {})
    createInterface({ input: started.stderr }).on('line', (line) => {
      if (/\bERR\b|error/i.test(line)) lastError = cut(line, maxLineLength)
      const [address] = publicAddress.exec(line) ?? []
      if (address === undefined || address === publicUrl || started !== child) return
      publicUrl = address
      pauseMs = firstPauseMs
      log.info({ event: 'tunnel-open', address })
      first.resolve(address)
    })
    started.once('error', ({ message }) => ended(started, message))
    started.once('exit', (code, signal) =>
      ended(started, lastError || `it ended with ${signal ?? `exit code ${code}`}`),
    )
  }

  function ended(which: Child, reason: string): void {
    which.stdin.destroy()
    if (which !== child) return
    child = undefined
    publicUrl = undefined
    first.resolve(undefined)
    if (isClosing) return
    log.warn({ event: 'tunnel-ended', reason, againInMs: pauseMs })
    timer = timers.setTimeout(start, pauseMs)
    pauseMs = Math.min(2 * pauseMs, maxPauseMs)
  }

  start()
  return {
    /** The address on the internet; undefined until it is known, and while the tunnel is down. */
    publicUrl: () => publicUrl,
    /** Resolves with the first address, or with undefined if `cloudflared` ended before it had one. */
    opened: first.promise,
    async close(): Promise<void> {
      isClosing = true
      if (timer !== undefined) timers.clearTimeout(timer)
      const last = child
      if (last === undefined) return
      const exited = once(last, 'exit')
      last.kill()
      const late = timers.setTimeout(() => last.kill('SIGKILL'), endMs)
      await exited
      timers.clearTimeout(late)
    },
  }
}
