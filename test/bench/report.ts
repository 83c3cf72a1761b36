/** Writes a report as a page. A report is data; all that is computed of it is computed here. */

import { baseName, type Measure, type Measured, quantile, ratios, reveille, type Sample } from './measure.ts'

export interface Report {
  /** What was measured, such as `commit 0123abcd`, and where. */
  readonly measured: readonly string[]
  readonly machine: readonly string[]
  readonly rounds: number
  readonly burstSeconds: number
  readonly minutes: number
  /** Average number of cores that other processes used meanwhile. */
  readonly foreignCores: number
  readonly measures: readonly Measure[]
}

/** Figures with their titles and digits, in the order in which they are shown. A table has the columns that its samples have. */
const mainColumns = [
  ['readyMs', 'ready ms', 0],
  ['cpuMs', 'CPU ms', 0],
  ['megabytes', 'RSS MB', 0],
  ['perSecond', 'requests/s', 0],
  ['performedPerSecond', 'runs/s', 0],
  ['claimsPerSecond', 'claims/s', 0],
  ['savedMs', 'saved to live ms', 0],
  ['heldMs', 'longest answer meanwhile ms', 1],
  ['us', 'µs', 1],
  ['p50Ms', 'p50 ms', 2],
  ['p99Ms', 'p99 ms', 2],
  ['cpu', 'CPU µs', 1],
] as const
const otherColumns = [
  ['acceptedPerSecond', 'accepted/s', 0],
  ['answeredMs', 'answered p50 ms', 1],
  ['compiledMs', 'compiled in ms', 0],
  ['heapMegabytes', 'heap MB', 1],
  ['cpu main', 'main', 1],
  ['cpu store writer', 'store writer', 1],
  ['cpu evaluator', 'evaluator', 1],
  ['cpu V8 workers', 'V8 workers', 1],
  ['cpu others', 'others', 1],
  ['clientCpu', 'client µs', 1],
  ['clientBusy', 'client busy', 2],
] as const

/** From this share of a core on it is the client that limits the throughput. */
const busyClient = 0.9
/** Maximum number of cores that the machine itself and other processes may use before they affect the figures. */
const quietCores = 0.3

/** Reports the main figures of a sample in a line. */
export function inWords(sample: Sample): string {
  return mainColumns
    .flatMap(([figure, title, digits]) => {
      const value = sample[figure]
      return value === undefined ? [] : [`${number(value, digits)} ${title}`]
    })
    .join(', ')
}

export function renderPage(report: Report): string {
  const { foreignCores } = report
  const draft =
    foreignCores < quietCores
      ? ''
      : `- **A draft:** other processes took ${number(foreignCores, 1)} cores meanwhile, so the figures are partly theirs.\n`
  return `# What it costs

Each figure is the median of ${report.rounds} samples or more, with the least and the greatest of them in brackets. The servers of a table are measured in turns, in one run on one machine. A ratio is the median of the
ratios within a turn, to the first row. CPU is the time on a core that the kernel counts for each thread of the server, by request or run; data are written
with fsync, to the disk of the checkout.

- Measured on ${report.measured.join(', ')}; ${report.minutes} minutes, bursts of ${report.burstSeconds} s.
- ${report.machine.join(', ')}.
${draft}
${report.measures.map(renderMeasure).join('\n')}`
}

function renderMeasure(measure: Measure): string {
  const { name, variants } = measure
  const isShown = ([figure]: readonly [string, string, number]) =>
    variants.some(({ samples }) => samples.some((sample) => sample[figure]))
  const [main, others] = [mainColumns.filter(isShown), otherColumns.filter(isShown)]
  const rows = variants.map((variant) => [
    variant.name,
    ratioCell(measure, variant),
    ...main.map(([figure, , digits]) => spreadCell(valuesOf(variant, figure), digits)),
    ...others.map(([figure, , digits]) => number(median(variant, figure), digits)),
  ])
  const head = ['', 'ratio', ...[...main, ...others].map(([, title]) => title)]
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  const table = [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('')
  const notes = [...againstBase(measure), ...clientNote(measure)].map((line) => `\n${line}\n`)
  return `## ${name}\n\n${table}${notes.join('')}`
}

function ratioCell({ variants, compared }: Measure, variant: Measured): string {
  const [reference = variant] = variants
  return reference === variant ? '1' : spreadCell(ratios(variant, reference, compared), 2)
}

/** Compares each variant that another checkout was measured in too with it, sample by sample. */
function againstBase({ variants, compared }: Measure): readonly string[] {
  const [variant, base] = [reveille, baseName].map((name) => variants.find((each) => each.name === name))
  if (variant === undefined || base === undefined) return []
  const figures = mainColumns.filter(
    ([figure]) =>
      [compared, 'cpu', 'cpuMs', 'megabytes'].includes(figure) && variant.samples[0]?.[figure] !== undefined,
  )
  const shown = figures.map(([figure, title]) => `${title} ${spreadCell(ratios(variant, base, figure), 2)}`)
  return [`${reveille} / ${baseName}: ${shown.join(', ')}`]
}

function clientNote({ variants }: Measure): readonly string[] {
  const bound = variants.filter((variant) => median(variant, 'clientBusy') >= busyClient)
  if (bound.length === 0) return []
  const names = bound.map(({ name }) => name).join(', ')
  return [`The client took a whole core, and limits the throughput of: ${names}.`]
}

function valuesOf({ samples }: Measured, figure: string): readonly number[] {
  return samples.map((sample) => sample[figure] ?? 0)
}

function median(variant: Measured, figure: string): number {
  return quantile(valuesOf(variant, figure), 0.5)
}

function spreadCell(values: readonly number[], digits: number): string {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return `${number(quantile(values, 0.5), digits)} (${number(least, digits)}–${number(most, digits)})`
}

function number(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
