/** `reveille lint`: finds what a configuration that compiles probably does not mean. */

import { readFileSync } from 'node:fs'
import { type Diagnostic, inFileOrder, lintConfiguration, nearestName } from '@reveille/engine'
import { CommandFailure } from '../../command-failure.ts'
import { findConfiguration, formatDiagnostics, load, reportUnset, shownPath } from '../../configuration.ts'
import type { CommandOptions, Io } from '../../io.ts'
import { counted } from '../../print.ts'
import { withCompiled } from '../compile.ts'
import { lintCodes } from './codes.ts'
import { readSamples } from './samples.ts'

interface LintOptions extends CommandOptions {
  readonly samples?: string
  readonly allow?: readonly string[]
}

export async function lint(options: LintOptions, io: Io): Promise<number> {
  const allowed = checkCodes(options.allow ?? [])
  const file = findConfiguration(options, io)
  const samples = options.samples === undefined ? [] : await readSamples(options.samples, io)
  return withCompiled(await load({ ...options, allowsUnset: true }, io), io, async (compiled) => {
    if (!compiled.ok) {
      report(false, compiled.diagnostics, file, options, io)
      return 1
    }
    const { configuration, snapshot, warnings } = compiled
    const findings = await lintConfiguration({ configuration, snapshot, samples })
    const found = inFileOrder([...warnings, ...findings])
    reportUnset(configuration, io)
    const reported = found.filter(
      (each) => each.code !== 'UNRESOLVED_REFERENCE' && !allowed.has(each.code) && !isSuppressed(each),
    )
    report(reported.length === 0, reported, file, options, io)
    return reported.length === 0 ? 0 : 1
  })
}

/** Warnings of loading may be allowed too, so only a code that resembles one of lint's can be known to be misspelt. */
function checkCodes(codes: readonly string[]): ReadonlySet<string> {
  for (const code of codes) {
    if (code in lintCodes) continue
    const nearest = nearestName(code, Object.keys(lintCodes))
    if (nearest !== undefined)
      throw new CommandFailure(2, `There is no code ${code}. Did you mean ${nearest}?`)
    if (!/^[A-Z_]+$/.test(code)) throw new CommandFailure(2, `${code} is no code; --help lists them.`)
  }
  return new Set(codes)
}

function report(
  ok: boolean,
  diagnostics: readonly Diagnostic[],
  file: string,
  options: LintOptions,
  io: Io,
): void {
  if (options.json) {
    io.out(`${JSON.stringify({ ok, file, diagnostics }, null, 2)}\n`)
    return
  }
  if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
  if (ok) io.out(`${shownPath(file, io)}: no findings.\n`)
  else io.err(`${shownPath(file, io)}: ${countOf(diagnostics)}.\n`)
}

function countOf(diagnostics: readonly Diagnostic[]): string {
  const { error = [], warning = [] } = Object.groupBy(diagnostics, ({ severity }) => severity)
  return [
    ...(error.length > 0 ? [counted(error.length, 'error')] : []),
    ...(warning.length > 0 ? [counted(warning.length, 'warning')] : []),
  ].join(', ')
}

/** Whether a comment right above the finding's line suppresses it: `# reveille-lint-disable-next-line CODE, CODE`. */
function isSuppressed({ code, place }: Diagnostic): boolean {
  if (place === undefined) return false
  const lines = linesOf(place.file)
  for (let line = place.line - 2; line >= 0; line--) {
    const comment = /^\s*#(.*)$/.exec(lines[line] ?? '')?.[1]
    if (comment === undefined) return false
    const codes = /\breveille-lint-disable-next-line\b(.*)$/.exec(comment)?.[1]?.match(/[A-Z_]+/g)
    if (codes?.includes(code)) return true
  }
  return false
}

/** A file that is gone since it was loaded suppresses nothing. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return []
  }
}
