/** Composes the message and the prompt of a run that stands for several actions, with a sentence about them in front. */

import { type JoinedRequest, type RunRecord, requestsOf } from '../../store/port.ts'

/** Maximum size of a composed prompt or message in bytes of UTF-8, unless its newest request alone is longer. */
export const maxCompositionBytes = 262_144
/** The room in bytes that is set aside for the sentence in front, before it is known how many requests fit. */
const maxHeadBytes = 400

interface Content {
  readonly message: string
  readonly prompt: string
}

/**
 * Returns the run as its first attempt performs it: composed of all requests that joined it, with their number, which shows
 * that they were composed. A composed run, and one without `coalesce`, stays as it is. `joined` are the newest requests,
 * oldest first; `joinedCount` counts all of them.
 */
export function composed(
  run: RunRecord,
  joined: readonly JoinedRequest[] = [],
  joinedCount = joined.length,
): RunRecord {
  const { coalesce, requestId, message, prompt, createdAt } = run
  if (!coalesce || isComposed(run)) return run
  const own = { requestId, at: createdAt, content: { message, prompt } }
  const ids = joined.map(({ requestId }) => requestId)
  const requests = requestsOf(requestId, ids, joinedCount)
  const burst = {
    count: 1 + joinedCount,
    requests: requests.requests,
    from: own,
    until: joined.at(-1) ?? own,
  }
  const newest = joinedCount > joined.length ? joined : [own, ...joined]
  const content = coalesce.keep === 'all' ? allOf(burst, newest) : newestOf(burst, newest)
  return { ...run, ...content, coalesce: { ...coalesce, count: burst.count, ...requests } }
}

/** Returns whether the run has been composed, at its first claim. */
export function isComposed({ coalesce }: RunRecord): boolean {
  return coalesce?.count !== undefined
}

interface Request {
  readonly at: number
  readonly content?: Content
}

interface Burst {
  /** The number of messages. */
  readonly count: number
  /** The number of requests that brought them. Undefined if not all are known. */
  readonly requests: number | undefined
  readonly from: Request
  readonly until: Request
}

function newestOf(burst: Burst, newest: readonly Request[]): Content | undefined {
  const content = newest.findLast((request) => request.content !== undefined)?.content
  if (burst.count === 1 || !content) return content
  const head = `${describe(burst)}; this is the newest of them:`
  return { message: `${head}\n\n${content.message}`, prompt: `${head}\n\n${content.prompt}` }
}

function allOf(burst: Burst, newest: readonly Request[]): Content | undefined {
  if (burst.count === 1) return newest[0]?.content
  const entries = newestThatFit(burst, newest)
  const head = `${describe(burst)}${leftOut(burst.count - entries.length)}; they follow, the oldest first:`
  const join = (field: keyof Content) => [head, ...entries.map((entry) => entry[field])].join('\n\n')
  return { message: join('message'), prompt: join('prompt') }
}

/** Stops at the first that does not fit or was not kept, so that those that are shown follow one another. */
function newestThatFit({ count }: Burst, newest: readonly Request[]): readonly Content[] {
  const entries: Content[] = []
  let room = maxCompositionBytes - maxHeadBytes
  for (const { at, content } of newest.toReversed()) {
    if (!content) break
    const title = `${count - entries.length}. ${timeOf(at)}`
    const entry = { message: `${title}\n${content.message}`, prompt: `${title}\n${content.prompt}` }
    room -= Math.max(Buffer.byteLength(entry.prompt), Buffer.byteLength(entry.message)) + 2
    if (room < 0 && entries.length > 0) break
    entries.push(entry)
  }
  return entries.reverse()
}

/** The start of a sentence. */
function describe({ count, requests, from, until }: Burst): string {
  const [first, last] = [timeOf(from.at), timeOf(until.at)]
  const times = first === last ? `at ${first}` : `between ${first} and ${last}`
  return `This run stands for ${whatOf(count, requests)} of one burst, received ${times}`
}

/** One request may bring several messages, by a mapping with `forEach`. */
function whatOf(count: number, requests: number | undefined): string {
  if (requests === count) return `${count} requests`
  if (requests === undefined) return `${count} messages`
  return `${count} messages of ${requests === 1 ? '1 request' : `${requests} requests`}`
}

function leftOut(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '; 1 older one was left out' : `; ${count} older ones were left out`
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}
