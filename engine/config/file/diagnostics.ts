/** Collects the diagnostics of one load, in the order of the files. */

import { type Path, touches, writePath } from '../values/path.ts'
import type { Diagnostic, Finding, Severity } from './diagnostic.ts'
import type { ParsedFile } from './parsed-file.ts'

export type Diagnostics = ReturnType<typeof createDiagnostics>

export function createDiagnostics() {
  const all = new Set<Diagnostic>()
  const unsound = new Map<ParsedFile, Path[]>()
  const suppressed = new Map<ParsedFile, Path[]>()
  let ordered: readonly Diagnostic[] | undefined
  const of = (severity: Severity) => {
    ordered ??= inFileOrder([...all])
    return ordered.filter((diagnostic) => diagnostic.severity === severity)
  }
  return {
    /** Adds findings about a part of a file, which is at `above`. */
    report(source: ParsedFile, findings: Iterable<Finding>, above: Path = []): void {
      for (const {
        path: below,
        place = below,
        named = below,
        at,
        code,
        problem,
        hint,
        ...rest
      } of findings) {
        const path = [...above, ...place]
        if (suppressed.get(source)?.some((one) => one.length <= path.length && touches(one, path))) continue
        const { severity = 'error', message = `\`${writePath([...above, ...named])}\` ${problem}` } = rest
        if (severity === 'error') {
          const others = unsound.get(source)
          if (others) others.push(path)
          else unsound.set(source, [path])
        }
        ordered = undefined
        all.add({ severity, code, message, place: source.place(path, at), ...(hint ? { hint } : {}) })
      }
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
    /** True if there are no errors at, above or below these paths of the file. */
    isSound: (source: ParsedFile, ...paths: readonly Path[]): boolean =>
      !unsound.get(source)?.some((one) => paths.some((path) => touches(path, one))),
    errors: () => of('error'),
    warnings: () => of('warning'),
  }
}

/** Sorts from top to bottom within a file. `files` is the order of the files. Default: the order of their first mention. */
export function inFileOrder(
  diagnostics: readonly Diagnostic[],
  files: readonly (string | undefined)[] = diagnostics.map(({ place }) => place?.file),
): Diagnostic[] {
  const rank = new Map([...new Set(files)].map((file, index) => [file, index]))
  const rankOf = ({ place }: Diagnostic) => rank.get(place?.file) ?? 0
  return diagnostics.toSorted(
    (one, other) =>
      rankOf(one) - rankOf(other) ||
      (one.place?.line ?? 0) - (other.place?.line ?? 0) ||
      (one.place?.column ?? 0) - (other.place?.column ?? 0),
  )
}
