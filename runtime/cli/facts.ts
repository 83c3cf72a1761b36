/** Formats one whole record: a line for each fact, and a fact with parts indented below its label. */

import { printable } from '../observe/printable.ts'

export type Facts = Readonly<Record<string, unknown>>

const gap = '  '

/** Texts may come from payloads, so each of their lines is made printable. Facts that are absent or empty are left out. */
export function formatFacts(facts: Facts): string {
  return linesOfFacts(facts)
    .map((line) => `${line.trimEnd()}\n`)
    .join('')
}

function linesOfFacts(facts: Facts): string[] {
  const present = Object.entries(facts).filter(([, value]) => !isEmpty(value))
  const width = Math.max(0, ...present.map(([label]) => label.length))
  return present.flatMap(([label, value]) => {
    const lines = linesOf(label, value)
    const [only = ''] = lines
    if (lines.length === 1 && !hasParts(value)) return [`${label.padEnd(width)}${gap}${only}`]
    return [label, ...lines.map((line) => `${gap}${line}`)]
  })
}

function linesOf(label: string, value: unknown): string[] {
  if (label === 'timings' && isFacts(value)) return linesOfFacts(inMilliseconds(value))
  if (Array.isArray(value)) return value.flatMap((each) => linesOfItem(label, each))
  if (isFacts(value)) return linesOfFacts(value)
  if (typeof value === 'number' && /(?:^a|A)t$/.test(label)) return [new Date(value).toISOString()]
  return String(value).split(/\r?\n/).map(printable)
}

function linesOfItem(label: string, item: unknown): string[] {
  if (!isFacts(item)) return linesOf(label, item)
  return linesOfFacts(item).map((line, index) => `${index === 0 ? '- ' : gap}${line}`)
}

function inMilliseconds(timings: Facts): Facts {
  const known = Object.entries(timings).filter(([, ms]) => ms !== undefined)
  return Object.fromEntries(known.map(([name, ms]) => [name.replace(/Ms$/, ''), `${ms} ms`]))
}

function hasParts(value: unknown): boolean {
  return isFacts(value) || (Array.isArray(value) && value.some(isFacts))
}

function isFacts(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) ? value.length === 0 : isFacts(value) && Object.values(value).every(isEmpty)
}
