/** Finds `${NAME}` where an author expects the environment and a mapping has plain text. */

import type { MappingSource } from '../config/configuration.ts'
import { fieldNames } from '../config/fields.ts'
import { type Path, scalarsBelow } from '../config/path.ts'
import { unwrapExpression } from './expression.ts'
import type { Report } from './report.ts'

const reference = /(?<!\$)\$\{(?:file:[^{}]*|[A-Za-z_][A-Za-z0-9_]*(?::-[^{}]*)?)\}/

/** Where a reference stands in a text; `$${` is the author's word that none is meant. */
export function placeOfReference(text: string): number | undefined {
  if (!text.includes('${')) return undefined
  const place = text.search(reference)
  return place === -1 ? undefined : place
}

export const referenceHint =
  'References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by `transform.with`.'

/** What a model reads: there such a text may be meant, and `lint` says so instead. */
export const wordFields: ReadonlySet<string> = new Set(['text', 'message', 'name'])

/** Reports it in the fields where it is never meant. What `match` compares is looked at where that is read. */
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
