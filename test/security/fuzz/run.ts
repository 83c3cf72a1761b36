/** Sends the requests of many seeds to one gateway, and checks each answer and the totals. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { isErrorCode, statusOf } from '../../../runtime/http/index.ts'
import { type ChildGateway, openChildGateway } from '../child/child-gateway.ts'
import type { Vitals } from '../child/serving-gateway.ts'
import { type RawAnswer, sendRaw } from '../raw/dial.ts'
import { type FuzzCase, fuzzCase } from './cases.ts'
import { bodyTimeoutMs, gatewayFiles } from './gateway.ts'
import { createRandom } from './words.ts'

export interface FuzzRun {
  readonly firstSeed: number
  readonly count: number
  /** Milliseconds of processor time, without collecting garbage. */
  readonly maxHoldMs: number
}

/** This many requests are sent at the same time. */
const connections = 32
/** After this long without an answer a broken request is abandoned. Milliseconds. */
const idleMs = 2 * bodyTimeoutMs
/** Number of reads of the gateway's memory and time during a run. */
const reports = 8
/** The heap of the gateway: a leak makes it run out of memory. */
const heapMegabytes = 160
/** The outcomes that every run must produce. */
const requiredOutcomes = [
  ...'200 202 MALFORMED_HTTP UNAUTHORIZED TOO_MANY_TRIES RATE_LIMITED METHOD_NOT_ALLOWED NOT_FOUND'.split(
    ' ',
  ),
  ...'BODY_TIMEOUT BODY_TOO_LARGE HEADERS_TOO_LARGE BAD_ENCODING INVALID_JSON INVALID_TEXT'.split(' '),
  'BLANK_TEXT',
]
/** No transform runs here, nothing stops, the disk is not full and no keys are fetched, so any 5xx is a fault. */
const firstFault = 500

export async function assertSurvivesFuzz(t: TestContext, { firstSeed, count, maxHoldMs }: FuzzRun) {
  const gateway = await openChildGateway(t, {
    files: gatewayFiles,
    flags: [`--max-old-space-size=${heapMegabytes}`],
  })
  const share = Math.ceil(count / reports)
  const counts = new Map<string, number>()
  const vitals: Vitals[] = []
  for (let from = 0; from < count; from += share) {
    await sendAll(gateway, firstSeed + from, Math.min(share, count - from), counts)
    vitals.push(await gateway.messageFrom<Vitals>('report'))
  }
  report(t, vitals, counts)

  for (const outcome of requiredOutcomes) assert.ok(counts.has(outcome), `there was no ${outcome}`)
  assert.doesNotMatch(gateway.output(), /"level":[56]0/, 'an error was logged')
  const held = Math.max(...vitals.map((each) => each.heldMs))
  assert.ok(held <= maxHoldMs, `the event loop was held for ${held.toFixed(0)} ms`)
}

async function sendAll(gateway: ChildGateway, first: number, count: number, counts: Map<string, number>) {
  const port = Number(new URL(gateway.address).port)
  let next = first
  async function sendNext(): Promise<void> {
    while (next < first + count) {
      const each = fuzzCase(next++)
      const answer = await send(port, each)
      const fault = faultIn(each, answer)
      assert.ok(fault === undefined, `${fault}\n${reproductionOf(each, answer)}`)
      for (const outcome of outcomesOf(each, answer)) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    }
  }
  await Promise.race([Promise.all(Array.from({ length: connections }, sendNext)), gateway.ended])
}

async function send(
  port: number,
  { seed, chunks, kind, maxAnswers, client = clientOf(seed) }: FuzzCase,
): Promise<RawAnswer> {
  try {
    return await sendRaw(port, chunks, {
      answers: maxAnswers,
      abandons: kind === 'abandoned',
      ...(kind === 'open' && { idleMs }),
      ...(process.platform === 'linux' && { from: client }),
    })
  } catch (error) {
    throw new Error(`seed ${seed}: the gateway did not close the connection`, { cause: error })
  }
}

/** Half of the requests come from one client, valid and invalid; the others come from many. */
function clientOf(seed: number): string {
  const random = createRandom(seed)
  return seed % 2 === 0
    ? '127.0.0.1'
    : `127.${random.below(200)}.${random.below(250)}.${1 + random.below(250)}`
}

function outcomesOf({ kind }: FuzzCase, { text, statuses }: RawAnswer): string[] {
  if (kind === 'abandoned') return ['abandoned']
  return statuses.length === 0
    ? ['closed']
    : answersOf(text).map((answer, index) => codeIn(answer) ?? `${statuses[index]}`)
}

function answersOf(text: string): string[] {
  const parts = text.split(/(?=HTTP\/1\.1 \d{3} )/)
  return parts.filter((part) => part !== '' && !part.startsWith('HTTP/1.1 100 '))
}

function codeIn(answer: string): string | undefined {
  return /"code":"([^"]*)"/.exec(answer)?.[1]
}

/** Describes what is wrong with the answers in one sentence. */
function faultIn(
  { kind, maxAnswers, expected }: FuzzCase,
  { text, statuses }: RawAnswer,
): string | undefined {
  if (kind === 'answered' && statuses.length !== maxAnswers)
    return `${statuses.length} answers to ${maxAnswers} requests`
  if (statuses.length > maxAnswers) return 'more answers than requests'
  for (const [index, part] of answersOf(text).entries()) {
    const status = statuses[index] ?? 0
    if (status >= firstFault) return `a fault: ${status}`
    const code = codeIn(part)
    if (status >= 400 && code !== undefined && (!isErrorCode(code) || statusOf(code) !== status))
      return `${status} with the code ${code}`
    const wanted = expected?.[index]
    if (wanted && (!wanted.statuses.includes(status) || !part.includes(wanted.holding)))
      return `${wanted.name}: ${status} in place of ${wanted.statuses} with ${wanted.holding}`
  }
  return undefined
}

/** Describes a case so that the same bytes can be sent again. */
function reproductionOf({ seed, chunks }: FuzzCase, { text }: RawAnswer): string {
  const bytes = Buffer.concat(chunks)
  return [
    `seed ${seed}; its bytes as text, and a command that sends them:`,
    JSON.stringify(bytes.toString('latin1').slice(0, 3000)),
    `base64 -d <<< ${bytes.toString('base64')} | nc 127.0.0.1 8787`,
    `answered: ${JSON.stringify(text.slice(0, 2000))}`,
  ].join('\n')
}

function report(t: TestContext, vitals: readonly Vitals[], counts: ReadonlyMap<string, number>): void {
  const mostFrequent = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, 40)
  t.diagnostic(mostFrequent.map(([outcome, count]) => `${outcome}: ${count}`).join(', '))
  t.diagnostic(`held, in milliseconds: ${vitals.map(({ heldMs }) => heldMs.toFixed(0)).join(' ')}`)
  t.diagnostic(`the gateway took ${((vitals.at(-1)?.spentMs ?? 0) / 1000).toFixed(1)} s of the processor`)
}
