/** Writes a report as a page, and its main figures as a table. A report is data; all that is computed of it is computed here. */

import type { Machine } from './machine.ts'
import { type Measure, quantile, ratios, type Sample, spreadOf, type Variant } from './measure.ts'

export interface Report {
  /** The day on which it was measured, as ISO 8601 writes it. */
  readonly date: string
  readonly commit: string
  /** Of the other checkout, if there was one. */
  readonly base?: string
  readonly openClaw?: string
  readonly machine: Machine
  readonly rounds: number
  readonly burstSeconds: number
  readonly minutes: number
  /** How many cores other processes took meanwhile, on average. */
  readonly foreignCores: number
  readonly measures: readonly Measure[]
}

/** Names of variants. */
export const reveille = 'Reveille'
export const baseName = 'base'
export const echo = 'Fastify echo'
export const openClawName = 'OpenClaw'

interface Column {
  readonly title: string
  readonly figure: string
  readonly digits: number
  readonly spread?: boolean
}

/** The figures in the order in which they are shown. A table has the columns that its samples have. */
const columns: readonly Column[] = [
  { title: 'ms', figure: 'ms', digits: 0, spread: true },
  { title: 'CPU ms', figure: 'cpuMs', digits: 0, spread: true },
  { title: 'ready ms', figure: 'readyMs', digits: 0, spread: true },
  { title: 'RSS MB', figure: 'megabytes', digits: 0, spread: true },
  { title: 'once called MB', figure: 'megabytesOnceCalled', digits: 0, spread: true },
  { title: 'at the end of the flood MB', figure: 'highestMegabytes', digits: 0, spread: true },
  { title: 'requests/s', figure: 'perSecond', digits: 0, spread: true },
  { title: 'runs/s', figure: 'performedPerSecond', digits: 0, spread: true },
  { title: 'accepted/s', figure: 'acceptedPerSecond', digits: 0 },
  { title: 'saved to live ms', figure: 'savedMs', digits: 0, spread: true },
  { title: 'reloading ms', figure: 'reloadMs', digits: 0, spread: true },
  { title: 'event loop held ms', figure: 'heldMs', digits: 1, spread: true },
  { title: 'start ms', figure: 'startMs', digits: 0 },
  { title: 'µs', figure: 'us', digits: 1, spread: true },
  { title: 'compiled in ms', figure: 'compiledMs', digits: 0 },
  { title: 'heap MB', figure: 'heapMegabytes', digits: 1 },
  { title: 'p50 ms', figure: 'p50Ms', digits: 2 },
  { title: 'p99 ms', figure: 'p99Ms', digits: 2, spread: true },
  { title: 'CPU µs', figure: 'cpu', digits: 1, spread: true },
  { title: 'main', figure: 'cpu main', digits: 1 },
  { title: 'store writer', figure: 'cpu store writer', digits: 1 },
  { title: 'evaluator', figure: 'cpu evaluator', digits: 1 },
  { title: 'V8 workers', figure: 'cpu V8 workers', digits: 1 },
  { title: 'others', figure: 'cpu others', digits: 1 },
  { title: 'client µs', figure: 'clientCpu', digits: 1 },
  { title: 'client busy', figure: 'clientBusy', digits: 2 },
]

/** From this share of a core on it is the client that limits the throughput. */
const busyClient = 0.9
/** What a machine does by itself, and other processes may take before the figures are theirs too. Cores. */
const quietCores = 0.3

/** Says the main figures of a sample in a line. */
export function inWords(sample: Sample): string {
  const main = columns.filter(({ figure, spread }) => spread && sample[figure] !== undefined)
  return main.map(({ title, figure, digits }) => `${number(sample[figure] ?? 0, digits)} ${title}`).join(', ')
}

