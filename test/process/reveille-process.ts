/** Runs the command line as users do: in its own process, from the bundle, until the test ends. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { atEnd } from '../at-end.ts'
import { bundledCommand } from '../bundle.ts'
import { gatewayToken, hookToken, type LogLine } from '../installation.ts'

export type ReveilleProcess = Awaited<ReturnType<typeof spawnReveille>>

export interface SpawnOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** The module that Node.js runs. Default: the bundle. */
  readonly entry?: string
  /** Default: the user of the test. Only root can name another. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

const timeoutMs = 20_000
/** For `test`: a hanging process fails its test after this time. Milliseconds. */
export const limit = { timeout: 30_000 }

/** Bundles the command. To be called before the first process is started, so that no test pays for its time. */
export const build = bundledCommand

export async function spawnReveille(
  t: TestContext,
  args: readonly string[],
  { cwd, env = {}, entry, user }: SpawnOptions,
) {
  const child = spawn(process.execPath, [entry ?? (await build()), ...args], {
    cwd,
    env: { ...withoutReveille(process.env), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  let [out, err, both] = ['', '', '']
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
    both += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
    both += chunk
  })
  let isOver = false
  const ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> = once(
    child,
    'close',
  ).then(([code, signal]) => {
    isOver = true
    return { code, signal }
  })
  atEnd(t, async () => {
    child.kill('SIGKILL')
    await ended
  })

  function lines(): LogLine[] {
    const whole = err.slice(0, err.lastIndexOf('\n') + 1).split('\n')
    return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  }

  return {
    stdout: () => out,
    stderr: () => err,
    /** Both streams as a terminal shows them, in the order in which they were read. */
    both: () => both,
    /** The log so far. */
    lines,
    /** Resolves with the first line of an event. @throws Error if the process ends without it, or the time is over */
    async line(event: string): Promise<LogLine> {
      const timeout = AbortSignal.timeout(timeoutMs)
      for (;;) {
        const found = lines().find((line) => line.event === event)
        if (found) return found
        if (isOver) throw new Error(`It ended without a line ${event}:\n${err}\n${out}`)
        await Promise.race([once(child.stderr, 'data', { signal: timeout }), ended])
      }
    },
    send: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Resolves when the process has ended and both streams are read. */
    ended,
  }
}

/** Runs a command to its end. */
export async function runReveille(t: TestContext, args: readonly string[], options: SpawnOptions) {
  const command = await spawnReveille(t, args, options)
  const { code } = await command.ended
  return { code, out: command.stdout(), err: command.stderr() }
}

/** Hooks and the admin API, on any port. */
export const bareConfiguration = `gateway: { port: 0, auth: { token: ${gatewayToken} } }
hooks: { enabled: true, token: ${hookToken} }
`

/** Resolves with the gateway and its address once it accepts requests. `more` follows `start`. */
export async function startReveille(
  t: TestContext,
  cwd: string,
  options: Omit<SpawnOptions, 'cwd'> = {},
  ...more: readonly string[]
) {
  const gateway = await spawnReveille(t, ['start', ...more], { cwd, ...options })
  const { address } = await gateway.line('gateway-listening')
  return {
    ...gateway,
    address: String(address),
    async post(path: string, body: object, token = hookToken) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const answer = await fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { status: answer.status, body: (await answer.json()) as Readonly<Record<string, unknown>> }
    },
    /** Returns an answer of the admin API. */
    async read<Item>(path: string): Promise<Item> {
      const answer = await fetch(address + path, { headers: { authorization: `Bearer ${gatewayToken}` } })
      assert.equal(answer.status, 200, path)
      return (await answer.json()) as Item
    },
    /** Ends it in order. */
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      gateway.send(signal)
      assert.deepEqual(await gateway.ended, { code: 0, signal: null }, gateway.stderr())
    },
  }
}

/** The developer's machine may have settings of its own gateway. */
function withoutReveille(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('REVEILLE_')))
}
