/** Owns sending every hostile body to every kind of mapping, and holding what comes of it. */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { expectedMappings } from '../../presets/expected.ts'
import { soundPresets } from '../../presets/presets.ts'
import { type HostileCase, hostileCases } from './cases.ts'
import { openWatched, type Watched } from './watched.ts'
import type { Report } from './watched-gateway.ts'

export interface HostileRun {
  /** Of all cases, each so-manieth is sent; 1: all. */
  readonly stride: number
  /** Milliseconds of the processor, collecting garbage left out. */
  readonly longestBlock: number
}

interface Measured {
  readonly name: string
  readonly block: number
  readonly report: Report
}

/** A heap may hold this much more than it did: the prompts of the runs that are under way, and traces. Bytes. */
const mostKept = 32 * 1024 * 1024
const shown = 12
/** Requests that are sent at the same time, once the others were sent one by one. */
const together = 6

export async function holdAgainstHostility(t: TestContext, { stride, longestBlock }: HostileRun) {
  const presets = Object.keys(expectedMappings)
  const { configuration } = await soundPresets(presets)
  const cases = hostileCases(configuration.tests)
  const sent = cases.filter((_, index) => index % stride === 0)
  const gateway = await openWatched(t, presets)
  await warmUp(gateway, cases)
  const before = await gateway.collect()

  const measured: Measured[] = []
  for (const each of sent) measured.push(await measure(gateway, [each]))
  for (const group of groupsOf(sent.filter((_, index) => index % 12 === 0))) {
    measured.push(await measure(gateway, group))
  }
  const after = await gateway.collect()

  const worst = measured.toSorted((one, other) => other.block - one.block).slice(0, shown)
  t.diagnostic(`${measured.length} cases; milliseconds without a turn for anything else, garbage beside it:`)
  for (const { name, block, report } of worst) {
    t.diagnostic(`${block.toFixed(0).padStart(5)} ${report.garbage.toFixed(0).padStart(5)}  ${name}`)
  }
  t.diagnostic(
    `heap ${megabytes(before.heap)} -> ${megabytes(after.heap)}, resident ${megabytes(after.resident)}`,
  )
  assert.ok(after.heap - before.heap < mostKept, `the heap grew to ${megabytes(after.heap)}`)
  const [longest] = worst
  assert.ok(longest && longest.block <= longestBlock, `${longest?.name} blocked for ${longest?.block} ms`)
}

/** An answer that is none of ours fails the run: what a stranger sends is accepted, ignored or refused. */
async function measure(gateway: Watched, cases: readonly HostileCase[]): Promise<Measured> {
  const { answers, report } = await gateway.send(cases)
  const name = cases.map((each) => each.name).join(' | ')
  for (const { status, text } of answers) {
    assert.ok(status >= 200 && status < 500, `${name}: ${status} ${text.slice(0, 200)}`)
    // An answer to a sender's question whether the address is ours has the sender's shape.
    const { ok } = text.startsWith('{') ? (JSON.parse(text) as { ok?: unknown }) : {}
    assert.ok(status < 300 ? ok !== false : ok === false, `${name}: ${status} ${text.slice(0, 200)}`)
  }
  return { name, block: Math.max(report.busy - report.garbage, 0), report }
}

/** What runs for the first time is slow, and nobody's fault. */
async function warmUp(gateway: Watched, cases: readonly HostileCase[]): Promise<void> {
  const small = Buffer.from('{"a":[{"a":1,"x":"y"},2,"three"],"b":"b"}')
  const endpoints = [...new Set(cases.map(({ endpoint }) => endpoint))]
  const each = endpoints.map((endpoint) => ({ name: 'warm-up', endpoint, headers: {}, body: () => small }))
  for (let round = 0; round < 2; round++) await gateway.send(each)
}

function groupsOf(cases: readonly HostileCase[]): HostileCase[][] {
  const groups: HostileCase[][] = []
  for (let start = 0; start + together <= cases.length; start += together) {
    groups.push(cases.slice(start, start + together))
  }
  return groups
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`
}