export function renderPage(report: Report): string {
  const { machine, openClaw, base } = report
  const of = [
    `commit ${report.commit}`,
    ...(base ? [`\`${baseName}\` is ${base}`] : []),
    ...(openClaw ? [`OpenClaw ${openClaw}`] : []),
  ]
  return `# What it costs

This page is written by \`npm run bench\` and \`npm run bench -- --publish\`. Each figure is the median of ${report.rounds} samples or more, with the least
and the greatest of them in brackets. The servers of a table are measured in turns, in one run on one machine. A ratio is the median of the
ratios within a turn, to the first row. CPU is the time on a core that the kernel counts for each thread of the server, by request or run; data are written
with fsync, to the disk of the checkout.

- Measured on ${report.date}: ${of.join(', ')}; ${report.minutes} minutes, bursts of ${report.burstSeconds} s.
- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB, ${machine.kernel}, ${machine.fileSystem}; Node.js ${machine.node} with SQLite ${machine.sqlite}, commands started with ${machine.nodeOfCommands}.
${draftNote(report)}
${report.measures.map(renderMeasure).join('\n')}`
}

function draftNote({ foreignCores }: Report): string {
  if (foreignCores < quietCores) return ''
  return `- **A draft:** other processes took ${number(foreignCores, 1)} cores meanwhile, so the figures are partly theirs.\n`
}

function renderMeasure(measure: Measure): string {
  const shown = columns.filter(({ figure }) =>
    measure.variants.some(({ samples }) => samples.some((sample) => sample[figure])),
  )
  const rows = measure.variants.map((variant) => [
    variant.name,
    ratioCell(measure, variant),
    ...shown.map((column) => cell(variant, column)),
  ])
  const notes = [...againstBase(measure), ...clientNote(measure)].map((line) => `\n${line}\n`)
  return `## ${measure.name}\n\n${table([['', 'ratio', ...shown.map(({ title }) => title)], ...rows])}${notes.join('')}`
}

function ratioCell(measure: Measure, variant: Variant): string {
  const [reference = variant] = measure.variants
  return reference === variant ? '1' : spreadCell(ratios(variant, reference, measure.compared), 2)
}

/** Says of each variant that another checkout was measured in too how the two compare, sample by sample. */
function againstBase({ variants, compared }: Measure): readonly string[] {
  return variants.flatMap((variant) => {
    const base = variants.find(({ name }) => name === variant.name.replace(reveille, baseName))
    if (base === undefined || base === variant) return []
    const figures = [compared, 'cpu'].filter((figure) => variant.samples[0]?.[figure] !== undefined)
    const compare = (figure: string) => {
      const title = columns.find((column) => column.figure === figure)?.title ?? figure
      return `${title} ${spreadCell(ratios(variant, base, figure), 2)}`
    }
    return [`${variant.name} / ${base.name}: ${[...new Set(figures)].map(compare).join(', ')}`]
  })
}

function clientNote({ variants }: Measure): readonly string[] {
  const bound = variants.filter((variant) => median(variant, 'clientBusy') >= busyClient)
  if (bound.length === 0) return []
  return [
    `The client took a whole core, and limits the throughput of: ${bound.map(({ name }) => name).join(', ')}.`,
  ]
}

/** A figure of the short table. */
interface Line {
  readonly label: string
  /** What the name of the measure begins with. */
  readonly measure: string
  readonly cells: (measure: Measure) => readonly string[]
}

/** Figures that tell how many requests a second there were beside the echo. */
function throughput(measure: Measure): readonly string[] {
  const ours = find(measure, reveille)
  const ratio = ratioCell(measure, ours)
  return [
    `${number(median(ours, 'perSecond'), 0)}/s`,
    `${number(median(find(measure, echo), 'perSecond'), 0)}/s`,
    ratio,
  ]
}

/** A figure of Reveille alone, or beside the echo where it has that too. */
function figure(name: string, unit: string, digits: number): Line['cells'] {
  return (measure) => {
    const reference = measure.variants.find((variant) => variant.name === echo)
    const ours = spreadCell(
      find(measure, reveille).samples.map((sample) => sample[name] ?? Number.NaN),
      digits,
    )
    return [`${ours} ${unit}`, reference ? `${number(median(reference, name), digits)} ${unit}` : '', '']
  }
}

