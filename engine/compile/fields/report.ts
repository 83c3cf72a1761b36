/** Collects the mistakes in a mapping, and turns them into diagnostics with a place in a file. */

import type { MappingEntry } from '../../config/configuration.ts'
import type { Diagnostic } from '../../config/file/diagnostic.ts'
import { type Path, writePath } from '../../config/values/path.ts'

export interface Finding {
  readonly code: string
  /** The field, by its path from the entry. */
  readonly path: Path
  /** Completes a sentence that begins with the field's name. */
  readonly message: string
  readonly hint?: string
  /** The place in the field's text, from 0 in UTF-16 units. */
  readonly offset?: number
}

/** Collects rather than throws, so that an author sees every error of a load at once. */
export interface Report {
  error(finding: Finding): void
  warn(finding: Finding): void
}

/** A finding without its place in a file, because the entry may move while the mistake stays. */
export interface ReportedFinding {
  readonly severity: Diagnostic['severity']
  readonly finding: Finding
}

export function createReport(into: ReportedFinding[]): Report {
  return {
    error: (finding) => void into.push({ severity: 'error', finding }),
    warn: (finding) => void into.push({ severity: 'warning', finding }),
  }
}

/** For patterns whose mistakes were reported before. */
export const silent: Report = { error: () => undefined, warn: () => undefined }

/** Adds the current place of the entry. */
export function placeFinding(entry: MappingEntry, { severity, finding }: ReportedFinding): Diagnostic {
  const { code, path, message, hint, offset } = finding
  const place = entry.locate(path, offset)
  const named = `\`${writePath(path)}\` of mapping "${entry.id}": ${message}`
  return { severity, code, message: named, place, hint }
}
