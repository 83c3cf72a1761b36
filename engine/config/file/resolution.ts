/** Owns giving references their meaning: values from the environment and from files, as the schema expects them. */

import { join } from 'node:path'
import { writePath } from '../path.ts'
import type { Finding } from '../schema/violation.ts'
import { ReadError, type Reading } from './reading.ts'
import { foreignReference, parseReferences, type Reference, type ReferenceText } from './reference.ts'
import type { Pending } from './shape.ts'

/** Puts every reference's value where it belongs; what cannot be resolved is left out and reported. */
export async function resolveReferences(
  pending: readonly Pending[],
  reading: Reading,
  report: (finding: Finding) => void,
): Promise<void> {
  for (const slot of pending) {
    const text = await resolveText(slot, reading, report)
    if (text === undefined) slot.drop()
    else slot.assign(asExpected(text, slot.type))
  }
}

async function resolveText(
  { path, text }: Pending,
  reading: Reading,
  report: (finding: Finding) => void,
): Promise<string | undefined> {
  const name = writePath(path)
  const variable = foreignReference(text)
  if (variable !== undefined) {
    const message = `\`${name}\` refers to a variable in the way of another tool`
    report({ path, code: 'REFERENCE_SYNTAX', message, hint: `Write \${${variable}}.` })
    return undefined
  }
  let parts: ReferenceText
  try {
    parts = parseReferences(text)
  } catch (error) {
    const hint = 'Write ${NAME}, ${NAME:-default} or ${file:/path}; $${ stands for a plain ${.'
    report({ path, code: 'REFERENCE_SYNTAX', message: `\`${name}\` ${(error as Error).message}`, hint })
    return undefined
  }
  let resolved: string | undefined = ''
  for (const part of parts) {
    const value = typeof part === 'string' ? part : await meaningOf(part, reading, fail)
    // All of a text's references are looked up, so that all that are missing are named at once.
    resolved = value === undefined || resolved === undefined ? undefined : resolved + value
  }
  return resolved

  function fail(message: string, hint: string): void {
    report({ path, code: 'UNRESOLVED_REFERENCE', message: `\`${name}\` ${message}`, hint })
  }
}

async function meaningOf(
  reference: Reference,
  reading: Reading,
  fail: (message: string, hint: string) => void,
): Promise<string | undefined> {
  if (reference.kind === 'environment') {
    const value = reading.lookUp(reference.name)
    if (reference.fallback !== undefined) return value || reference.fallback
    if (value === undefined) {
      fail(
        `refers to the variable ${reference.name}, which is not set`,
        `Set ${reference.name} in the environment or in \`.env\` beside the configuration, or write \${${reference.name}:-default}.`,
      )
    }
    return value
  }
  try {
    return await reading.readReferenced(reference.path)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    const hint = `Relative paths start at the folder of the configuration: ${join(reading.folder, '/')}`
    fail(`refers to the file ${reference.path}, which ${error.message}`, hint)
    return undefined
  }
}

/** A reference is always text; where a number or a truth value is expected, it is read as one. */
function asExpected(text: string, types: readonly string[]): unknown {
  if (types.includes('string') || types.length === 0) return text
  if (types.includes('integer') && /^\s*-?\d{1,15}\s*$/.test(text)) return Number(text)
  if (types.includes('boolean') && /^\s*(true|false)\s*$/.test(text)) return text.trim() === 'true'
  return text
}
