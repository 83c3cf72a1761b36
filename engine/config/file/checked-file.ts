/** Owns the way of one file to a checked value: read, parsed, references resolved, defaults filled in. */

import { basename } from 'node:path'
import type { TSchema } from 'typebox'
import type { Diagnostic, Place } from '../diagnostic/diagnostic.ts'
import type { Findings } from '../diagnostic/findings.ts'
import { writePath } from '../path.ts'
import { checkValue } from '../schema/check.ts'
import type { Finding } from '../schema/violation.ts'
import { ReadError, type Reading } from './reading.ts'
import { resolveReferences } from './resolution.ts'
import { type SchemaNode, shapeValue } from './shape.ts'
import { parseSource, type Source, type SourceOptions } from './source.ts'

/** A file whose value has its schema's shape wherever `findings` has nothing against it. */
export interface CheckedFile<Value> {
  readonly source: Source
  readonly value: Value
}

export async function readText(
  file: string,
  reading: Reading,
  findings: Findings,
  missing?: (file: string) => Diagnostic,
): Promise<string | undefined> {
  try {
    return await reading.readText(file)
  } catch (error) {
    const absent = error instanceof ReadError && error.code === 'FILE_NOT_FOUND' ? missing?.(file) : undefined
    findings.add(absent ?? unreadable(file, error))
    return undefined
  }
}

export function unreadable(file: string, error: unknown): Diagnostic {
  if (!(error instanceof ReadError)) throw error
  const hint = error.code === 'FILE_NOT_TEXT' ? 'Save it as UTF-8.' : undefined
  const message = `${basename(file)} ${error.message}`
  return { severity: 'error', code: error.code, message, place: startOf(file), ...(hint && { hint }) }
}

export function startOf(file: string): Place {
  return { file, line: 1, column: 1, text: '' }
}

/** Parses, resolves references, fills defaults and checks; undefined when there is no value to go on with. */
export async function checkFile<Value>(
  schema: TSchema,
  file: Omit<SourceOptions, 'name'>,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<Value> | undefined> {
  const parsed = parseSource({ ...file, name: file.calledFile ?? reading.nameOf(file.file) })
  if ('problems' in parsed) {
    findings.add(...parsed.problems)
    return undefined
  }
  return checkSource(schema, parsed.source, reading, findings)
}

/** What {@link checkFile} does once the file is parsed. */
export async function checkSource<Value>(
  schema: TSchema,
  source: Source,
  reading: Reading,
  findings: Findings,
): Promise<CheckedFile<Value> | undefined> {
  const root = source.value ?? {}
  if (typeof root !== 'object' || Array.isArray(root)) {
    const hint = Array.isArray(root) ? 'Put the list under `mappings:`.' : 'Write `key: value` lines.'
    findings.report(source, {
      path: [],
      code: 'INVALID_VALUE',
      message: 'The file must be a map of keys',
      hint,
    })
    return undefined
  }
  try {
    const { value, pending } = shapeValue(root, schema as SchemaNode)
    await resolveReferences(pending, reading, (finding) => findings.report(source, finding))
    const violations = checkValue(schema, value).filter(({ path }) => findings.isSound(source, path))
    const referring = new Set(pending.map(({ path }) => writePath(path)))
    for (const violation of violations) {
      const hint = referring.has(writePath(violation.path)) ? referredHint : violation.hint
      findings.report(source, { ...violation, hint })
    }
    return { source, value: value as Value }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    findings.report(source, endlessAliases)
    return undefined
  }
}

/** Of a file whose value is too large to be walked, which only aliases make it; they may even be circles. */
export const endlessAliases: Finding = {
  path: [],
  code: 'TOO_MANY_ALIASES',
  message: "The file's aliases expand to more values than can be read",
  hint: 'Write fewer aliases of anchors that hold aliases themselves, and none inside its own anchor.',
}

const referredHint = 'The value comes from the reference: mend the variable or the file that it names.'
