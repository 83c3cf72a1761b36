/** Reads a template with the grammar of Handlebars, plus `a[0]` for `a.[0]`. Places are those of the text as written. */

import { parse, parser } from 'handlebars/dist/cjs/handlebars/compiler/base.js'
import { LocatedError } from '../../config/located-error.ts'
import { rewriteBrackets } from './brackets.ts'

interface Position {
  /** From 1. */
  readonly line: number
  /** From 0. */
  readonly column: number
}

interface Node {
  readonly loc: { readonly start: Position; readonly end: Position }
}

export interface Program extends Partial<Node> {
  readonly type: 'Program'
  readonly body: readonly Statement[]
  readonly blockParams?: readonly string[]
}

export type Statement =
  | Content
  | Comment
  | Mustache
  | Block
  | (Node & {
      readonly type: 'PartialStatement' | 'PartialBlockStatement' | 'Decorator' | 'DecoratorBlock'
    })

export interface Content extends Node {
  readonly type: 'ContentStatement'
  readonly value: string
}

interface Comment extends Node {
  readonly type: 'CommentStatement'
}

export interface Mustache extends Node {
  readonly type: 'MustacheStatement'
  readonly path: Path | Literal
  readonly params: readonly Param[]
  readonly hash?: Hash
}

export interface Block extends Node {
  readonly type: 'BlockStatement'
  readonly path: Path | Literal
  readonly params: readonly Param[]
  readonly hash?: Hash
  /** Absent in a block that has only an inverse: `{{^if a}}…{{/if}}`. */
  readonly program?: Program
  readonly inverse?: Program
}

export interface Call extends Node {
  readonly type: 'SubExpression'
  readonly path: Path | Literal
  readonly params: readonly Param[]
  readonly hash?: Hash
}

export interface Path extends Node {
  readonly type: 'PathExpression'
  /** Whether it began with `@`. */
  readonly data: boolean
  /** How many `../` it began with. */
  readonly depth: number
  readonly parts: readonly string[]
  readonly original: string
}

export type Literal =
  | (Node & { readonly type: 'StringLiteral'; readonly value: string; readonly original: string })
  | (Node & { readonly type: 'NumberLiteral'; readonly value: number; readonly original: number })
  | (Node & { readonly type: 'BooleanLiteral'; readonly value: boolean; readonly original: boolean })
  | (Node & { readonly type: 'NullLiteral'; readonly value?: undefined; readonly original: null })
  | (Node & { readonly type: 'UndefinedLiteral'; readonly value?: undefined; readonly original: undefined })

export type Param = Path | Literal | Call

export interface Hash extends Node {
  readonly pairs: readonly (Node & { readonly key: string; readonly value: Param })[]
}

/** Thrown for a template that does not parse or uses an unknown name. `offset` is in UTF-16 units of the source. */
export class TemplateError extends LocatedError {}

export interface Parsed {
  readonly program: Program
  /** The place of a node in the source as it was written. */
  offsetOf(node: Node): number
}

/** @throws TemplateError */
export function parseTemplate(source: string): Parsed {
  const { text, insertions } = rewriteBrackets(source)
  const lines = lineStarts(text)
  const offsetAt = (line: number, column: number): number => {
    const offset = Math.min((lines[line - 1] ?? text.length) + column, text.length)
    let inserted = 0
    while (inserted < insertions.length && (insertions[inserted] ?? offset) < offset) inserted++
    return offset - inserted
  }
  try {
    return {
      program: parse(text) as Program,
      offsetOf: ({ loc }) => offsetAt(loc.start.line, loc.start.column),
    }
  } catch (cause) {
    throw unreadable(cause, source, offsetAt)
  }
}

/** The grammar's own errors have a line. Those of its generated parser leave the place in the lexer. */
function unreadable(
  cause: unknown,
  source: string,
  offsetAt: (line: number, column: number) => number,
): TemplateError {
  if (isLocated(cause)) {
    const parserMessage = cause.message.replace(/ - \d+:\d+$/, '')
    const [, opened, closed] = /^(\S+) doesn't match (\S+)$/.exec(parserMessage) ?? []
    const message =
      opened === undefined ? parserMessage : `the block {{#${opened}}} is closed by {{/${closed}}}`
    const hint = opened === undefined ? undefined : `Close it with {{/${opened}}}.`
    return new TemplateError(message, offsetAt(cause.lineNumber, cause.column), hint, { cause })
  }
  const { first_line, first_column } = parser.lexer.yylloc
  const offset = offsetAt(first_line, first_column)
  const open = source.lastIndexOf('{{', offset)
  const unclosed = open !== -1 && !source.includes('}}', open)
  if (!unclosed && source.slice(offset).trim() !== '') {
    const hint =
      'Inside {{ }} stands a path, or a helper with its arguments: {{pull_request.title}}, {{truncate body 200}}.'
    return new TemplateError('the template cannot be read here', offset, hint, { cause })
  }
  const hint = 'Close every {{ with }} and every {{#if}} or {{#each}} with {{/if}} or {{/each}}.'
  const place = unclosed ? open : lastBlock(source)
  return new TemplateError('the template ends before a mustache or block is closed', place, hint, { cause })
}

function lastBlock(source: string): number {
  return Math.max(source.lastIndexOf('{{#'), source.lastIndexOf('{{~#'), source.lastIndexOf('{{^'), 0)
}

function isLocated(error: unknown): error is Error & { lineNumber: number; column: number } {
  return error instanceof Error && 'lineNumber' in error && typeof error.lineNumber === 'number'
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (const match of text.matchAll(/\r\n?|\n/g)) starts.push(match.index + match[0].length)
  return starts
}
