/** Resolves references to values of the environment and of files, with the types that the schema expects. */

import { join } from 'node:path'
import { findingOf, type KeyFault } from '../diagnostic/key-fault.ts'
import { nearestName } from '../nearest.ts'
import type { Findings } from './findings.ts'
import type { ParsedFile } from './parsed-file.ts'
import { ReadError, type Reading } from './reading.ts'
import { foreignReference, parseReferences, type Reference, type ReferenceText } from './reference.ts'
import type { Pending } from './shape.ts'
import { unsetText } from './unset.ts'

/**
 * Replaces every reference by its value. One that cannot be resolved is left out and reported. If references may be
 * unset, a text replaces the value, with a warning, and mistakes that this text may cause are not reported.
 */
export async function resolveReferences(
  pending: readonly Pending[],
  reading: Reading,
  { source, findings }: { readonly source: ParsedFile; readonly findings: Findings },
): Promise<void> {
  if (reading.isPasted) {
    for (const { path } of pending) findings.report(source, { path, ...staysText })
    return
  }
  for (const slot of pending) {
    const text = await resolveText(slot)
    if (text === undefined) slot.drop()
    else slot.assign(asExpected(text, slot.type))
  }

  async function resolveText({ path, text, type }: Pending): Promise<string | undefined> {
    const report = (fault: Omit<KeyFault, 'keys'>) =>
      findings.report(source, findingOf({ keys: path, ...fault }, []))
    const variable = foreignReference(text)
    if (variable !== undefined) {
      const problem = 'refers to a variable in the way of another tool'
      report({ code: 'REFERENCE_SYNTAX', problem, hint: `Write \${${variable}}.` })
      return undefined
    }
    let parts: ReferenceText
    try {
      parts = parseReferences(text)
    } catch (error) {
      const hint = 'Write ${NAME}, ${NAME:-default} or ${file:/path}; $${ stands for a plain ${.'
      report({ code: 'REFERENCE_SYNTAX', problem: (error as Error).message, hint })
      return undefined
    }
    let resolved: string | undefined = ''
    let isSuppressed = false
    for (const part of parts) {
      const value = typeof part === 'string' ? part : await valueIn(part)
      // All references of a text are looked up, so that all missing ones are named at once.
      resolved = value === undefined || resolved === undefined ? undefined : resolved + value
    }
    if (isSuppressed) findings.suppress(source, path)
    return resolved

    async function valueIn(part: Reference): Promise<string | undefined> {
      const found = await meaningOf(part, reading)
      if (typeof found === 'string') return found
      const fault = { code: 'UNRESOLVED_REFERENCE', problem: found.problem }
      if (!reading.allowsUnset) {
        report({ ...fault, hint: found.hint })
        return undefined
      }
      report({ ...fault, hint: `${found.guess}What needs it is not checked.`, severity: 'warning' })
      isSuppressed = true
      reading.noteUnset(found.name)
      return type.includes('string') || type.length === 0 ? unsetText(found.name) : undefined
    }
  }
}

const staysText = {
  code: 'REFERENCE_NOT_RESOLVED',
  message: 'The reference stays a text: none is resolved for a pasted mapping',
  hint: 'The transform gets the text as it is written here; in a file it gets the value.',
  severity: 'warning',
} as const

/** The reason why a reference has no value. `name` is that of the variable or the file. */
interface Unset {
  readonly name: string
  readonly problem: string
  /** A suggested name as a sentence with a trailing space, or an empty text. */
  readonly guess: string
  readonly hint: string
}

async function meaningOf(reference: Reference, reading: Reading): Promise<string | Unset> {
  if (reference.kind === 'environment') {
    const { name, fallback } = reference
    const value = reading.lookUp(name)
    if (fallback !== undefined) return value || fallback
    if (value !== undefined) return value
    const nearest = nearestName(name, reading.names())
    const guess = nearest === undefined ? '' : `Did you mean \`${nearest}\`, which is in \`.env\`? `
    const advice = `Set ${name} in the environment or in \`.env\` beside the configuration, or write \${${name}:-default}.`
    return {
      name,
      problem: `refers to the variable ${name}, which is not set`,
      guess,
      hint: `${guess}${advice}`,
    }
  }
  try {
    return await reading.readReferenced(reference.path)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    return {
      name: reference.path,
      guess: '',
      problem: `refers to the file ${reference.path}, which ${error.message}`,
      hint: `Relative paths start at the folder of the configuration: ${join(reading.folder, '/')}`,
    }
  }
}

/** A reference is always text. If a number or a boolean is expected, the text is read as one. */
function asExpected(text: string, types: readonly string[]): unknown {
  if (types.includes('string') || types.length === 0) return text
  if (types.includes('integer') && /^\s*-?\d{1,15}\s*$/.test(text)) return Number(text)
  if (types.includes('boolean') && /^\s*(true|false)\s*$/.test(text)) return text.trim() === 'true'
  return text
}
