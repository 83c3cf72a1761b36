/** Runs commands on the real files of a temporary folder; used by tests only. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { runCli } from './cli.ts'
import type { Io } from './io.ts'

export interface Answer {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Of a stream, a string is all that is written to it, and each pattern matches some of it. */
export interface ExpectedAnswer {
  /** Default: 0. */
  readonly code?: number
  readonly out?: string | RegExp | readonly RegExp[]
  readonly err?: string | RegExp | readonly RegExp[]
}

export function assertAnswer(answer: Answer, expected: ExpectedAnswer, what = ''): void {
  assert.equal(answer.code, expected.code ?? 0, `${what}\n${answer.out}${answer.err}`)
  for (const stream of ['out', 'err'] as const) {
    const wanted = expected[stream] ?? []
    if (typeof wanted === 'string') assert.equal(answer[stream], wanted, what)
    else for (const pattern of [wanted].flat()) assert.match(answer[stream], pattern)
  }
}

type Files = Readonly<Record<string, string>>

/**
 * Makes a test of each case of a transcript, in a folder of its own with these files:
 *
 *     # the name of the test
 *     + file.yaml: a file with this line, in addition
 *     1 $ command --option 'with spaces'
 *     a line on standard output, where … is anything
 *     ! a line on standard error
 *
 * The exit code is 0 unless it is given. Lines are found in this order, and a stream without any is empty. `COLUMNS=60` before a command
 * is the width of its terminal, and other variables are its environment.
 */
export function testTranscript(files: Files, transcript: string, io: Partial<Io> = {}): void {
  for (const block of transcript.trim().slice(2).split('\n\n# ')) {
    const [, name = '', added = '', commands = ''] = /^(.*)\n((?:\+ .*\n)*)([\s\S]*)$/.exec(block) ?? []
    const more = Array.from(added.matchAll(/^\+ (\S+): (.*)$/gm), ([, file, text]) => [file, `${text}\n`])
    test(name, async (t) => {
      const { play } = await createCommandLine(t, { ...files, ...Object.fromEntries(more) }, io)
      await play(commands)
    })
  }
}

async function playIn(runIn: CommandLine['runIn'], commands: string): Promise<void> {
  for (const command of commands.trim().split(/^(?=(?:\d )?\$ )/m))
    await assertCommand(command.trimEnd().split('\n'), runIn)
}

async function assertCommand([head = '', ...lines]: readonly string[], runIn: CommandLine['runIn']) {
  const [, code = '0', line = ''] = /^(?:(\d) )?\$ (.*)$/.exec(head) ?? []
  const words = Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
  const start = words.findIndex((word) => !/^[A-Za-z_]+=/.test(word))
  const { COLUMNS, ...env } = Object.fromEntries(words.slice(0, start).map((word) => word.split('=')))
  const answer = await runIn(
    { ...(COLUMNS && { columns: Number(COLUMNS) }), ...(start > 0 && { env: { NO_COLOR: '1', ...env } }) },
    ...words.slice(start),
  )
  const isError = (text: string) => /^!( |$)/.test(text)
  assertAnswer(
    answer,
    {
      code: Number(code),
      out: patternOf(lines.filter((text) => !isError(text))),
      err: patternOf(lines.filter(isError).map((text) => text.slice(2))),
    },
    line,
  )
}

function patternOf(lines: readonly string[]): RegExp | string {
  const patterns = lines.map((line) => line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*'))
  return lines.length === 0 ? '' : new RegExp(`^${patterns.join('$\\n(?:.*\\n)*?^')}$`, 'm')
}

interface CommandLine {
  readonly cwd: string
  write(name: string, content: string): Promise<void>
  run(...args: readonly string[]): Promise<Answer>
  /** Runs a command with other dependencies. */
  runIn(io: Partial<Io>, ...args: readonly string[]): Promise<Answer>
  /** Runs the commands of a transcript, as {@link testTranscript} describes it, without names and files. */
  play(commands: string): Promise<void>
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
  files: Files,
  overrides: Partial<Io> = {},
): Promise<CommandLine> {
  const cwd = await realpath(await mkdtemp(path.join(tmpdir(), 'reveille-cli-')))
  // A process that a test has started may still write here.
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 5 }))

  async function write(name: string, content: string): Promise<void> {
    await mkdir(path.dirname(path.join(cwd, name)), { recursive: true })
    await writeFile(path.join(cwd, name), content)
  }

  function startIn(more: Partial<Io>, ...args: readonly string[]): RunningCommand {
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
      ...more,
      ...(more.env && { env: { ...overrides.env, ...more.env } }),
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
    start: (...args) => startIn({}, ...args),
    run: (...args) => startIn({}, ...args).ended,
    runIn: (io, ...args) => startIn(io, ...args).ended,
    play: (commands) => playIn((io, ...args) => startIn(io, ...args).ended, commands),
  }
}

export interface Asked {
  /** `POST /api/requests/replay`, with the query. */
  readonly route: string
  readonly body: Readonly<Record<string, unknown>>
}

const token = 'token-of-the-gateway-0123456789'
export const gatewayEnv = { REVEILLE_URL: 'http://127.0.0.1:1/', REVEILLE_GATEWAY_TOKEN: token }

type AnswerTo = (asked: Asked) => object | undefined

/**
 * Leads commands to a gateway that answers as a test says. `answer` gives what a route answers, or throws where no gateway answers;
 * undefined fails the test. An answer with a code and an error has status 409.
 */
export function fakeGateway(answer: AnswerTo): { io: Partial<Io>; asked: readonly Asked[] } {
  const asked: Asked[] = []
  const fetch: Io['fetch'] = async (input, init) => {
    const { pathname, search } = new URL(String(input))
    if (pathname !== '/readyz' && new Headers(init?.headers).get('authorization') !== `Bearer ${token}`)
      return Response.json({ ok: false, error: 'no' }, { status: 401 })
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : {}
    const order = { route: `${init?.method ?? 'GET'} ${pathname}${search}`, body }
    asked.push(order)
    const given = answer(order)
    assert.ok(given, order.route)
    if (given instanceof Response) return given
    return Response.json(given, { status: 'code' in given && 'error' in given ? 409 : 200 })
  }
  return { io: { env: gatewayEnv, fetch }, asked }
}

/** Runs commands against a gateway as {@link fakeGateway} is one. No answer may hold its token. */
export async function createGatewayCommands(
  t: Pick<TestContext, 'after'>,
  answer: AnswerTo,
  overrides: Partial<Io> = {},
  files: Files = {},
): Promise<CommandLine & { readonly asked: readonly Asked[] }> {
  const { io, asked } = fakeGateway(answer)
  const line = await createCommandLine(t, files, { ...io, ...overrides })
  async function runIn(more: Partial<Io>, ...words: readonly string[]) {
    const answer = await line.runIn(more, ...words)
    assert.ok(!`${answer.out}${answer.err}`.includes(token), 'no secret is printed')
    return answer
  }
  return {
    ...line,
    asked,
    runIn,
    run: (...words) => runIn({}, ...words),
    play: (commands) => playIn(runIn, commands),
  }
}
