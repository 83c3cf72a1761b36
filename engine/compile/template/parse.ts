/// <reference types="handlebars" preserve="true" />
/** Parses a template by Handlebars, plus `a[0]` for `a.[0]`. Places are offsets in the source as written. */

import Handlebars from 'handlebars'
import { LocatedError } from '../../config/values/located-error.ts'
import { rewriteBrackets } from './brackets.ts'

/** Thrown for a template that does not parse or uses an unknown name. `offset` is in UTF-16 units of the source. */
export class TemplateError extends LocatedError {}

export interface ParsedTemplate {
  readonly program: hbs.AST.Program
  /** The offset of a node in the source. */
  offsetOf(node: hbs.AST.Node): number
}

/** @throws TemplateError */
export function parseTemplate(source: string): ParsedTemplate {
  const { text, insertions } = rewriteBrackets(source)
  const lines = lineStarts(text)
  const sourceOffset = (offset: number): number => {
    const before = insertions.findIndex((at) => at >= offset)
    return offset - (before === -1 ? insertions.length : before)
  }
  const offsetAt = (line: number, column: number): number =>
    sourceOffset(Math.min((lines[line - 1] ?? text.length) + column, text.length))
  try {
    return {
      program: Handlebars.parse(text),
      offsetOf: ({ loc }) => offsetAt(loc.start.line, loc.start.column),
    }
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    throw (
      unmatchedBlock(cause, offsetAt) ?? unreadable(cause, source, sourceOffset(offsetOfError(cause, text)))
    )
  }
}

/** Handlebars' own errors have a line and a column. */
function unmatchedBlock(
  cause: Error,
  offsetAt: (line: number, column: number) => number,
): TemplateError | undefined {
  if (!(cause instanceof Handlebars.Exception) || cause.lineNumber === undefined) return undefined
  const written = cause.message.replace(/ - \d+:\d+$/, '')
  const [, opened, closed] = /^(\S+) doesn't match (\S+)$/.exec(written) ?? []
  const message = opened === undefined ? written : `the block {{#${opened}}} is closed by {{/${closed}}}`
  const hint = opened === undefined ? undefined : `Close it with {{/${opened}}}.`
  return new TemplateError(message, offsetAt(cause.lineNumber, cause.column), hint, { cause })
}

function unreadable(cause: Error, source: string, offset: number): TemplateError {
  const open = source.lastIndexOf('{{', offset)
  const unclosed = open !== -1 && !source.includes('}}', open)
  if (!unclosed && source.slice(offset).trim() !== '') {
    const hint =
      'Inside {{ }} write a path, or a helper with its arguments: {{pull_request.title}}, {{truncate body 200}}.'
    return new TemplateError('the template cannot be read here', offset, hint, { cause })
  }
  const hint = 'Close every {{ with }} and every {{#if}} or {{#each}} with {{/if}} or {{/each}}.'
  const place = unclosed ? open : lastBlock(source)
  return new TemplateError('the template ends before a mustache or block is closed', place, hint, { cause })
}

/** Number of characters that the parser's error quotes on each side of the place. */
const quoted = 20

/** The error has the line of the last token that was accepted, and an excerpt without its line breaks. */
function offsetOfError({ message }: Error, text: string): number {
  const [, line = '1', excerpt = '', pointer = ''] =
    /^(?:Parse|Lexical) error on line (\d+)[^\n]*\n(.*)\n(-*)\^/.exec(message) ?? []
  const flat = (start: number, end: number) => text.slice(Math.max(start, 0), end).replaceAll('\n', '')
  for (let at = lineStarts(text)[Number(line) - 1] ?? 0; at < text.length; at++) {
    const before = `${at > quoted ? '...' : ''}${flat(at - quoted, at)}`
    if (before.length !== pointer.length || !excerpt.startsWith(before)) continue
    if (excerpt.startsWith(flat(at, at + quoted), before.length)) return at
  }
  return text.length
}

function lastBlock(source: string): number {
  return Math.max(source.lastIndexOf('{{#'), source.lastIndexOf('{{~#'), source.lastIndexOf('{{^'), 0)
}

function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(/\r\n?|\n/g), (end) => end.index + end[0].length)]
}
