/** Reads one file of a configuration as the loader does, although something else in it may be broken. */

import { withoutJson5Comments } from '@reveille/engine'
import { type Document, parseDocument } from 'yaml'

/** What is wrong with the text is in `errors`. */
export function documentOf(text: string): Document.Parsed {
  return parseDocument(withoutJson5Comments(text), { logLevel: 'silent' })
}

/** @throws where the aliases of the document stand for too much, or for nothing */
export function contentOf(document: Document.Parsed): unknown {
  return document.toJS({ maxAliasCount: 100 })
}
