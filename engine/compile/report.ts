/** Owns telling an author what is wrong with a mapping, and where. */

import type { MappingEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import { type Path, writePath } from '../config/path.ts'

export interface Finding {
  readonly code: string
  /** The field, by its path from the entry. */
  readonly path: Path
  /** Completes a sentence that begins with the field's name. */
  readonly message: string
  readonly hint?: string
  /** Where in the field's text, from 0 in UTF-16 units. */
  readonly offset?: number
}

/** Collects rather than throws: an author sees every error of a load at once. */
export interface Report {
  error(finding: Finding): void
  warn(finding: Finding): void
}

export function createReport(entry: MappingEntry, into: Diagnostic[]): Report {
  const add = (severity: Diagnostic['severity'], { code, path, message, hint, offset }: Finding): void => {
    const place = entry.locate(path, offset)
    into.push({
      severity,
      code,
      message: `\`${writePath(path)}\` of mapping "${entry.id}": ${message}`,
      place,
      hint,
    })
  }
  return { error: (finding) => add('error', finding), warn: (finding) => add('warning', finding) }
}
