/** Collects the findings of one load, and returns them as diagnostics in the order of the files. */

import { type Path, touches } from '../values/path.ts'
import type { Diagnostic, Finding } from './diagnostic.ts'
import { inFileOrder } from './diagnostic-order.ts'
import type { ParsedFile } from './parsed-file.ts'

export type Findings = ReturnType<typeof createFindings>

export function createFindings() {
  const all = new Set<Diagnostic>()
  const unsound = new Map<ParsedFile, Path[]>()
  const suppressed = new Map<ParsedFile, Path[]>()
  let ordered: readonly Diagnostic[] | undefined
  const of = (severity: Diagnostic['severity']) => {
    ordered ??= inFileOrder([...all])
    return ordered.filter((diagnostic) => diagnostic.severity === severity)
  }
  return {
    /** Adds a finding about a part of a file. */
    report(source: ParsedFile, finding: Finding, severity = finding.severity ?? 'error'): void {
      const { path, at, code, message, hint } = finding
      if (suppressed.get(source)?.some((one) => one.length <= path.length && touches(one, path))) return
      if (severity === 'error') {
        const others = unsound.get(source)
        if (others) others.push(path)
        else unsound.set(source, [path])
      }
      ordered = undefined
      all.add({ severity, code, message, place: source.place(path, at), ...(hint ? { hint } : {}) })
    },
    /** Suppresses later findings at or below a path whose value is not known. */
    suppress(source: ParsedFile, path: Path): void {
      suppressed.set(source, [...(suppressed.get(source) ?? []), path])
    },
    /** Adds diagnostics without a path, each once. */
    add(...diagnostics: readonly Diagnostic[]): void {
      ordered = undefined
      for (const diagnostic of diagnostics) all.add(diagnostic)
    },
    /** Whether there are no errors at, above or below these paths of the file. */
    isSound: (source: ParsedFile, ...paths: readonly Path[]): boolean =>
      !unsound.get(source)?.some((one) => paths.some((path) => touches(path, one))),
    errors: () => of('error'),
    warnings: () => of('warning'),
  }
}
