/** Owns what a run asks that stands for several requests: their messages as one, with our words about them. */

import type { JoinedRequest, RunRecord } from '../store/port.ts'

/** Of a composed prompt or message, in UTF-8, unless its newest request alone is longer. Bytes. */
export const longestComposition = 262_144
/** Room for our own words is set aside before it is known how many requests fit. Bytes. */
const longestHead = 400
/** Request ids that are written on the run. */
const mostIds = 1000

interface Content {
  readonly message: string
  readonly prompt: string
}

/**
 * The run as its first attempt performs it: of all requests that were joined to it, and with their number, which says
 * that they were composed. Once composed, or without `coalesce`, it stays as it is. `joined`: oldest first.
 */
export function composed(run: RunRecord, joined: readonly JoinedRequest[] = []): RunRecord {
  const { coalesce, requestId, message, prompt, createdAt } = run
  if (!coalesce || isComposed(run)) return run
  const requests = [{ requestId, at: createdAt, content: { message, prompt } }, ...joined]
  const requestIds = requests.flatMap(({ requestId }) => requestId ?? []).slice(-mostIds)
  const content = coalesce.keep === 'all' ? allOf(requests) : newestOf(requests)
  return { ...run, ...content, coalesce: { ...coalesce, count: requests.length, requestIds } }
}

/** Whether the run has been claimed before. */
export function isComposed({ coalesce }: RunRecord): boolean {
  return coalesce?.count !== undefined
}

type Requests = readonly { readonly at: number; readonly content?: Content }[]

function newestOf(requests: Requests): Content | undefined {
  const newest = requests.findLast(({ content }) => content !== undefined)?.content
  if (requests.length === 1 || !newest) return newest
  const head = `${burst(requests)}; this is the newest of them:`
  return { message: `${head}\n\n${newest.message}`, prompt: `${head}\n\n${newest.prompt}` }
}

function allOf(requests: Requests): Content | undefined {
  if (requests.length === 1) return requests[0]?.content
  const entries = newestThatFit(requests)
  const left = requests.length - entries.length
  const head = `${burst(requests)}${leftOut(left)}; they follow, the oldest first:`
  const join = (of: keyof Content) => [head, ...entries.map((entry) => entry[of])].join('\n\n')
  return { message: join('message'), prompt: join('prompt') }
}

/** Stops at the first that does not fit or was not kept, so that those that are shown follow one another. */
function newestThatFit(requests: Requests): readonly Content[] {
  const entries: Content[] = []
  let room = longestComposition - longestHead
  for (let index = requests.length - 1; index >= 0; index -= 1) {
    const { at = 0, content } = requests[index] ?? {}
    if (!content) break
    const title = `${index + 1}. ${timeOf(at)}`
    const entry = { message: `${title}\n${content.message}`, prompt: `${title}\n${content.prompt}` }
    room -= Math.max(Buffer.byteLength(entry.prompt), Buffer.byteLength(entry.message)) + 2
    if (room < 0 && entries.length > 0) break
    entries.push(entry)
  }
  return entries.reverse()
}

/** The start of a sentence. */
function burst(requests: Requests): string {
  const [first, last] = [requests[0], requests.at(-1)].map((request) => timeOf(request?.at ?? 0))
  return `This run stands for ${requests.length} requests of one burst, received between ${first} and ${last}`
}

function leftOut(count: number): string {
  if (count === 0) return ''
  return count === 1 ? '; 1 older one was left out' : `; ${count} older ones were left out`
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}
