/** Writes a report as a page. A report is data; all that is computed of it is computed here. */

import type { Machine } from './machine.ts'
import {
  baseName,
  type Measure,
  quantile,
  ratios,
  reveille,
  type Sample,
  spreadOf,
  type Variant,
} from './measure.ts'

export interface Report {
  /** The day on which it was measured, as ISO 8601 writes it. */
  readonly date: string
  readonly commit: string
  /** Of the other checkout, if there was one. */
  readonly base?: string
  readonly openClaw?: string
  /** Describes the server, if there was one. */
  readonly postgres?: string
  readonly machine: Machine
  readonly rounds: number
  readonly burstSeconds: number
  readonly minutes: number
  /** Average number of cores that other processes used meanwhile. */
  readonly foreignCores: number
  readonly measures: readonly Measure[]
}

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
  { title: 'claims/s', figure: 'claimsPerSecond', digits: 0, spread: true },
  { title: 'answered p50 ms', figure: 'answeredMs', digits: 1 },
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
  { title: 'gateways', figure: 'cpu gateways', digits: 1 },
  { title: 'PostgreSQL', figure: 'cpu PostgreSQL', digits: 1 },
  { title: 'client µs', figure: 'clientCpu', digits: 1 },
  { title: 'client busy', figure: 'clientBusy', digits: 2 },
]

/** From this share of a core on it is the client that limits the throughput. */
const busyClient = 0.9
/** Maximum number of cores that the machine itself and other processes may use before they affect the figures. */
const quietCores = 0.3

/** Says the main figures of a sample in a line. */
export function inWords(sample: Sample): string {
  const main = columns.filter(({ figure, spread }) => spread && sample[figure] !== undefined)
  return main.map(({ title, figure, digits }) => `${number(sample[figure] ?? 0, digits)} ${title}`).join(', ')
}

export function renderPage(report: Report): string {
  const { machine, openClaw, postgres, base } = report
  const of = [
    `commit ${report.commit}`,
    ...(base ? [`\`${baseName}\` is ${base}`] : []),
    ...(openClaw ? [`OpenClaw ${openClaw}`] : []),
    ...(postgres ? [postgres] : []),
  ]
  return `# What it costs

Each figure is the median of ${report.rounds} samples or more, with the least and the greatest of them in brackets. The servers of a table are measured in turns, in one run on one machine. A ratio is the median of the
ratios within a turn, to the first row. CPU is the time on a core that the kernel counts for each thread of the server, by request or run; data are written
with fsync, to the disk of the checkout.

- Measured on ${report.date}: ${of.join(', ')}; ${report.minutes} minutes, bursts of ${report.burstSeconds} s.
- ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB, ${machine.kernel}, ${machine.fileSystem}; Node.js ${machine.node} with SQLite ${machine.sqlite}, commands started with ${machine.nodeOfCommands}.
${draftNote(report)}
${report.measures.map(renderMeasure).join('\n')}`
}

export function draftNote(report: Pick<Report, 'foreignCores'>): string {
  if (isQuiet(report)) return ''
  return `- **A draft:** other processes took ${number(report.foreignCores, 1)} cores meanwhile, so the figures are partly theirs.\n`
}

function isQuiet({ foreignCores }: Pick<Report, 'foreignCores'>): boolean {
  return foreignCores < quietCores
}

export function renderMeasure(measure: Measure): string {
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
    const figures = [compared, 'cpu', 'cpuMs'].filter((figure) => variant.samples[0]?.[figure] !== undefined)
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

export function median({ samples }: Variant, name: string): number {
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

export function number(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = []] = rows
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...rows.slice(1)].map((row) => `| ${row.join(' | ')} |\n`).join('')
}
