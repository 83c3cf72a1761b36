/**
 * Sends equal POSTs over connections that are kept open, one at a time on each. It reads of a reply only what says where it ends, so that it
 * costs a fraction of what the servers cost; what it cost is in its result.
 */

import { connect } from 'node:net'

import { processCpu } from './kernel.ts'
import { BenchError } from './measure.ts'

export interface Shot {
  readonly url: string
  /** Further servers, which take turns with the first one by connection. */
  readonly others?: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** The bodies that take turns. */
  readonly bodies: readonly string[]
}

/** A burst ends after `seconds` or after `requests`. */
export interface Burst {
  readonly connections: number
  readonly seconds?: number
  readonly requests?: number
}

export interface BurstResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Microseconds of CPU for each request, in this process. */
  readonly clientCpu: number
  /** The share of one core that this process took: near 1 it is the client that is measured. */
  readonly clientBusy: number
}

const bucketsPerMs = 100
const buckets = 10_000 * bucketsPerMs

/** @throws where an answer is no 2xx, or a connection ends */
export async function fire(shot: Shot, burst: Burst): Promise<BurstResult> {
  const urls = [shot.url, ...(shot.others ?? [])]
  const requests = shot.bodies.map((body) => requestOf(shot, body))
  const latencies = new Uint32Array(buckets)
  const cpuBefore = processCpu()
  const start = performance.now()
  const deadline = burst.seconds === undefined ? Number.POSITIVE_INFINITY : start + burst.seconds * 1000
  const most = burst.requests ?? Number.POSITIVE_INFINITY
  let sent = 0

  await Promise.all(
    Array.from({ length: burst.connections }, (_, index) => send(urls[index % urls.length] as string)),
  )
  const ms = performance.now() - start
  const cpu = processCpu() - cpuBefore
  return {
    requests: sent,
    perSecond: (sent * 1000) / ms,
    p50Ms: quantileOf(latencies, sent, 0.5),
    p99Ms: quantileOf(latencies, sent, 0.99),
    clientCpu: cpu / sent,
    clientBusy: cpu / (ms * 1000),
  }

  /** Resolves when the last request of one connection was answered. */
  function send(url: string): Promise<void> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve, reject) => {
      let sentAt = 0
      let unread = ''
      const socket = connect({
        host: hostname,
        port: Number(port),
        noDelay: true,
        onread: { buffer: Buffer.allocUnsafe(64 * 1024), callback: onData },
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new BenchError(`${url} closed a connection in the middle of a burst`)))
      socket.on('connect', next)

      function next(): void {
        sentAt = performance.now()
        if (sentAt >= deadline || sent >= most) {
          resolve()
          socket.destroy()
          return
        }
        socket.write(requests[sent++ % requests.length] as Buffer)
      }

      function onData(size: number, buffer: Uint8Array): boolean {
        const text = unread + (buffer as Buffer).toString('latin1', 0, size)
        if (!isWhole(text)) {
          unread = text
          return true
        }
        unread = ''
        if (text[9] !== '2') {
          reject(new BenchError(`${url} answered ${text.slice(0, 600)}`))
          socket.destroy()
          return true
        }
        const bucket = Math.floor((performance.now() - sentAt) * bucketsPerMs)
        const at = Math.min(bucket, buckets - 1)
        latencies[at] = (latencies[at] as number) + 1
        next()
        return true
      }
    })
  }
}

function requestOf({ url, headers }: Shot, body: string): Buffer {
  const { host, pathname, search } = new URL(url)
  const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(`POST ${pathname}${search} HTTP/1.1\r\n${head}\r\n${body}`)
}

/** `reply` holds one byte in each character. */
function isWhole(reply: string): boolean {
  const end = reply.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(reply)?.[1]
  if (length === undefined) return reply.endsWith('\r\n0\r\n\r\n')
  return reply.length >= end + 4 + Number(length)
}

function quantileOf(latencies: Uint32Array, count: number, share: number): number {
  let seen = 0
  for (const [bucket, found] of latencies.entries()) {
    seen += found
    if (seen > count * share) return bucket / bucketsPerMs
  }
  return 0
}
