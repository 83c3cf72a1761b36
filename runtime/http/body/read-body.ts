/** Reads the body of a request within a size limit and a deadline, and computes its digest. */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Timers } from '@reveille/engine'
import { RequestError } from '../errors.ts'

/** A body that arrives in chunks of one byte would take a hundred times its size if every chunk were kept. */
const maxChunks = 1024

export interface BodyLimits {
  readonly maxBytes: number
  /** The deadline for the whole body, in milliseconds. */
  readonly timeoutMs: number
  readonly timers: Timers
}

/** The sender closed the connection before its body was complete, so that no reply can be sent. */
export class SenderGone extends Error {
  override readonly name = 'SenderGone'
}

/**
 * readBody reads the whole body. It has to be called after the head was handled asynchronously, when what arrived together with the
 * head is parsed: usually the whole body. @throws RequestError `BODY_TOO_LARGE` or `BODY_TIMEOUT`; SenderGone
 */
export async function readBody(incoming: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = declaredBytes(incoming)
  return declared > 0 && declared <= limits.maxBytes && incoming.readableLength === declared
    ? takeBody(incoming)
    : gatherBody(incoming, limits)
}

/** Takes a body that has arrived whole, so that no listeners and no deadline are needed. */
function takeBody(incoming: IncomingMessage): Buffer {
  const body: Buffer = incoming.read()
  // The stream has to reach its end before the connection can carry the next request. It does so by itself where it was parsed.
  if (!incoming.complete) incoming.resume()
  return body
}

function gatherBody(incoming: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let bytes = 0
    let settled = false
    const timer = limits.timers.setTimeout(onTimeout, limits.timeoutMs)

    function onData(chunk: Buffer) {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > limits.maxBytes) fail(new RequestError('BODY_TOO_LARGE'))
      else if (chunks.length > maxChunks) chunks = [Buffer.concat(chunks)]
    }

    function onEnd() {
      settled = true
      limits.timers.clearTimeout(timer)
      const [only] = chunks
      resolve(only && chunks.length === 1 ? only : Buffer.concat(chunks, bytes))
    }

    function onTimeout() {
      fail(new RequestError('BODY_TIMEOUT'))
    }
    function onGone() {
      if (!settled) fail(new SenderGone())
    }
    function fail(error: Error) {
      settled = true
      limits.timers.clearTimeout(timer)
      incoming.off('data', onData).off('end', onEnd).pause()
      reject(error)
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

/** The length that the sender declares; 0 when it declares none. */
export function declaredBytes(incoming: IncomingMessage): number {
  return Number(incoming.headers['content-length'] ?? 0)
}

/** Bytes hashed at once, which takes some 2 ms on a processor without SHA instructions. */
const hashSliceBytes = 1024 * 1024

/**
 * digestOfBody computes the SHA-256 in hex by which two requests with one idempotency key are compared. It yields to the
 * event loop between slices, because a policy may allow bodies of 100 MB.
 */
export async function digestOfBody(body: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let start = 0; start < body.length; start += hashSliceBytes) {
    if (start > 0) await yieldToEventLoop()
    hash.update(body.subarray(start, start + hashSliceBytes))
  }
  return hash.digest('hex')
}
