/** Reads one file of a configuration as the loader does, although something else in it may be broken. */

import { withoutJson5Comments } from '@reveille/engine'
import { type Document, parseDocument } from 'yaml'

/** The mistakes of the text are in `errors` of the document. */
export function documentOf(text: string): Document.Parsed {
  return parseDocument(withoutJson5Comments(text), { logLevel: 'silent' })
}

/** @throws if the aliases of the document expand to too much, or name nothing */
export function contentOf(document: Document.Parsed): unknown {
  return document.toJS({ maxAliasCount: 100 })
}
