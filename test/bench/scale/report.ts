/** Writes a report of `npm run bench:scale` as a page: what was promised and whether it holds, and a table for each comparison. */

import { type Measure, ratios, spreadOf, type Variant } from '../measure.ts'
import { draftNote, median, number, type Report, renderMeasure, table } from '../report.ts'
import { besideOld, claiming, waiting } from './claims.ts'
import { sqlite, starting } from './gateways.ts'

export interface ScaleReport
  extends Pick<
    Report,
    'date' | 'commit' | 'machine' | 'rounds' | 'burstSeconds' | 'minutes' | 'foreignCores' | 'measures'
  > {
  readonly postgres: string
  readonly libraries: string
  readonly backlogs: readonly number[]
}

/** A promise, and what was measured of it. */
export interface Target {
  readonly what: string
  readonly most: number
  readonly unit: string
  readonly measured: number
}

const maxStartMs = 20
const maxBetweenBacklogs = 1.2
const maxBesideOld = 2

/** Returns what the report can say of what was promised. */
export function targetsOf({
  measures,
  backlogs,
}: Pick<ScaleReport, 'measures' | 'backlogs'>): readonly Target[] {
  const starts = measures.find(({ name }) => name.startsWith(starting))
  const claims = measures.find(({ name }) => name === claiming)
  return [...(starts ? startTargets(starts) : []), ...(claims ? claimTargets(claims, backlogs) : [])]
}

function startTargets({ variants }: Measure): readonly Target[] {
  return variants
    .filter(({ name }) => name !== sqlite)
    .map((variant) => ({
      what: `accept to start of the run, p50: ${variant.name}`,
      most: maxStartMs,
      unit: 'ms',
      measured: median(variant, 'p50Ms'),
    }))
}

function claimTargets({ variants }: Measure, backlogs: readonly number[]): readonly Target[] {
  const find = (name: string) => variants.find((variant) => variant.name === name) as Variant
  const rates = backlogs.map((backlog) => median(find(waiting(backlog)), 'claimsPerSecond'))
  const sizes = backlogs.map((backlog) => backlog.toLocaleString('en')).join(', ')
  return [
    {
      what: `claims a second, most / least of the backlogs ${sizes}`,
      most: maxBetweenBacklogs,
      unit: 'times',
      measured: Math.max(...rates) / Math.min(...rates),
    },
    ...backlogs.map((backlog) => ({
      what: `p99 of a claim with an old transaction / without, ${waiting(backlog)}`,
      most: maxBesideOld,
      unit: 'times',
      measured: spreadOf(ratios(find(besideOld(backlog)), find(waiting(backlog)), 'p99Ms')).median,
    })),
  ]
}

export function renderScalePage(report: ScaleReport): string {
  const { machine } = report
  const rows = targetsOf(report).map(({ what, most, unit, measured }) => [
    what,
    `${most} ${unit}`,
    number(measured, 2),
    measured <= most ? 'yes' : '**no**',
  ])
  const targets = rows.length === 0 ? '' : `${table([['', 'at most', 'measured', 'held'], ...rows])}\n`
  return `# How far it scales

This page is written by \`npm run bench:scale\`. Each figure is the median of ${report.rounds} ${report.rounds === 1 ? 'sample' : 'samples'}, with the least and the greatest in
brackets. The variants of a table are measured in turns, in one run on one machine, which gateways, PostgreSQL and the sender of the requests
share: several gateways on few cores take from each other, so compare CPU rather than throughput. A ratio is the median of the ratios within a turn, to the first row.

- Measured on ${report.date}: commit ${report.commit}; ${report.minutes} minutes, samples of ${report.burstSeconds} s at most.
- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB, ${machine.kernel}, ${machine.fileSystem}; Node.js ${machine.node} with SQLite ${machine.sqlite}.
- ${report.postgres}; ${report.libraries}.
- CPU is µs on a core for each request, of all gateways and of all of PostgreSQL's processes.
- A claim is claim, settlement and the next one of the lane, with 10 tasks in each lane; p50 and p99 are from the end of a task until its place has the next one. \`pg-boss\`: from asking for 32 jobs until they are completed, by four at one time.
${draftNote(report)}
${targets}${report.measures.map(renderMeasure).join('\n')}`
}
