/** Owns asking the YAML library for a document, in steps that are short however long the text is. */

import { Composer, CST, type Document, Lexer, Parser, YAMLParseError } from 'yaml'
import { composeLong } from './long-collection.ts'

export interface Read {
  /** Errors and warnings are in it. */
  readonly document: Document
  /** Whether any part has an anchor, an alias or a tag, which may give it another meaning alone than in its file. */
  readonly hasProperties: boolean
}

/** How the library reads a document; whatever reads one in steps reads it so. */
export const documentOptions = {
  merge: true,
  stringKeys: true,
  prettyErrors: false,
  resolveKnownTags: false,
  logLevel: 'error',
} as const

/** Lexemes between two steps: about half a millisecond. */
const lexemesAtOnce = 500

/** JSON is read as the YAML that it is. In steps that are short however long the text is. */
export function* readDocument(text: string): Generator<void, Read> {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let count = 0
  let isScalar = false
  let hasProperties = false
  for (const lexeme of new Lexer().lex(text)) {
    if (!isScalar && /^[&*!]/.test(lexeme)) hasProperties = true
    isScalar = lexeme === CST.SCALAR
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (++count % lexemesAtOnce === 0) yield
  }
  tokens.push(...parser.end())
  const later = yield* composeLong(tokens, text.length, documentOptions)
  const [document, second] = new Composer(documentOptions).compose(tokens, true, text.length)
  if (!document) throw new Error('The YAML library gave no document')
  if (second)
    document.errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', ''))
  later(document)
  return { document, hasProperties }
}
