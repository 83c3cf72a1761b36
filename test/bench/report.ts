/** Writes what was measured as a page. */

import { type Measure, quantile, ratios, type Sample, spreadOf, type Variant } from './measure.ts'
import { baseName, here } from './server.ts'

interface Column {
  readonly title: string
  readonly figure: string
  readonly digits: number
  readonly spread?: boolean
}

/** The figures in the order in which they are shown. A table has the columns that its samples have. */
const columns: readonly Column[] = [
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

/** Says the main figures of a sample in a line. */
export function inWords(sample: Sample): string {
  const main = columns.filter(({ figure, spread }) => spread && sample[figure] !== undefined)
  return main.map(({ title, figure, digits }) => `${number(sample[figure] ?? 0, digits)} ${title}`).join(', ')
}

export function render(measures: readonly Measure[]): string {
  return measures.map(renderMeasure).join('\n')
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
  const comparisons = againstBase(measure).map((line) => `\n${line}\n`)
  return `### ${measure.name}\n\n${table([['', 'ratio', ...shown.map(({ title }) => title)], ...rows])}${comparisons.join('')}`
}

function ratioCell(measure: Measure, variant: Variant): string {
  const [reference = variant] = measure.variants
  return reference === variant ? '1' : spreadCell(ratios(variant, reference, measure.compared), 2)
}

/** Says of each variant that another checkout was measured in too how the two compare, sample by sample. */
function againstBase({ variants, compared }: Measure): readonly string[] {
  return variants.flatMap((variant) => {
    const base = variants.find(({ name }) => name === variant.name.replace(here.name, baseName))
    if (base === undefined || base === variant) return []
    const figures = [compared, 'cpu'].filter((figure) => variant.samples[0]?.[figure] !== undefined)
    const compare = (figure: string) => {
      const title = columns.find((column) => column.figure === figure)?.title ?? figure
      return `${title} ${spreadCell(ratios(variant, base, figure), 2)}`
    }
    return [`${variant.name} / ${base.name}: ${[...new Set(figures)].map(compare).join(', ')}`]
  })
}

function cell({ samples }: Variant, { figure, digits, spread }: Column): string {
  const values = samples.map((sample) => sample[figure] ?? 0)
  return spread ? spreadCell(values, digits) : number(quantile(values, 0.5), digits)
}

function spreadCell(values: readonly number[], digits: number): string {
  const { median, least, most } = spreadOf(values)
  return `${number(median, digits)} (${number(least, digits)}–${number(most, digits)})`
}

function number(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...others] = rows
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => [...(row[column] ?? '')].length)))
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => text[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0)).join(' | ')} |\n`
  const rule = `|${widths.map((width, column) => (column === 0 ? `${'-'.repeat(width + 2)}` : `${'-'.repeat(width + 1)}:`)).join('|')}|\n`
  return line(head) + rule + others.map(line).join('')
}
