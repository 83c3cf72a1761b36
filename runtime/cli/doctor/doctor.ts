/** `reveille doctor` looks at a configuration, its files and its gateway, and says what to do. It changes nothing. */

import type { Paint } from '../../observe/paint.ts'
import { printable } from '../../observe/printable.ts'
import { loadGatewayBlock } from '../../reload/gateway-block.ts'
import { type Compiled, withCompiled } from '../authoring/compile.ts'
import { connectionTo } from '../client.ts'
import { findConfiguration, load, shownPath } from '../configuration.ts'
import { type CommandOptions, type Io, paintFor } from '../io.ts'
import { counted, listed, print } from '../print.ts'
import { type Checked, groups, type Result, runChecks, type Subject } from './check.ts'
import { clusterChecks } from './checks/cluster.ts'
import { configurationChecks } from './checks/configuration.ts'
import { fileChecks } from './checks/files.ts'
import { gatewayChecks } from './checks/gateway.ts'
import { machineChecks } from './checks/machine.ts'
import { createGatewayView, NotChecked } from './gateway-view.ts'

/** Resolves with the exit code: 1 where something is a problem, or with `strict` a warning. @throws CommandFailure */
export async function doctor(io: Io, options: CommandOptions): Promise<number> {
  const file = findConfiguration(io)
  const examine = async (compiled: Compiled) => {
    const settings = compiled.ok
      ? compiled.configuration.settings
      : (await loadGatewayBlock({ file, env: io.env }))?.settings
    const gateway = settings && createGatewayView(await connectionTo(settings, io), io)
    const subject: Subject = {
      io,
      file,
      isOnline: options.online ?? false,
      compiled,
      settings: () => known(settings),
      gateway: () => known(gateway),
    }
    const isCluster = (settings?.gateway.store ?? 'sqlite') !== 'sqlite'
    const checks = [
      ...configurationChecks,
      ...fileChecks,
      ...gatewayChecks,
      ...(isCluster ? clusterChecks : []),
      ...machineChecks,
    ]
    return report(await runChecks(checks, subject), file, io, options)
  }
  return withCompiled(await load(io), io, examine, { startsPlugins: true })
}

/** @throws NotChecked */
function known<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value
  throw new NotChecked(
    'CONFIGURATION_BROKEN',
    'the configuration has errors, and so has its block `gateway:`',
  )
}

function report(checked: readonly Checked[], file: string, io: Io, options: CommandOptions): number {
  const results = checked.flatMap(({ check: { name, group }, results }) =>
    results.map(({ state, ...others }) => ({ check: name, group, state, ...others })),
  )
  const counts = { ok: 0, warning: 0, problem: 0, 'not-checked': 0 }
  for (const { state } of results) counts[state] += 1
  const ok = counts.problem === 0 && !(options.strict && counts.warning > 0)
  const totals = [
    counts.problem > 0 && counted(counts.problem, 'problem'),
    counts.warning > 0 && counted(counts.warning, 'warning'),
    `${counts.ok} ok`,
    counts['not-checked'] > 0 && `${counts['not-checked']} not checked`,
  ]
  const total = `${shownPath(file, io)}: ${totals.filter(Boolean).join(', ')}.`
  const text = () => [...reportLines(checked, paintFor(io)), total].join('\n')
  return print(io, { ok, file, counts, results }, text, ok ? 0 : 1)
}

/** The results group by group, with what to do below each. Checks that were skipped for the same reason share one line. */
function reportLines(checked: readonly Checked[], paint: Paint): string[] {
  const width = Math.max(...checked.map(({ check }) => check.title.length))
  const line = (title: string, { state, code, message, fix, place }: Result) => {
    const isSkipped = state === 'not-checked'
    const text = `${place ? `${place}: ` : ''}${printable(message)}${code && !isSkipped ? ` [${code}]` : ''}`
    const head = `  ${markOf(state, paint)} ${title.padEnd(width)}  ${isSkipped ? paint.dim(text) : text}`
    return fix ? [head, `${' '.repeat(width + 6)}${paint.cyan('→')} ${printable(fix)}`] : [head]
  }
  return groups.flatMap((group) => {
    const all = checked
      .filter(({ check }) => check.group === group)
      .flatMap(({ check: { title }, results }) => results.map((result) => ({ title, result })))
    const isSkipped = ({ result }: { readonly result: Result }) => result.state === 'not-checked'
    const byReason = Map.groupBy(all.filter(isSkipped), ({ result }) => result.message)
    const lines = [
      ...all.filter((each) => !isSkipped(each)).flatMap(({ title, result }) => line(title, result)),
      ...[...byReason].flatMap(([reason, skipped]) => {
        const titles = listed(skipped.map(({ title }) => title))
        return line('-', { state: 'not-checked', message: `${titles} not checked: ${reason}` })
      }),
    ]
    const title = group.replace(/^./, (first) => first.toUpperCase())
    return lines.length === 0 ? [] : [paint.bold(title), ...lines, '']
  })
}

function markOf(state: Result['state'], { green, yellow, red, dim }: Paint): string {
  const marks = { ok: green('✓'), warning: yellow('!'), problem: red('✗'), 'not-checked': dim('-') }
  return marks[state]
}