const lines: readonly Line[] = [
  { label: 'durable `/wake`, 32 connections', measure: '/wake, 32 ', cells: throughput },
  { label: '— CPU of all threads for each', measure: '/wake, 32 ', cells: figure('cpu', 'µs', 0) },
  { label: '— p50', measure: '/wake, 32 ', cells: figure('p50Ms', 'ms', 2) },
  { label: '— p99', measure: '/wake, 32 ', cells: figure('p99Ms', 'ms', 2) },
  { label: 'durable `/wake`, 128 connections', measure: '/wake, 128 ', cells: throughput },
  { label: 'a log line for each request', measure: '/wake with a log line', cells: logLine },
  {
    label: '`/agent` accepted, CPU',
    measure: '/agent, its run held back, 32 ',
    cells: figure('cpu', 'µs', 0),
  },
  {
    label: 'a mapped payload of 21 KB accepted, one of 100 mappings, CPU',
    measure: 'GitHub mapping, 21 KB, one of 100 mappings, its run held back, 32 ',
    cells: figure('cpu', 'µs', 0),
  },
  {
    label: 'a run performed, 4 at a time, CPU',
    measure: 'runs, no session key',
    cells: figure('cpu', 'µs', 0),
  },
  {
    label: 'runs of one session',
    measure: 'runs, one session key',
    cells: figure('performedPerSecond', 'runs/s', 0),
  },
  { label: 'ready after a start', measure: 'start, from the bundle', cells: figure('ms', 'ms', 0) },
  { label: '`reveille status`', measure: 'start, reveille status', cells: figure('ms', 'ms', 0) },
  { label: 'memory, idle', measure: 'memory, idle', cells: figure('megabytes', 'MB', 0) },
  {
    label: 'memory, a minute after 120,000 wakes',
    measure: 'memory, a minute after',
    cells: figure('megabytes', 'MB', 0),
  },
]

/** What a log line adds to the CPU of a request. */
function logLine(measure: Measure): readonly string[] {
  const [without, each] = [
    find(measure, `${reveille}, no log line`),
    find(measure, `${reveille}, a log line each`),
  ]
  const added = each.samples.map(
    (sample, round) => (sample['cpu'] ?? 0) - (without.samples[round]?.['cpu'] ?? 0),
  )
  return [`${spreadCell(added, 1)} µs more`, '', '']
}

/** The main figures of a report. What it does not hold is left out. */
export function renderTable(report: Report): string {
  const rows = lines.flatMap(({ label, measure, cells }) => {
    const found = report.measures.find(({ name }) => name.startsWith(measure))
    return found ? [[label, ...cells(found)]] : []
  })
  const openClaw = report.measures
    .filter(({ name }) => name.startsWith(openClawName))
    .map((measure) => {
      const ratio = ratioCell(measure, find(measure, reveille))
      return `${measure.name.split(', ')[1]} ${ratio} times`
    })
  const against =
    openClaw.length > 0
      ? `\nRequests per second beside OpenClaw ${report.openClaw}, which keeps nothing: ${openClaw.join('; ')}.\n`
      : ''
  const { machine } = report
  return `${table([['', 'Reveille', 'bare Fastify', 'ratio'], ...rows])}${against}
- Measured on ${report.date} on ${machine.cores} cores (${machine.cpu}), server and client together.
${draftNote(report)}`.trimEnd()
}

function find(measure: Measure, name: string): Variant {
  return measure.variants.find((variant) => variant.name === name) ?? { name, samples: [] }
}

function median({ samples }: Variant, name: string): number {
  return quantile(
    samples.map((sample) => sample[name] ?? 0),
    0.5,
  )
}

function cell(variant: Variant, { figure: name, digits, spread }: Column): string {
  if (!spread) return number(median(variant, name), digits)
  return spreadCell(
    variant.samples.map((sample) => sample[name] ?? 0),
    digits,
  )
}

function spreadCell(values: readonly number[], digits: number): string {
  const { median: middle, least, most } = spreadOf(values)
  return `${number(middle, digits)} (${number(least, digits)}–${number(most, digits)})`
}

function number(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The first row is the head. */
function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...rows.slice(1)].map((row) => `| ${row.join(' | ')} |\n`).join('')
}
