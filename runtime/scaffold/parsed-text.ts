/** Parses the text of a configuration, and finds its comments. */

import { isDeepStrictEqual } from 'node:util'
import { isRecord, withoutJson5Comments } from '@reveille/engine'
import { parseJson } from '@reveille/kit'
import { CST, type Document, Lexer, parseDocument, type YAMLParseError } from 'yaml'

/** A configuration that cannot be edited: it is broken, has the entry already, or is written in a way that forbids the edit. */
export class NotEditable extends Error {
  override readonly name = 'NotEditable'
}

/** The options with which the loader reads it too. */
export const yamlOptions = {
  merge: true,
  stringKeys: true,
  resolveKnownTags: false,
  logLevel: 'error',
} as const

export interface ParsedText {
  readonly document: Document
  /** An empty map where the file is empty. */
  readonly value: Readonly<Record<string, unknown>>
  readonly isJson: boolean
  /** The spaces of one level of indentation. */
  readonly unit: number
}

/** @throws NotEditable */
export function parseText(text: string): ParsedText {
  if (withoutJson5Comments(text) !== text)
    throw new NotEditable(
      'It has comments that begin with `//` or `/*`: write them with `#` for this command.',
    )
  const document = parseDocument(text, yamlOptions)
  const [error] = document.errors
  if (error !== undefined) throw new NotEditable(brokenText(error))
  const value = contentOf(document)
  if (!isRecord(value)) throw new NotEditable('It does not hold keys.')
  // The indentation of the first indented line that is no comment.
  const unit = Math.min(/^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2, 8)
  return { document, value, isJson: parseJson(text) !== undefined, unit }
}

/** True if the text has exactly this value. */
export function hasValue(text: string, value: unknown): boolean {
  const document = parseDocument(text, yamlOptions)
  return document.errors.length === 0 && isDeepStrictEqual(contentOf(document), value)
}

/** @throws NotEditable where aliases expand without end */
function contentOf(document: Document): unknown {
  try {
    return document.toJS() ?? {}
  } catch {
    throw new NotEditable('Its aliases expand to too many values.')
  }
}

function brokenText({ message, linePos }: YAMLParseError): string {
  const what = (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:$/, '')
  const place = linePos === undefined ? 'It' : `Line ${linePos[0].line}, column ${linePos[0].col}`
  return `${place} is no YAML: ${what.replace(/\.$/, '')}.`
}

/** The comments of the first text that the second one lacks. */
export function lostComments(before: string, after: string): readonly string[] {
  const left = commentsIn(after)
  return commentsIn(before).filter((comment) => {
    const index = left.indexOf(comment)
    if (index !== -1) left.splice(index, 1)
    return index === -1
  })
}

/** Each from `#` to the end of its line. */
function commentsIn(text: string): string[] {
  const comments: string[] = []
  let isContent = false
  for (const lexeme of new Lexer().lex(text)) {
    if (!isContent && lexeme.startsWith('#')) comments.push(lexeme.trimEnd())
    isContent = lexeme === CST.SCALAR
  }
  return comments
}
