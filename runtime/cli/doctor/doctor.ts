/** `reveille doctor` looks at a configuration, its files and its gateway, and says what to do. It changes nothing. */

import type { Paint } from '../../observe/paint.ts'
import { printable } from '../../observe/printable.ts'
import { wrapWords } from '../../observe/wrap-words.ts'
import { withCompiled } from '../authoring/compile.ts'
import { findConfiguration, load, shownPath } from '../configuration.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { counted, hung, listed, print, withCommandLines } from '../print.ts'
import { type Checked, groups, type Result, runChecks, type State } from './check.ts'
import { clusterChecks } from './checks/cluster.ts'
import { configurationChecks } from './checks/configuration.ts'
import { fileChecks } from './checks/files.ts'
import { gatewayChecks } from './checks/gateway.ts'
import { machineChecks } from './checks/machine.ts'
import { workChecks } from './checks/work.ts'
import { openDoctorContext } from './context.ts'

/** In the order of the report. */
const checksOf = (isCluster: boolean) => [
  ...configurationChecks,
  ...fileChecks,
  ...gatewayChecks,
  ...(isCluster ? clusterChecks : []),
  ...workChecks,
  ...machineChecks,
]

/** Resolves with the exit code: 1 where something is a problem, or with `strict` a warning. @throws CommandFailure */
export async function doctor(io: Io, options: CommandOptions): Promise<number> {
  const file = findConfiguration(io)
  return withCompiled(
    await load(io),
    io,
    async (compiled) => {
      const subject = await openDoctorContext(file, compiled, options.online ?? false, io)
      const { store = 'sqlite' } = subject.settingsIfKnown?.gateway ?? {}
      try {
        return report(await runChecks(checksOf(store !== 'sqlite'), subject), file, io, options)
      } finally {
        subject.close()
      }
    },
    { startsPlugins: true },
  )
}

function report(checked: readonly Checked[], file: string, io: Io, options: CommandOptions): number {
  const counts = { ok: 0, warning: 0, problem: 0, 'not-checked': 0 }
  for (const { results } of checked) for (const { state } of results) counts[state] += 1
  const ok = counts.problem === 0 && !(options.strict && counts.warning > 0)
  const results = checked.flatMap(({ check: { name, group }, results }) =>
    results.map(({ state, ...others }) => ({ check: name, group, state, ...others })),
  )
  const totals = [
    counts.problem > 0 && counted(counts.problem, 'problem'),
    counts.warning > 0 && counted(counts.warning, 'warning'),
    `${counts.ok} ok`,
    counts['not-checked'] > 0 && `${counts['not-checked']} not checked`,
  ]
  const total = `${shownPath(file, io)}: ${totals.filter(Boolean).join(', ')}.`
  const text = () => [...reportLines(checked, io), total].join('\n')
  return print(io, { ok, file, counts, results }, text, ok ? 0 : 1)
}

/** The narrowest column for texts; a narrower terminal wraps lines itself. */
const minRoom = 30

interface Line {
  readonly title: string
  readonly result: Result
}

/** Groups, a line for each result, and what to do below it. */
function reportLines(checked: readonly Checked[], io: Io): string[] {
  const sections = groups.map((group) => ({
    group,
    lines: linesOf(checked.filter(({ check }) => check.group === group)),
  }))
  const width = Math.max(0, ...sections.flatMap(({ lines }) => lines.map(({ title }) => title.length)))
  const paint = paintFor(io)
  return sections.flatMap(({ group, lines }) => {
    if (lines.length === 0) return []
    const title = group.replace(/^./, (first) => first.toUpperCase())
    return [paint.bold(title), ...lines.flatMap((line) => formatLine(line, width, paint, io)), '']
  })
}

/** Checks that were skipped for the same reason share one line, after the others. */
function linesOf(checked: readonly Checked[]): readonly Line[] {
  const all = checked.flatMap(({ check: { title }, results }) => results.map((result) => ({ title, result })))
  const skipped = all.filter(({ result }) => result.state === 'not-checked')
  const byReason = Map.groupBy(skipped, ({ result }) => result.message)
  const shared = [...byReason].map(([message, lines]): Line => {
    const names = listed([...new Set(lines.map(({ title }) => title))])
    return { title: 'not checked', result: { state: 'not-checked', message: `${names}: ${message}` } }
  })
  return [...all.filter((line) => !skipped.includes(line)), ...shared]
}

function formatLine({ title, result }: Line, width: number, paint: Paint, io: Io): string[] {
  const { columns } = io
  const { state, fix, place, message, code } = result
  const isSkipped = state === 'not-checked'
  const shade = (text: string) => (isSkipped ? paint.dim(text) : text)
  const head = `  ${markOf(state, paint)} ${shade(title.padEnd(width))}  `
  const left = ' '.repeat(width + 6)
  const room = Math.max(minRoom, (columns ?? Number.POSITIVE_INFINITY) - left.length)
  const text = `${place === undefined ? '' : `${place}: `}${message}${code === undefined || isSkipped ? '' : ` [${code}]`}`
  return [
    ...wrapWords(printable(withCommandLines(text, io)), room).map(
      (line, at) => `${at === 0 ? head : left}${shade(line)}`,
    ),
    ...(fix === undefined
      ? []
      : hung(printable(withCommandLines(fix, io)), `${left}${paint.cyan('→')} `, columns, `${left}  `)),
  ]
}

function markOf(state: State, { green, yellow, red, dim }: Paint): string {
  const marks = { ok: green('✓'), warning: yellow('!'), problem: red('✗'), 'not-checked': dim('-') }
  return marks[state]
}
