/** `reveille doctor`: looks at a configuration, its files and its gateway, and says what to do. Changes nothing. */

import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import { type Compiled, withCompiled } from '../authoring/compile.ts'
import { findConfiguration, load, shownPath } from '../configuration.ts'
import { type Io, paintFor } from '../io.ts'
import { checks } from './checks/index.ts'
import { countsOf, formatCounts, formatReport } from './report.ts'
import { type Checked, runChecks } from './run-checks.ts'
import type { Subject } from './subject.ts'

export interface DoctorOptions {
  readonly config?: string
  readonly json?: boolean
  readonly strict?: boolean
  readonly online?: boolean
}

export async function doctor(options: DoctorOptions, io: Io): Promise<number> {
  const file = findConfiguration(options, io)
  const loaded = await load(options, io)
  return withCompiled(
    loaded,
    io,
    async (compiled) => {
      const subject = await subjectOf(file, compiled, io)
      return tell(await runChecks(checks(options), subject), subject, options)
    },
    { asksPlugins: true },
  )
}

async function subjectOf(file: string, compiled: Compiled, io: Io): Promise<Subject> {
  const { settings } = compiled.ok
    ? compiled.configuration
    : ((await loadGatewayBlock({ file, env: io.env })) ?? {})
  return { io, file, compiled, ...(settings && { settings }) }
}

function tell(checked: readonly Checked[], { io, file }: Subject, options: DoctorOptions): number {
  const counts = countsOf(checked)
  const passes = counts.problem === 0 && !(options.strict && counts.warning > 0)
  if (options.json) {
    const results = checked.flatMap(({ check: { name, group }, results }) =>
      results.map(({ state, ...told }) => ({ check: name, group, state, ...told })),
    )
    io.out(`${JSON.stringify({ ok: passes, file, counts, results }, null, 2)}\n`)
  } else {
    const paint = paintFor(io)
    const lines = formatReport(checked, paint, io.columns ?? Number.POSITIVE_INFINITY)
    io.out(`${[...lines, `${shownPath(file, io)}: ${formatCounts(counts)}.`].join('\n')}\n`)
  }
  return passes ? 0 : 1
}
