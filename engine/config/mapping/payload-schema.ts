/** Owns a mapping's `schema`: written out, or in a file of its own. */

import type { MappingSource } from '../configuration.ts'
import type { Findings } from '../diagnostic/findings.ts'
import { endlessAliases } from '../file/checked-file.ts'
import { readNamedFile } from '../file/named-file.ts'
import { plainCopy } from '../file/plain-copy.ts'
import type { Reading } from '../file/reading.ts'
import { parseSource, type Source } from '../file/source.ts'
import { isRecord } from '../is-record.ts'
import { remember, type Stages } from '../memory.ts'
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
    /** Of the mapping, which remembers a schema that is written out in it. */
    stages: Stages,
  ): Promise<PayloadSchema | undefined>
}

export function createPayloadSchemas(reading: Reading, findings: Findings): PayloadSchemas {
  const parsed = new Map<string, PayloadSchema | undefined>()
  return {
    async read(written, at, stages) {
      if (typeof written === 'object')
        return remember(stages, 'schema', [written], () => ({ value: plainCopy(written) }))
      if (typeof written !== 'string') return written === undefined ? undefined : { value: written }
      const named = await readNamedFile(written, at, reading, findings)
      if (!named) return undefined
      const { file, text } = named
      if (!parsed.has(file)) parsed.set(file, await parse(file, text, reading, findings))
      return parsed.get(file)
    },
  }
}

async function parse(
  file: string,
  text: string,
  reading: Reading,
  findings: Findings,
): Promise<PayloadSchema | undefined> {
  const { memory } = reading
  const name = reading.nameOf(file)
  const result = await parseSource({ kind: 'schema', file, name, text, holdsSecrets: () => false }, memory)
  if ('problems' in result) {
    findings.add(...result.problems)
    return undefined
  }
  const { source } = result
  const { value } = source
  if (typeof value === 'boolean') return { value, source }
  if (isRecord(value)) {
    try {
      return { value: memory.keep('schema value', file, copyOf(source, value)), source }
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

const copies = new WeakMap<Source, Readonly<Record<string, unknown>>>()

function copyOf(source: Source, value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const copy = copies.get(source) ?? plainCopy(value)
  copies.set(source, copy)
  return copy
}
