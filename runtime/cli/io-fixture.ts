/** Owns a folder and a command line for tests that run commands on real files; used by tests only. */

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
  /** A command that goes on until it is told to stop. */
  start(...args: readonly string[]): Going
}

interface Going {
  /** Resolves with all that was written, once it fits. */
  until(fits: RegExp): Promise<string>
  /** Ctrl-C. */
  stop(): Promise<Answer>
  readonly ended: Promise<Answer>
}

/** After which a test that waits has failed. */
const patienceMs = 30_000

export async function createCommandLine(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
  overrides: Partial<Io> = {},
): Promise<CommandLine> {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-cli-')))
  t.after(() => rm(cwd, { recursive: true, force: true }))

  async function write(name: string, content: string): Promise<void> {
    await mkdir(path.dirname(path.join(cwd, name)), { recursive: true })
    await writeFile(path.join(cwd, name), content)
  }

  function start(...args: readonly string[]): Going {
    const written = { out: '', err: '' }
    let all = ''
    const told = new EventEmitter()
    const signals = new EventEmitter()
    const keep = (name: 'out' | 'err') => (text: string) => {
      written[name] += text
      all += text
      told.emit('text')
    }
    const io: Io = {
      out: keep('out'),
      err: keep('err'),
      env: {},
      cwd,
      now: () => Date.UTC(2026, 2, 2, 12),
      // Only the wait is shorter; what is waited for is asked for all the same.
      pause: (ms) => pause(Math.min(ms, 5)),
      fetch: () => Promise.reject(new TypeError('no network')),
      signals,
      ...overrides,
    }
    const ended = runCli(['node', 'reveille', ...args], io).then((code) => ({ code, ...written }))
    const interrupt = () => signals.emit('SIGINT', 'SIGINT')
    // A test that failed has not told it to stop, and its watcher would keep the process alive.
    t.after(interrupt)
    return {
      until: (fits) =>
        new Promise((resolve, reject) => {
          const look = () => fits.test(all) && resolve(all)
          told.on('text', look)
          look()
          void ended.then(() => reject(new Error(`it ended before ${fits}`)), reject)
          const late = () => reject(new Error(`waited ${patienceMs / 1000} s for ${fits} in:\n${all}`))
          AbortSignal.timeout(patienceMs).addEventListener('abort', late)
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
