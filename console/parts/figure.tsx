/** A plot over time with its title, its lines named, a sentence that says what it shows, and the same numbers as a table. */

import { shortTime } from './words.tsx'

interface PlotLine {
  readonly label: string
  /** The name of a custom property: `--good`. */
  readonly colour: string
  /** One for each step; null where nothing is known. */
  readonly values: readonly (number | null)[]
  /** Fills the area below it. */
  readonly isArea?: boolean
  /** Its values have a scale of their own, at the right. */
  readonly isOfSecondScale?: boolean
  readonly dash?: string
}

interface FigureProps {
  readonly title: string
  /** For those who do not see it, and for those in a hurry. */
  readonly summary: string
  /** When the first step begins, and how long each is. Milliseconds. */
  readonly from: number
  readonly stepMs: number
  readonly lines: readonly PlotLine[]
  readonly format: (value: number) => string
  readonly formatSecond?: (value: number) => string
}

/** In the units of the drawing, which is stretched to its place. */
const width = 600
const height = 160
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

export function Figure(props: FigureProps) {
  const { title, summary, from, stepMs, lines, format, formatSecond = format } = props
  const [first, second] = [scaleOf(lines, false), scaleOf(lines, true)]
  const count = lines[0]?.values.length ?? 0
  const marks = [0, 0.25, 0.5, 0.75, 1]
  return (
    <figure class="figure card">
      <figcaption>
        <h2>{title}</h2>
        <p class="quiet">{summary}</p>
      </figcaption>
      <ul class="legend" aria-hidden="true">
        {lines.map(({ label, colour, dash }) => (
          <li key={label}>
            <svg viewBox="0 0 16 4" aria-hidden="true">
              <path d="M0 2h16" stroke={`var(${colour})`} stroke-width="3" stroke-dasharray={dash} />
            </svg>
            {label}
          </li>
        ))}
      </ul>
      <div class="plot" aria-hidden="true">
        <Scale max={first} format={format} />
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {marks.map((mark) => (
            <path key={mark} class="grid" d={`M0 ${mark * height}H${width}M${mark * width} 0V${height}`} />
          ))}
          {lines.map(({ label, colour, dash, isArea, isOfSecondScale, values }) => {
            const max = isOfSecondScale ? second : first
            const known = values.map((value) => value ?? 0)
            return (
              <g key={label} stroke={`var(${colour})`} fill={`var(${colour})`}>
                {isArea && <path class="area" d={`${stepsOf(known, max)}V${height}H0Z`} />}
                <path class="line" d={stepsOf(values, max)} stroke-dasharray={dash} />
              </g>
            )
          })}
        </svg>
        {lines.some(({ isOfSecondScale }) => isOfSecondScale) && <Scale max={second} format={formatSecond} />}
        <div class="plot-times">
          {marks.map((mark) => (
            <span key={mark}>{clock.format(from + mark * count * stepMs)}</span>
          ))}
        </div>
      </div>
      <details>
        <summary>As a table</summary>
        <Table {...props} />
      </details>
    </figure>
  )
}

function Scale({ max, format }: { readonly max: number; readonly format: (value: number) => string }) {
  return (
    <div class="plot-scale">
      {[1, 0.5, 0].map((share) => (
        <span key={share}>{format(share * max)}</span>
      ))}
    </div>
  )
}

/** The end of a scale that begins at zero: 1, 2 or 5 with zeros behind. A plot of nothing still has one. */
function scaleOf(lines: readonly PlotLine[], isSecond: boolean): number {
  const values = lines.flatMap((line) => ((line.isOfSecondScale ?? false) === isSecond ? line.values : []))
  const max = Math.max(0, ...values.filter((value) => value !== null))
  if (max === 0) return 1
  const power = 10 ** Math.floor(Math.log10(max))
  return power * ([1, 2, 5].find((each) => each * power >= max) ?? 10)
}

/** Each value is a level for the whole of its step, so that no line rises above what was counted. */
function stepsOf(values: readonly (number | null)[], max: number): string {
  const step = width / Math.max(1, values.length)
  return values
    .map((value, index) => {
      if (value === null) return ''
      const isNew = (values[index - 1] ?? null) === null
      const y = (height - (value / max) * height).toFixed(1)
      return `${isNew ? 'M' : 'L'}${(index * step).toFixed(1)} ${y}H${((index + 1) * step).toFixed(1)}`
    })
    .join('')
}

/** The newest first. */
function Table({ title, from, stepMs, lines, format, formatSecond = format }: FigureProps) {
  const steps = (lines[0]?.values ?? []).map((_, step) => step)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section class="table-scroll" aria-label={`${title} as a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['From', ...lines.map(({ label }) => label)].map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.toReversed().map((step) => (
            <tr key={step}>
              <th scope="row">{shortTime(from + step * stepMs)}</th>
              {lines.map(({ label, values, isOfSecondScale }) => {
                const value = values[step] ?? null
                return (
                  <td key={label}>
                    {value === null ? '–' : (isOfSecondScale ? formatSecond : format)(value)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
