/** Sends one bounded burst of equal POSTs, by autocannon, or by wrk if it is installed and asked for. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

export interface Shot {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Burst {
  readonly connections: number
  readonly seconds: number
}

export interface Result {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p99: number
  /** Answers that were no 2xx, and failed connections. */
  readonly failed: number
}

export type Client = (shot: Shot, burst: Burst) => Promise<Result>

export const clients: Readonly<Record<string, Client>> = { autocannon: byAutocannon, wrk: byWrk }

async function byAutocannon(shot: Shot, burst: Burst): Promise<Result> {
  const result = await autocannon({
    ...shot,
    method: 'POST',
    connections: burst.connections,
    duration: burst.seconds,
  })
  return {
    perSecond: result.requests.total / result.duration,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  }
}

async function byWrk(shot: Shot, burst: Burst): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-wrk-'))
  try {
    await writeFile(join(folder, 'body'), shot.body)
    const headers = Object.entries(shot.headers).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`)
    await writeFile(
      join(folder, 'post.lua'),
      ['wrk.method = "POST"', `wrk.body = io.open("${folder}/body"):read("*a")`, ...headers].join('\n'),
    )
    const { stdout } = await promisify(execFile)('wrk', [
      ...['-t1', `-c${burst.connections}`, `-d${burst.seconds}s`, '--latency'],
      ...['-s', join(folder, 'post.lua'), shot.url],
    ])
    return {
      perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
      p99: milliseconds(/99%\s+(\S+)/.exec(stdout)?.[1] ?? ''),
      failed: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

function milliseconds(text: string): number {
  const scale = text.endsWith('us') ? 0.001 : text.endsWith('ms') ? 1 : 1000
  return Number.parseFloat(text) * scale
}
