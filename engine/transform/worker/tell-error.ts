/** Owns how what was thrown leaves its thread: as one line, with the stack and the author's line that it came from. */

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from '../../config/diagnostic/diagnostic.ts'
import { refusedStatus } from '../define.ts'
import { cutLine } from './cut-line.ts'
import type { ToldError } from './protocol.ts'

const longestMessage = 300
const longestStack = 8_000
const { isArray } = Array

/** Never throws, whatever the module made of its errors, or of everybody's lists and texts. */
export function tellError(thrown: unknown): ToldError {
  try {
    return tell(thrown)
  } catch {
    return { text: 'threw what cannot be told' }
  }
}

function tell(thrown: unknown): ToldError {
  const refused = refusedStatus(thrown)
  if (!(thrown instanceof Error)) return { text: `threw ${describeThrown(thrown)}` }
  const stack = textFrom(() => thrown.stack)?.slice(0, longestStack)
  const place = stack === undefined ? undefined : findPlace(stack)
  const name = textFrom(() => thrown.name) || 'Error'
  return {
    ...(/^\w{1,60}$/.test(name) && { name }),
    ...(refused !== undefined && { refused }),
    text: oneLine(`${refused === undefined ? `${name}: ` : ''}${textFrom(() => thrown.message) ?? ''}`),
    ...(stack !== undefined && { stack: place ? withoutInnerFrames(stack) : stack }),
    ...(place && { place }),
  }
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return oneLine(`a text, no Error: ${thrown}`)
  if (thrown === null || thrown === undefined) return `${thrown}`
  const message = textFrom(() => (thrown as { message?: unknown }).message)
  const type = isArray(thrown) ? 'a list' : typeof thrown === 'object' ? 'an object' : `a ${typeof thrown}`
  return oneLine(message === undefined ? `${type}, no Error` : `${type}, no Error: ${message}`)
}

function textFrom(read: () => unknown): string | undefined {
  try {
    const value = read()
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

export function oneLine(text: string): string {
  const line = text
    .slice(0, longestMessage * 2)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line.length > longestMessage ? `${line.slice(0, longestMessage)}…` : line
}

/** The first frame that is the author's: not Node's, and a package's only where there is no other. */
function findPlace(stack: string): Place | undefined {
  let ofPackage: Frame | undefined
  const lines = stack.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const frame = readFrame(lines[index] as string)
    if (frame === undefined || isOurs(frame.file)) continue
    if (!/[\\/]node_modules[\\/]/.test(frame.file)) return placeOf(frame)
    ofPackage ??= frame
  }
  return ofPackage && placeOf(ofPackage)
}

/** How the author's function was called is nobody's question. */
function withoutInnerFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !isInnerFrame(line))
    .join('\n')
}

/** Whether a line is a frame of a stack, and one of Node's insides or of this worker. Never throws. */
export function isInnerFrame(line: string): boolean {
  if (!/^\s+at /.test(line)) return false
  if (/^\s+at (?:async |[^(]*\()?node:internal\//.test(line)) return true
  try {
    const frame = readFrame(line)
    return frame !== undefined && isOurs(frame.file)
  } catch {
    return false
  }
}

interface Frame {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** `at name (location)`, `at location` or `at async location`. A path may hold parentheses too. */
function readFrame(text: string): Frame | undefined {
  const found = /^\s+at (?:[^(]* \((.+):(\d+):(\d+)\)|(?:async )?(.+):(\d+):(\d+))$/.exec(text)
  const location = found?.[1] ?? found?.[4] ?? ''
  const file = location.startsWith('file:') ? fileURLToPath(location) : location
  if (!/^([\\/]|[A-Za-z]:[\\/])/.test(file)) return undefined
  return { file, line: Number(found?.[2] ?? found?.[5]), column: Number(found?.[3] ?? found?.[6]) }
}

/** As stacks name it: through a source map where this program is a bundle. */
const ownFolder = dirname(readFrame(new Error().stack?.split('\n')[1] ?? '')?.file ?? import.meta.filename)
function isOurs(file: string): boolean {
  return dirname(file) === ownFolder
}

function placeOf({ file, line, column }: Frame): Place {
  return { file, line, column, ...cutLine(readLine(file, line), column) }
}

function readLine(file: string, line: number): string {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, line)[line - 1] ?? ''
  } catch {
    return ''
  }
}
