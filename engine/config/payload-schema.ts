/** Reads a mapping's `schema`, which is inline or in a file of its own. */

import type { MappingSource } from './configuration.ts'
import type { Diagnostics } from './file/diagnostics.ts'
import { type Memo, remember } from './file/load-cache.ts'
import type { LoadContext } from './file/load-context.ts'
import { readNamedFile } from './file/named-file.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import type { Item } from './items.ts'
import { parseFile } from './schema/checked-file.ts'
import { plainCopy } from './schema/shape.ts'
import { isRecord } from './values/is-record.ts'

export interface PayloadSchema {
  readonly value: NonNullable<MappingSource['schema']>
  /** The file with the schema, if it is not inline. */
  readonly source?: ParsedFile
}

/** Returns undefined if there is no schema, or an invalid one, which is reported. */
export async function readPayloadSchema(
  { value: { schema: written }, source: naming, path }: Item,
  context: LoadContext,
  diagnostics: Diagnostics,
): Promise<PayloadSchema | undefined> {
  if (typeof written === 'object') return { value: copyOf(written) }
  if (typeof written !== 'string') return written === undefined ? undefined : { value: written }
  const at = { source: naming, path: [...path, 'schema'] }
  const named = await readNamedFile(written, at, context, diagnostics)
  if (!named) return undefined
  const { file, text } = named
  const result = await parseFile({ kind: 'schema', file, text }, context)
  if ('problems' in result) {
    diagnostics.add(...result.problems)
    return undefined
  }
  const { source } = result
  const { value } = source
  if (typeof value === 'boolean') return { value, source }
  if (isRecord(value)) return { value: context.cache.keep('schema value', file, copyOf(value)), source }
  const message = 'The file must hold a JSON Schema, which is a map of keys'
  const hint = 'Write at least `type: object`.'
  // Another mapping may have named it.
  if (diagnostics.isSound(source, []))
    diagnostics.report(source, [{ path: [], code: 'INVALID_VALUE', message, hint }])
  return undefined
}

type Schema = Readonly<Record<string, unknown>>

const copies: Memo<Schema> = new WeakMap()

function copyOf(written: Schema): Schema {
  return remember(copies, written, [], () => plainCopy(written))
}
