/** Owns a mapping's `schema`: written out, or in a file of its own. */

import type { MappingSource } from '../configuration.ts'
import type { Findings } from '../diagnostic/findings.ts'
import { endlessAliases } from '../file/checked-file.ts'
import { readNamedFile } from '../file/named-file.ts'
import { plainCopy } from '../file/plain-copy.ts'
import type { Reading } from '../file/reading.ts'
import { parseSource, type Source } from '../file/source.ts'
import { isMap } from '../map.ts'
import type { Path } from '../path.ts'

export interface PayloadSchema {
  readonly value: NonNullable<MappingSource['schema']>
  /** The file that holds it, where it is one of its own. */
  readonly source?: Source
}

/** Reads each file once, however many mappings name it. */
export interface PayloadSchemas {
  /** Nothing where there is none, or a bad one, which is reported. */
  read(
    written: string | boolean | Readonly<Record<string, unknown>> | undefined,
    at: { readonly source: Source; readonly path: Path },
  ): Promise<PayloadSchema | undefined>
}

export function createPayloadSchemas(reading: Reading, findings: Findings): PayloadSchemas {
  const parsed = new Map<string, PayloadSchema | undefined>()
  return {
    async read(written, at) {
      if (typeof written === 'object') return { value: plainCopy(written) }
      if (typeof written !== 'string') return written === undefined ? undefined : { value: written }
      const named = await readNamedFile(written, at, reading, findings)
      if (!named) return undefined
      const { file, text } = named
      if (!parsed.has(file)) parsed.set(file, parse(file, reading.nameOf(file), text, findings))
      return parsed.get(file)
    },
  }
}

function parse(file: string, name: string, text: string, findings: Findings): PayloadSchema | undefined {
  const result = parseSource({ file, name, text, holdsSecrets: () => false })
  if ('problems' in result) {
    findings.add(...result.problems)
    return undefined
  }
  const { source } = result
  const { value } = source
  if (typeof value === 'boolean') return { value, source }
  if (isMap(value)) {
    try {
      return { value: plainCopy(value), source }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      findings.report(source, endlessAliases)
      return undefined
    }
  }
  const message = 'The file must hold a JSON Schema, which is a map of keys'
  findings.report(source, {
    path: [],
    code: 'INVALID_VALUE',
    message,
    hint: 'Write at least `type: object`.',
  })
  return undefined
}
