/** Describes what was thrown, so that it can leave its thread: in one line, with the stack and the author's line. */

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from '../../config/file/diagnostic.ts'
import { typeName } from '../../config/values/type-name.ts'
import { refusedStatus } from '../define.ts'
import type { ErrorReport } from './protocol.ts'

const maxMessageLength = 300
const maxStackLength = 8_000

/** Never throws, even if the module has changed its errors or the global prototypes. */
export function reportError(thrown: unknown): ErrorReport {
  try {
    return describe(thrown)
  } catch {
    return { text: 'threw what cannot be described' }
  }
}

function describe(thrown: unknown): ErrorReport {
  const refused = refusedStatus(thrown)
  if (!(thrown instanceof Error)) return { text: `threw ${describeThrown(thrown)}` }
  const stack = textFrom(() => thrown.stack)?.slice(0, maxStackLength)
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
  return oneLine(`${typeName(thrown)}, no Error${message === undefined ? '' : `: ${message}`}`)
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
    .slice(0, maxMessageLength * 2)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  return line.length > maxMessageLength ? `${line.slice(0, maxMessageLength)}…` : line
}

/** The first frame of the author's own code; that of a package only where there is no other. */
function findPlace(stack: string): Place | undefined {
  let ofPackage: Frame | undefined
  for (const line of stack.split('\n')) {
    const frame = readFrame(line)
    if (frame === undefined || isOurs(frame.file)) continue
    if (!/[\\/]node_modules[\\/]/.test(frame.file)) return placeOf(frame)
    ofPackage ??= frame
  }
  return ofPackage && placeOf(ofPackage)
}

/** The stack without the frames that called the author's function. */
function withoutInnerFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !isInnerFrame(line))
    .join('\n')
}

/** True if a line is a stack frame inside Node or inside this worker. Never throws. */
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

/** Reads `at name (location)`, `at location` or `at async location`. A path may hold parentheses too. */
function readFrame(text: string): Frame | undefined {
  const found = /^\s+at (?:[^(]* \((.+):(\d+):(\d+)\)|(?:async )?(.+):(\d+):(\d+))$/.exec(text)
  const location = found?.[1] ?? found?.[4] ?? ''
  const file = location.startsWith('file:') ? fileURLToPath(location) : location
  if (!/^([\\/]|[A-Za-z]:[\\/])/.test(file)) return undefined
  return { file, line: Number(found?.[2] ?? found?.[5]), column: Number(found?.[3] ?? found?.[6]) }
}

/** The folder of this program as stacks name it, which is mapped to sources where it is a bundle. */
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

const shown = 400
const before = 100

/** The part of a line around a column, since generated code has lines of a megabyte; `caret` is the column in a part. */
export function cutLine(text: string, column: number): { text: string; caret?: number } {
  if (text.length <= shown) return { text }
  const from = Math.max(0, column - before)
  return { text: text.slice(from, from + shown), ...(from > 0 && { caret: column - from }) }
}
