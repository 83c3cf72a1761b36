/** Draws a plot over time with uPlot. It is a chunk of its own, which only the page Health loads. */

import uPlot from 'uplot'

export interface PlotLine {
  readonly label: string
  /** The name of a custom property: `--good`. */
  readonly colour: string
  readonly values: readonly (number | null)[]
  /** Fills the area below it, on top of the lines after it. */
  readonly isArea?: boolean
  /** Its values have an axis of their own, at the right. */
  readonly isOfSecondAxis?: boolean
  readonly dash?: readonly number[]
}

export interface PlotOptions {
  readonly parent: HTMLElement
  /** Milliseconds since the epoch. */
  readonly times: readonly number[]
  /** What the plot shows of time, whether or not there are values for all of it. */
  readonly span: readonly [from: number, to: number]
  readonly lines: readonly PlotLine[]
  readonly format: (value: number) => string
  readonly formatSecond?: (value: number) => string
  readonly height: number
}

export interface Plot {
  /** Draws again, after the data, the size or the colours have changed. */
  close(): void
}

export function createPlot(options: PlotOptions): Plot {
  const { parent, times, span, lines, format, formatSecond, height } = options
  const colour = readColours(parent)
  const axis = {
    stroke: colour('--quiet'),
    font: `12px ${getComputedStyle(parent).fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  }
  const values = (write: (value: number) => string) => (_plot: uPlot, marks: (number | null)[]) =>
    marks.map((mark) => (mark === null ? '' : write(mark)))
  const plot = new uPlot(
    {
      width: Math.max(parent.clientWidth, 200),
      height,
      // The list beside it says what each line is; it can be read without seeing.
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      // Half of the last time stands beyond the end of the axis.
      padding: [8, formatSecond ? 0 : 20, 0, 0],
      scales: {
        x: { range: [span[0] / 1000, span[1] / 1000] },
        y: { range: fromZero },
        ...(formatSecond && { second: { range: fromZero } }),
      },
      axes: [
        { ...axis, values: (_plot, marks) => marks.map((mark) => clock.format(mark * 1000)) },
        { ...axis, size: 58, values: values(format) },
        ...(formatSecond
          ? [
              {
                ...axis,
                scale: 'second',
                side: 1 as const,
                size: 58,
                grid: { show: false },
                values: values(formatSecond),
              },
            ]
          : []),
      ],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.label,
          scale: line.isOfSecondAxis ? 'second' : 'y',
          stroke: colour(line.colour),
          width: 2,
          points: { show: times.length < fewPoints, size: 5 },
          ...(line.dash && { dash: [...line.dash] }),
          ...(line.isArea && { fill: colour(line.colour, 0.2) }),
        })),
      ],
    },
    [times.map((at) => at / 1000), ...lines.map((line) => [...line.values])] as uPlot.AlignedData,
    parent,
  )
  plot.root.setAttribute('aria-hidden', 'true')
  const sizes = new ResizeObserver(() => plot.setSize({ width: Math.max(parent.clientWidth, 200), height }))
  sizes.observe(parent)
  return {
    close() {
      sizes.disconnect()
      plot.destroy()
    },
  }
}

/** So few values are hardly a line. */
const fewPoints = 20

/** A canvas knows nothing of custom properties, so a colour is read from an element that has it. */
function readColours(parent: HTMLElement): (name: string, opacity?: number) => string {
  return (name, opacity = 1) => {
    const probe = parent.ownerDocument.createElement('span')
    parent.append(probe)
    probe.style.color = `var(${name})`
    const { color } = getComputedStyle(probe)
    probe.remove()
    return opacity === 1 ? color : color.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`)
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** An axis begins at zero, and a plot of nothing still has one. */
function fromZero(_plot: uPlot, _least: number, most: number): uPlot.Range.MinMax {
  return [0, most > 0 ? most * 1.1 : 1]
}
