/** Resolves references to values of the environment and of files, with the types that the schema expects. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Finding } from '../file/diagnostic.ts'
import type { Diagnostics } from '../file/diagnostics.ts'
import { type LoadContext, ReadError } from '../file/load-context.ts'
import type { ParsedFile } from '../file/parsed-file.ts'
import { parseReferences, type Reference } from '../file/reference.ts'
import { LocatedError } from '../values/located-error.ts'
import { nearestName } from '../values/nearest.ts'
import type { Path } from '../values/path.ts'
import type { PlacedReference } from './normalize.ts'

/**
 * Returns the value of every reference, in their order; undefined for one that cannot be resolved, which is reported. If
 * references may be unset, a string replaces the value, with a warning, and mistakes that it may cause are not reported.
 */
export async function resolveReferences(
  references: readonly PlacedReference[],
  context: LoadContext,
  { source, path: above = [] }: { readonly source: ParsedFile; readonly path?: Path },
  diagnostics: Diagnostics,
): Promise<unknown[]> {
  const resolved: unknown[] = []
  for (const { path: below, text, type } of references) {
    const path = [...above, ...below]
    const report = (finding: Omit<Finding, 'path'>) => diagnostics.report(source, [{ path, ...finding }])
    if (context.options.isPasted) {
      report(staysText)
      resolved.push(text)
      continue
    }
    const parts = partsOf(text, report)
    const isText = type.includes('string') || type.length === 0
    const { allowsUnset = false } = context.options
    const values: (string | undefined)[] = []
    let isUnset = false
    // All references of a string are looked up, so that all missing ones are named at once.
    for (const part of parts) {
      const found = typeof part === 'object' ? await meaningOf(part, context) : part
      if (typeof found === 'object') {
        const { name, problem, guess = '', advice } = found
        const hint = guess + (allowsUnset ? 'Settings that need it are not checked.' : advice)
        report({ code: 'UNRESOLVED_REFERENCE', problem, hint, severity: allowsUnset ? 'warning' : 'error' })
        if (allowsUnset) context.unset.add(name)
        isUnset ||= allowsUnset
        values.push(allowsUnset && isText ? unsetText(name) : undefined)
      } else values.push(found)
    }
    if (isUnset) diagnostics.suppress(source, path)
    resolved.push(values.includes(undefined) ? undefined : asExpected(values.join(''), type))
  }
  return resolved
}

/** Returns `undefined` in place of the parts of a string that cannot be read, which is reported. */
function partsOf(text: string, report: (finding: Omit<Finding, 'path'>) => void) {
  try {
    return parseReferences(text)
  } catch (error) {
    if (!(error instanceof LocatedError)) throw error
    report({ code: 'REFERENCE_SYNTAX', problem: error.message, ...(error.hint && { hint: error.hint }) })
    return [undefined]
  }
}

const staysText = {
  code: 'REFERENCE_NOT_RESOLVED',
  message: 'The reference stays a string: none is resolved for a pasted mapping',
  hint: 'The transform gets the string as it is written here; in a file it gets the value.',
  severity: 'warning',
} as const

/** The reason why a reference has no value. `name` is that of the variable or the file. */
interface Unset {
  readonly name: string
  readonly problem: string
  /** A suggested name as a sentence with a trailing space. */
  readonly guess?: string
  readonly advice: string
}

async function meaningOf(reference: Reference, context: LoadContext): Promise<string | Unset> {
  if (reference.kind === 'file') {
    const { path: name } = reference
    return context.readReferenced(name).catch((error: unknown): Unset => {
      if (!(error instanceof ReadError)) throw error
      const advice = `Relative paths start at the folder of the configuration: ${join(context.folder, '/')}`
      return { name, problem: `refers to the file ${name}, which ${error.message}`, advice }
    })
  }
  const { name, fallback } = reference
  const value = context.lookUp(name)
  if (fallback !== undefined) return value || fallback
  if (value !== undefined) return value
  const nearest = nearestName(name, context.names())
  const guess = nearest === undefined ? '' : `Did you mean \`${nearest}\`, which is in \`.env\`? `
  const advice = `Set ${name} in the environment or in \`.env\` beside the configuration, or write \${${name}:-default}.`
  return { name, problem: `refers to the variable ${name}, which is not set`, guess, advice }
}

/** A reference is always a string. If a number or a boolean is expected, the string is read as one. */
function asExpected(text: string, types: readonly string[]): unknown {
  if (types.includes('string') || types.length === 0) return text
  if (types.includes('integer') && /^\s*-?\d{1,15}\s*$/.test(text)) return Number(text)
  if (types.includes('boolean') && /^\s*(true|false)\s*$/.test(text)) return text.trim() === 'true'
  return text
}

/** The string cannot be guessed, so that it opens nothing if it is used as a secret. */
const mark = `unset-${randomUUID()}`

/** References with the same name get the same string, as they would if the name were set. */
function unsetText(name: string): string {
  return `${mark}-${name.replaceAll(/[^\w.-]/g, '-')}`
}

/** True if a value is such a string, or contains one. */
export function holdsUnset(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(mark)
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsUnset)
}
