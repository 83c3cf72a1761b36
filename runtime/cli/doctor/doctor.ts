/** `reveille doctor` looks at a configuration, its files and its gateway, and says what to do. It changes nothing. */

import { withCompiled } from '../authoring/compile.ts'
import { findConfiguration, load, shownPath } from '../configuration.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { type Checked, runChecks } from './check.ts'
import { clusterChecks } from './checks/cluster.ts'
import { configurationChecks } from './checks/configuration.ts'
import { fileChecks } from './checks/files.ts'
import { gatewayChecks } from './checks/gateway.ts'
import { machineChecks } from './checks/machine.ts'
import { workChecks } from './checks/work.ts'
import { countsOf, formatCounts, formatReport } from './report.ts'
import { openSubject } from './subject.ts'

interface DoctorOptions extends CommandOptions {
  /** Whether a warning counts as a problem. */
  readonly strict?: boolean
  /** Whether a public server may be asked. */
  readonly online?: boolean
}

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
export async function doctor(options: DoctorOptions, io: Io): Promise<number> {
  const file = findConfiguration(options, io)
  return withCompiled(
    await load(options, io),
    io,
    async (compiled) => {
      const subject = await openSubject(file, compiled, options.online ?? false, io)
      const { store = 'sqlite' } = subject.settingsIfKnown?.gateway ?? {}
      try {
        return report(await runChecks(checksOf(store !== 'sqlite'), subject), file, options, io)
      } finally {
        subject.close()
      }
    },
    { startsPlugins: true },
  )
}

function report(checked: readonly Checked[], file: string, options: DoctorOptions, io: Io): number {
  const counts = countsOf(checked)
  const ok = counts.problem === 0 && !(options.strict && counts.warning > 0)
  if (options.json) {
    const results = checked.flatMap(({ check: { name, group }, results }) =>
      results.map(({ state, ...others }) => ({ check: name, group, state, ...others })),
    )
    io.out(`${JSON.stringify({ ok, file, counts, results }, null, 2)}\n`)
  } else {
    const lines = formatReport(checked, paintFor(io), io.columns ?? Number.POSITIVE_INFINITY)
    io.out(`${[...lines, `${shownPath(file, io)}: ${formatCounts(counts)}.`].join('\n')}\n`)
  }
  return ok ? 0 : 1
}
