/** Starts a gateway in this process on a folder of its own, and removes both at the end of the test. */

import { mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SourceClock } from '../plugins/kit/index.ts'
import { createGateway, type Gateway, type GatewayOptions } from '../runtime/index.ts'
import { openInThisThread } from '../runtime/store/contract/in-this-thread.ts'
import type { RunRecord } from '../runtime/store/port.ts'
import { atEnd } from './at-end.ts'
import { boardFile } from './rehearsal-plugin/board.ts'
import { readLines } from './text-file.ts'

export const hookToken = 'test-hook-token-0123456789abcdef'
export const gatewayToken = 'test-gateway-token-0123456789abc'

/** An entry for `plugins:` in a configuration. */
export const rehearsalPlugin = fileURLToPath(new URL('./rehearsal-plugin', import.meta.url))

export type Files = Readonly<Record<string, string>>

export type Installation = Awaited<ReturnType<typeof install>>

export interface AskOptions {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  readonly headers?: Record<string, string>
  readonly payload?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>>
  /** The body as it came. */
  readonly text: string
}

export interface LogLine {
  readonly event: string
  readonly level: number
  readonly [fact: string]: unknown
}

/** Replies go to a file instead of the terminal of the test. */
export const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
plugins: ["${rehearsalPlugin}"]
channels: { terminal: {}, board: { folder: "{folder}" } }
agents: { route: { channel: board, to: team } }
`

export interface InstallOptions {
  readonly watch?: boolean
  readonly lastGood?: boolean
  readonly env?: Record<string, string>
  readonly fetch?: typeof globalThis.fetch
  /** The clock of sources. */
  readonly clock?: SourceClock
  /** The gateway's place among others on one database. */
  readonly cluster?: Pick<GatewayOptions, 'node' | 'role' | 'leases'>
  /** A second listener, for hooks alone. */
  readonly tunnel?: GatewayOptions['tunnel']
  /** An existing folder with all its files, on which the gateway starts again. */
  readonly folder?: string
  /** Runs the store in its own threads, where requests that come together are committed together. */
  readonly storeThreads?: boolean
}

/**
 * `files` maps a path in the folder to its content. `reveille.yaml` defaults to `configuration`. `{folder}` stands
 * for the folder.
 */
export async function install(t: TestContext, files: Files, options: InstallOptions = {}) {
  const folder = options.folder ?? (await createFolder(t, { 'reveille.yaml': configuration, ...files }))
  const lines = createLines()
  const gateway = await createGateway({
    configFile: join(folder, 'reveille.yaml'),
    env: options.env ?? {},
    watch: options.watch ?? false,
    ...(options.lastGood && { lastGood: true }),
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.clock && { clock: options.clock }),
    ...(options.tunnel && { tunnel: options.tunnel }),
    ...options.cluster,
    ...(!options.storeThreads && { openStore: openInThisThread }),
    logStream: lines,
  })
  atEnd(t, () => gateway.close({ graceMs: 0 }))

  async function send(request: Parameters<Gateway['inject']>[0]): Promise<Answer> {
    const response = await gateway.inject(request)
    const { statusCode: status, headers, payload: text } = response
    const isJson = String(headers['content-type']).startsWith('application/json')
    return { status, headers, text, body: isJson && text !== '' ? response.json() : {} }
  }

  async function read<Item>(path: string): Promise<Item> {
    const headers = { authorization: `Bearer ${gatewayToken}` }
    return (await send({ url: path, method: 'GET', headers })).body as Item
  }

  return {
    folder,
    gateway,
    /** The whole log. */
    log: lines.text,
    /** The lines of an event so far. */
    lines: lines.ofEvent,
    /** Resolves with the first line of an event that passes the filter. */
    line: lines.line,
    /** Writes a file in one step, as editors do. */
    write: (name: string, content: string) => writeInto(folder, name, content),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      send({
        method: 'POST',
        url: path,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${hookToken}`,
          ...headers,
        },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Calls the admin API. `headers` replace the gateway token. */
    ask: (
      path: string,
      { method = 'GET', headers = { authorization: `Bearer ${gatewayToken}` }, payload }: AskOptions = {},
    ) => send({ url: path, method, headers, ...(payload !== undefined && { payload }) }),
    /** Returns an answer of the admin API. */
    read,
    /** Resolves with the run once it has passed its last stage. */
    ended: (runId: unknown) =>
      until(async () => {
        const run = await read<RunRecord>(`/api/runs/${runId}`)
        const isWithoutReply =
          run.state === 'failed' || run.state === 'timed-out' || run.state === 'cancelled'
        return run.stage === (isWithoutReply ? 'summarised' : 'delivered') ? run : undefined
      }, `the end of run ${runId}`),
    /** The messages that the channel `board` was sent, in order. */
    async board(): Promise<readonly { readonly to: string; readonly text: string }[]> {
      return (await readLines(folder, boardFile)).map((line) => JSON.parse(line))
    },
  }
}

/** Makes a folder with these files until the test ends. `{folder}` in a content stands for the folder's path. */
export async function createFolder(t: TestContext, files: Files): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'reveille-test-')))
  atEnd(t, () => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) await writeInto(folder, name, content)
  return folder
}

/** Writes a file in one step, as editors do. `{folder}` in it stands for the folder's path. */
export async function writeInto(folder: string, name: string, content: string): Promise<void> {
  const file = join(folder, name)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}~`, content.replaceAll('{folder}', folder))
  await rename(`${file}~`, file)
}

/** A stream that stores its lines and wakes those who wait for one. */
function createLines() {
  const lines: LogLine[] = []
  let text = ''
  let next = Promise.withResolvers<void>()
  return {
    text: () => text,
    ofEvent: (event: string) => lines.filter((line) => line.event === event),
    write(line: string) {
      text += line
      // Readable lines are stored as text.
      if (line.startsWith('{')) lines.push(JSON.parse(line) as LogLine)
      next.resolve()
      next = Promise.withResolvers()
    },
    async line(event: string, passes: (line: LogLine) => boolean = () => true): Promise<LogLine> {
      const timeout = AbortSignal.timeout(timeoutMs)
      for (;;) {
        const found = lines.find((line) => line.event === event && passes(line))
        if (found) return found
        if (timeout.aborted) throw new Error(`Waited in vain for a line ${event} in:\n${text}`)
        await Promise.race([next.promise, pause(timeoutMs / 10, undefined, { ref: false })])
      }
    },
  }
}

/** A test that waits longer fails. Milliseconds. */
const timeoutMs = 30_000

/** Asks until the answer is good. `timeout` limits the wait, in milliseconds. */
export async function until<Value>(
  ask: () => Promise<Value | undefined> | Value | undefined,
  what: string,
  timeout = timeoutMs,
): Promise<Value> {
  const began = Date.now()
  for (let waited = 0; waited < timeout; waited = Date.now() - began) {
    const value = await ask()
    if (value !== undefined) return value
    // Asking may cost a request or a process, so the pauses grow with its time.
    await pause(Math.min(5 + waited / 8, 50))
  }
  throw new Error(`Waited ${timeout / 1000} s in vain for ${what}.`)
}
