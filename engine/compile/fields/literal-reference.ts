/** Finds `${NAME}` where an author expects the environment and a mapping has plain text. */

import type { MappingSource } from '../../config/configuration.ts'
import { fieldNames } from '../../config/values/fields.ts'
import { type Path, scalarsBelow } from '../../config/values/path.ts'
import { unwrapExpression } from '../expression/compile-expression.ts'
import type { Report } from './report.ts'

const reference = /(?<!\$)\$\{(?:file:[^{}]*|[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?)\}/

/** Finds the place of a reference in a text. An author who means the text itself writes `$${`. */
export function placeOfReference(text: string): number | undefined {
  if (!text.includes('${')) return undefined
  const place = text.search(reference)
  return place === -1 ? undefined : place
}

export const referenceHint =
  'References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by `transform.with`.'

/** The fields that a model reads. A reference may be intended there, so only `lint` reports it. */
export const wordFields: ReadonlySet<string> = new Set(['text', 'message', 'name'])

/**
 * Reports references in the fields where they cannot be meant as text. The patterns of `match` are checked where they
 * are read.
 */
export function checkReferences(source: MappingSource, report: Report): void {
  const check = (below: Path, written: unknown): void => {
    for (const [path, value] of scalarsBelow(written, below)) {
      if (typeof value !== 'string' || unwrapExpression(value) !== undefined) continue
      const offset = placeOfReference(value)
      if (offset === undefined) continue
      const message = 'holds a reference, which is plain text in a mapping'
      report.error({ code: 'LITERAL_REFERENCE', path, message, hint: referenceHint, offset })
    }
  }
  for (const name of fieldNames) if (!wordFields.has(name)) check([name], source[name])
  check(['deliverTo'], source.deliverTo)
  check(['runner'], source.runner)
  check(['match', 'path'], source.match?.path)
}
