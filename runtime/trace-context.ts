/** W3C Trace Context: https://www.w3.org/TR/trace-context/#traceparent-header */

const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/
/** Characters. */
const length = 55

/** Returns the value of a `traceparent` header in version 00, or undefined for one that the specification has ignored. */
export function readTraceparent(header: unknown): string | undefined {
  if (typeof header !== 'string' || !form.test(header)) return undefined
  if (header.startsWith('00') && header.length > length) return undefined
  return `00${header.slice(2, length)}`
}

/**
 * The context of the work with this id, a UUIDv7: in the trace of its cause, or else in one of its own, which is sampled. Every process
 * derives the same one, so that a trace survives the queue.
 */
export function contextOf(id: string, cause?: string): string {
  const digits = id.replaceAll('-', '')
  const [trace, flags] = cause === undefined ? [digits, '01'] : [cause.slice(3, 35), cause.slice(-2)]
  return `00-${trace}-${digits.slice(16)}-${flags}`
}

/** The cause of a run or an event: `traceparent` where the sender of the request gave one. */
interface Caused {
  readonly requestId?: string
  readonly traceparent?: string
}

/** Undefined for work that no request caused. */
export function causeOf({ requestId, traceparent }: Caused): string | undefined {
  return traceparent ?? (requestId === undefined ? undefined : contextOf(requestId))
}
