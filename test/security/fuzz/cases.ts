/** Generates the bytes of a connection from a seed. */

import { bodyOf } from './bodies.ts'
import { type ExpectedAnswer, goodRequest } from './good.ts'
import { headersOf } from './headers.ts'
import { methodOf, targetOf } from './targets.ts'
import { createRandom, piece, type Random, textOf } from './words.ts'

export interface FuzzCase {
  readonly seed: number
  /** The buffers are written one after another. */
  readonly chunks: readonly Buffer[]
  /**
   * `answered`: the framing is correct, so each request has one answer. `open`: it is unclear where the request ends.
   * `abandoned`: the sender closes in the middle.
   */
  readonly kind: 'answered' | 'open' | 'abandoned'
  /** Maximum number of answers that may come; for `answered`, the exact number. */
  readonly maxAnswers: number
  /** The expected answers, if they are known. */
  readonly expected?: readonly ExpectedAnswer[]
  /** The address that the request comes from. Default: one of many. */
  readonly client?: string
}

export function fuzzCase(seed: number): FuzzCase {
  const random = createRandom(seed * 2_654_435_761)
  // The first random numbers of neighbouring seeds are similar.
  for (let turn = 0; turn < 8; turn++) random.below(2)
  const good = random.chance(0.15) ? goodRequest(random, `${seed}-${random.below(1_000_000)}`) : undefined
  if (good) return { seed, kind: 'answered', maxAnswers: good.expected.length, ...good }
  const whole = wholeRequest(random)
  if (random.chance(0.03))
    return { seed, kind: 'answered', maxAnswers: 1, chunks: split(random, unfinished(random, whole)) }
  if (random.chance(0.75)) return { seed, kind: 'answered', maxAnswers: 1, chunks: split(random, whole) }
  if (random.chance(0.3)) {
    const cut = random.below(whole.length)
    return { seed, kind: 'abandoned', maxAnswers: 1, chunks: split(random, whole.subarray(0, cut)) }
  }
  // A mutation may turn the body into requests.
  return { seed, kind: 'open', maxAnswers: 100, chunks: split(random, mutated(random, whole)) }
}

function wholeRequest(random: Random): Buffer {
  const body = bodyOf(random)
  const [framing, framed] = random.chance(0.25)
    ? chunked(random, body)
    : [`Content-Length: ${body.length}`, body]
  const head = `${methodOf(random)} ${targetOf(random)} HTTP/1.${random.chance(0.97) || framed !== body ? 1 : 0}`
  const lines = [head, 'Host: x', ...headersOf(random), framing, '', '']
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), framed])
}

function chunked(random: Random, body: Buffer): readonly [string, Buffer] {
  const parts: Buffer[] = []
  let at = 0
  function add(size: number, extension = '') {
    const line = Buffer.from(`${size.toString(16)}${extension}\r\n`)
    parts.push(line, body.subarray(at, at + size), Buffer.from('\r\n'))
    at += size
  }
  while (at < body.length) {
    const size = Math.min(1 + random.below(random.chance(0.1) ? 3 : 20_000), body.length - at)
    const extension = random.chance(0.1) ? `;${'a'.repeat(random.below(50))}=b` : ''
    add(size, extension)
    if (parts.length > 900) break
  }
  if (at < body.length) add(body.length - at)
  const trailer = random.chance(0.1) ? `X-Trailer: ${'a'.repeat(random.below(200))}\r\n` : ''
  return ['Transfer-Encoding: chunked', Buffer.concat([...parts, Buffer.from(`0\r\n${trailer}\r\n`)])]
}

/** Sends the whole head and only part of the body. The gateway answers at its timeout at the latest. */
function unfinished(random: Random, whole: Buffer): Buffer {
  const body = whole.indexOf('\r\n\r\n') + 4
  return whole.subarray(0, body + random.below(whole.length - body + 1))
}

/** Splits the request at random places now and then. */
function split(random: Random, bytes: Buffer): Buffer[] {
  if (random.chance(0.8)) return [bytes]
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random.below(chunks.length > 20 ? bytes.length : 600)
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

function mutated(random: Random, whole: Buffer): Buffer {
  let bytes = whole
  for (let count = 1 + random.below(4); count > 0; count--) {
    // The head is shorter than the body, and a mutation there breaks more.
    const at = random.below(random.chance(0.7) ? Math.min(bytes.length, 400) : bytes.length)
    const change = Buffer.from(
      random.pick([textOf(random), piece(random), '\r\n', '\n', '\0', '\r', '\r\n\r\n', ' ']),
      'latin1',
    )
    const removed = random.chance(0.5) ? random.below(8) : 0
    bytes = Buffer.concat([bytes.subarray(0, at), change, bytes.subarray(at + removed)])
  }
  return bytes
}
