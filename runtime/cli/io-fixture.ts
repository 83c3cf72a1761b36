/** Runs commands on the real files of a temporary folder; used by tests only. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { runCli } from './cli.ts'
import type { Io } from './io.ts'

export interface Answer {
  readonly code: number
  readonly out: string
  readonly err: string
}

interface CommandLine {
  readonly cwd: string
  write(name: string, content: string): Promise<void>
  run(...args: readonly string[]): Promise<Answer>
  /** Starts a command that runs until it is stopped. */
  start(...args: readonly string[]): RunningCommand
}

interface RunningCommand {
  /** Resolves with all that was written once it matches. */
  until(fits: RegExp): Promise<string>
  /** Sends Ctrl-C. */
  stop(): Promise<Answer>
  readonly ended: Promise<Answer>
}

/** A test that waits longer fails. */
const maxWaitMs = 30_000

export async function createCommandLine(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
  overrides: Partial<Io> = {},
): Promise<CommandLine> {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-cli-')))
  // A process that a test has started may still write here.
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 5 }))

  async function write(name: string, content: string): Promise<void> {
    await mkdir(path.dirname(path.join(cwd, name)), { recursive: true })
    await writeFile(path.join(cwd, name), content)
  }

  function start(...args: readonly string[]): RunningCommand {
    const written = { out: '', err: '' }
    let all = ''
    const changed = new EventEmitter()
    const signals = new EventEmitter()
    const keep = (name: 'out' | 'err') => (text: string) => {
      written[name] += text
      all += text
      changed.emit('text')
    }
    const io: Io = {
      out: keep('out'),
      err: keep('err'),
      env: {},
      cwd,
      now: () => Date.UTC(2026, 2, 2, 12),
      // A shorter wait changes nothing but the duration of the test.
      pause: (ms) => pause(Math.min(ms, 5)),
      fetch: () => Promise.reject(new TypeError('no network')),
      signals,
      ...overrides,
    }
    const ended = runCli(['node', 'reveille', ...args], io).then((code) => ({ code, ...written }))
    const interrupt = () => signals.emit('SIGINT', 'SIGINT')
    // A test that failed has not stopped it, and its watcher would keep the process alive.
    t.after(interrupt)
    return {
      until: (fits) =>
        new Promise((resolve, reject) => {
          const look = () => fits.test(all) && resolve(all)
          changed.on('text', look)
          look()
          void ended.then(() => reject(new Error(`it ended before ${fits}`)), reject)
          const late = () => reject(new Error(`waited ${maxWaitMs / 1000} s for ${fits} in:\n${all}`))
          AbortSignal.timeout(maxWaitMs).addEventListener('abort', late)
        }),
      stop() {
        interrupt()
        return ended
      },
      ended,
    }
  }

  for (const [name, content] of Object.entries(files)) await write(name, content)
  return {
    cwd,
    write,
    start,
    run: (...args) => start(...args).ended,
  }
}

export interface Asked {
  /** `POST /api/requests/replay`, with the query. */
  readonly route: string
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * Runs commands against a gateway that answers as a test says. `answer` gives what a route answers, or throws where no gateway answers;
 * undefined fails the test. An answer with a code and an error has status 409.
 */
export async function createGatewayCommands(
  t: Pick<TestContext, 'after'>,
  answer: (asked: Asked) => object | undefined,
  overrides: Partial<Io> = {},
): Promise<CommandLine & { readonly asked: readonly Asked[] }> {
  const asked: Asked[] = []
  const gateway: Partial<Io> = {
    env: { REVEILLE_URL: 'http://127.0.0.1:1', REVEILLE_GATEWAY_TOKEN: 'token-of-the-gateway' },
    async fetch(input, init) {
      const { pathname, search } = new URL(String(input))
      const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {}
      const order = { route: `${init?.method ?? 'GET'} ${pathname}${search}`, body }
      asked.push(order)
      const given = answer(order)
      assert.ok(given, order.route)
      return Response.json(given, { status: 'code' in given && 'error' in given ? 409 : 200 })
    },
  }
  return { ...(await createCommandLine(t, {}, { ...gateway, ...overrides })), asked }
}
