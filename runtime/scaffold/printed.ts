/** Prints a value for a configuration as a person would write it, with references in quotes. */

import { isRecord } from '@reveille/engine'
import { Document, visit } from 'yaml'

/**
 * Prints `key: value` on lines of their own, indented by `indent`. A map that is not empty has its keys on the lines
 * below, indented by `unit` more.
 */
export function printLines(entries: Readonly<Record<string, unknown>>, indent: number, unit: number): string {
  return Object.entries(entries)
    .map(([key, value]) => {
      const head = `${' '.repeat(indent)}${printScalar(key)}:`
      return isRecord(value) && Object.keys(value).length > 0
        ? `${head}\n${printLines(value, indent + unit, unit)}`
        : `${head} ${printInBraces(value)}\n`
    })
    .join('')
}

/** Prints a value on one line, in brackets and braces. */
export function printInBraces(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printInBraces).join(', ')}]`
  if (!isRecord(value)) return printScalar(value)
  const pairs = Object.entries(value).map(([key, each]) => `${printScalar(key)}: ${printInBraces(each)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

/** Prints a scalar that means the same inside and outside of brackets. */
function printScalar(value: unknown): string {
  const document = new Document([value], { flow: true })
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && /[$\n]/.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  const onOneLine = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity, flowCollectionPadding: false }
  return document.toString(onOneLine).trim().slice(1, -1)
}

/** Prints JSON on one line, or with `indent` on lines that begin with it. */
export function printJson(value: unknown, indent: string | undefined, unit: number): string {
  if (indent === undefined) return JSON.stringify(value)
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`)
}

/** Escapes texts that look like references and are none. */
export function escapeReferences(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${')
  if (Array.isArray(value)) return value.map(escapeReferences)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, escapeReferences(inner)]))
}
