/** Turns an offset of a text into a place: line, column, and the line as it may be shown. */

import { LineCounter } from 'yaml'
import {
  continuesSecret,
  type MaskedLine,
  maskLine,
  operatorAddressSecretsOf,
  type Span,
  secretSpansOf,
} from '../values/secret.ts'
import type { Place } from './diagnostic.ts'

export interface PlacedText extends Pick<Place, 'file' | 'calledFile'> {
  readonly text: string
  /** The beginning of each line, in UTF-16 units; at least one. */
  readonly lineStarts: readonly number[]
  /** The parts that may not be shown. */
  readonly secrets: readonly Span[]
}

export function findLineStarts(text: string): number[] {
  const starts = [0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return starts
}

/** Both numbers count from 1. The place after the last line break is on a line of its own. */
export function positionAt(
  { text, lineStarts }: Pick<PlacedText, 'text' | 'lineStarts'>,
  offset: number,
): { line: number; column: number } {
  const counter = Object.assign(new LineCounter(), { lineStarts })
  const { line, col } = counter.linePos(Math.min(offset, text.length))
  return { line, column: col }
}

/** `unsure` means that the text could not be parsed, so its lines are searched for secrets too. */
export function placeAt(placed: PlacedText, offset: number, unsure = false): Place {
  const { file, calledFile, text, lineStarts } = placed
  const { line, column } = positionAt(placed, offset)
  const { content, spans } = lineWithSecrets(placed, line)
  if (unsure && continuesSecret(text.slice(0, lineStarts[line - 1]), content)) {
    spans.splice(0, spans.length, clip({ start: 0, end: content.length }, content))
  } else if (unsure) spans.push(...secretSpansOf(content))
  const masked = windowOf(maskLine(content, spans, column))
  const place = { file, ...(calledFile !== undefined && { calledFile }), line, column, text: masked.text }
  return masked.caret === column ? place : { ...place, caret: masked.caret }
}

/** Returns a line without its break, and the spans of it that may not be shown. */
export function lineWithSecrets({ text, lineStarts, secrets }: Omit<PlacedText, 'file'>, line: number) {
  const start = lineStarts[line - 1] ?? 0
  const content = text.slice(start, lineStarts[line] ?? text.length).replace(/\r?\n$/, '')
  const spans = secrets
    .filter((span) => span.start < start + content.length && span.end > start)
    .map((span) => clip({ start: span.start - start, end: span.end - start }, content))
  return { content, spans: [...spans, ...operatorAddressSecretsOf(content)] }
}

/** Limits the shown part, so that a file on one line is not repeated in each of its diagnostics. */
const maxShown = 400

function windowOf({ text, caret }: MaskedLine): MaskedLine {
  if (text.length <= maxShown) return { text, caret }
  const start = Math.max(0, caret - maxShown / 2)
  return { text: text.slice(start, start + maxShown), caret: caret - start }
}

/** Returns the span's part of one line, without the white space around it. */
function clip(span: Span, line: string): Span {
  const start = Math.max(0, span.start)
  const inside = line.slice(start, span.end)
  const lead = start + inside.length - inside.trimStart().length
  return { start: lead, end: Math.max(lead, start + inside.trimEnd().length) }
}

/** Returns the place for mistakes in a file as a whole. */
export function startOf(file: string): Place {
  return { file, line: 1, column: 1, text: '' }
}
