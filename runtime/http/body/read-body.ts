/** Owns reading a body: never more than the limit, never longer than the deadline. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Timers } from '@reveille/engine'
import { RequestError } from '../errors.ts'

const empty = Buffer.alloc(0)
/** A body in chunks of one byte would otherwise hold a hundred times its size. */
const mostChunks = 1024

export interface BodyLimits {
  readonly maxBytes: number
  /** For the whole body. Milliseconds. */
  readonly timeoutMs: number
  readonly timers: Timers
}

/** The sender went away before its body was whole. Nobody is left to be answered. */
export class SenderGone extends Error {
  override readonly name = 'SenderGone'
}

/** @throws RequestError `BODY_TOO_LARGE`, `BODY_TIMEOUT`; SenderGone */
export async function readBody(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  limits: BodyLimits,
): Promise<Buffer> {
  const declared = declaredBytes(incoming)
  if (declared > limits.maxBytes) throw new RequestError('BODY_TOO_LARGE')
  // HTTP/1.0 knows no interim reply, and would take it for the last one.
  if (incoming.headers.expect !== undefined && incoming.httpVersion !== '1.0') outgoing.writeContinue()
  // The parser is still at work on what came with the head; mostly that is the whole body.
  await undefined
  return declared > 0 && incoming.readableLength === declared
    ? takeBody(incoming)
    : gatherBody(incoming, limits)
}

/** All of it is here: there is nothing to listen for, and no deadline to keep. */
function takeBody(incoming: IncomingMessage): Buffer {
  const body: Buffer = incoming.read()
  // Its end passes unseen.
  incoming.resume()
  return body
}

function gatherBody(incoming: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let only: Buffer | undefined
    let chunks: Buffer[] | undefined
    let bytes = 0
    let settled = false
    const timer = limits.timers.setTimeout(onTimeout, limits.timeoutMs)

    function onData(chunk: Buffer) {
      bytes += chunk.length
      if (bytes > limits.maxBytes) fail(new RequestError('BODY_TOO_LARGE'))
      else if (only === undefined) only = chunk
      else if (chunks === undefined) chunks = [only, chunk]
      else if (chunks.length < mostChunks) chunks.push(chunk)
      else chunks = [Buffer.concat(chunks), chunk]
    }
    /** The listeners stay: nothing comes after the end, and they go with the request. */
    function onEnd() {
      settled = true
      limits.timers.clearTimeout(timer)
      resolve(chunks ? Buffer.concat(chunks, bytes) : (only ?? empty))
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

/** 0 when the sender does not say. */
export function declaredBytes(incoming: IncomingMessage): number {
  return Number(incoming.headers['content-length'] ?? 0)
}
