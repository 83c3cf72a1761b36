/** A plot with its title, its lines named, a sentence that says what it shows, and the same numbers as a table. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { isDark } from '../browser/theme.ts'
import type { PlotOptions } from '../plot/plot.ts'
import { shortTime } from './time.tsx'

export type FigureProps = Pick<PlotOptions, 'times' | 'span' | 'lines' | 'format' | 'formatSecond'> & {
  readonly title: string
  /** What it shows, for those who do not see it, and for those in a hurry. */
  readonly summary: string
}

const height = 200
/** The rows of the table; several points are put together in each. */
const maxRows = 12

export function Figure(props: FigureProps) {
  const { title, summary, times, span, lines, format, formatSecond } = props
  const place = useRef<HTMLDivElement>(null)
  const [hasPlot, setHasPlot] = useState(true)
  const dark = isDark.value
  useEffect(() => {
    let close = () => {}
    let isLeft = false
    import('../plot/plot.ts').then(
      ({ createPlot }) => {
        if (!isLeft && place.current) {
          const plot = createPlot({ parent: place.current, times, span, lines, format, formatSecond, height })
          close = plot.close
        }
      },
      () => setHasPlot(false),
    )
    return () => {
      isLeft = true
      close()
    }
  }, [times, lines, dark])
  return (
    <figure class="figure card">
      <figcaption>
        <h2>{title}</h2>
        <p>{summary}</p>
      </figcaption>
      <ul class="legend" aria-hidden="true">
        {lines.map(({ label, colour, dash }) => (
          <li key={label}>
            <svg viewBox="0 0 16 4" class="legend-line" aria-hidden="true">
              <path
                d="M0 2h16"
                stroke={`var(${colour})`}
                stroke-width="3"
                stroke-dasharray={dash?.join(' ')}
              />
            </svg>
            {label}
          </li>
        ))}
      </ul>
      {hasPlot && <div class="plot" ref={place} aria-hidden="true" data-height={height} />}
      <details>
        <summary>As a table</summary>
        <Table {...props} />
      </details>
    </figure>
  )
}

function Table({ title, times, lines, format, formatSecond }: FigureProps) {
  const size = Math.max(1, Math.ceil(times.length / maxRows))
  const rows = Array.from({ length: Math.ceil(times.length / size) }, (_, row) => row * size)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section class="table-scroll" aria-label={`${title} as a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {lines.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.toReversed().map((from) => (
            <tr key={from}>
              <th scope="row">{shortTime(times[from] ?? 0)}</th>
              {lines.map(({ label, values, isOfSecondAxis }) => (
                <td key={label}>
                  {mean(values.slice(from, from + size), (isOfSecondAxis && formatSecond) || format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function mean(values: readonly (number | null)[], format: (value: number) => string): string {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? '–' : format(known.reduce((sum, value) => sum + value, 0) / known.length)
}
