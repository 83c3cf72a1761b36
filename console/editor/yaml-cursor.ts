/** Says where in a mapping the cursor is. The parser of the editor reads what is only half written, as it was made for that. */

import { yamlLanguage } from '@codemirror/lang-yaml'

export interface YamlCursor {
  /** Keys from the top, with `[]` for an item of a list. The key that is being typed is not part of it. */
  readonly path: readonly string[]
  /** `template`: inside of `{{ }}`. `text`: a line of a block of text. */
  readonly at: 'key' | 'value' | 'template' | 'text'
  /** The part before the cursor of the word that is being typed. */
  readonly typed: string
}

/** A line with nothing but a word, which may become a key. */
const lineOfKey = /^[\s-]*["']?[\w.$-]*$/
const placeholder = /\{\{[{#/]*\s*(?:[^{}]*[\s(])?([\w.[\]-]*)$/

/** `before` is the text up to the cursor. */
export function readCursor(before: string): YamlCursor {
  const line = before.slice(before.lastIndexOf('\n') + 1)
  // Where nothing is typed yet, the parser finds a letter.
  const end = before.length + 1
  const text = `${before}x${lineOfKey.test(line) ? ':' : ''}`
  const innermost = yamlLanguage.parser.parse(text).resolveInner(end, -1)
  const path: string[] = []
  let at: YamlCursor['at'] = /^(Block|Comment)/.test(innermost.name) ? 'text' : 'value'
  for (let node = innermost; node.parent !== null; node = node.parent) {
    const { name, parent, from } = node
    const key = name === 'Pair' ? node.getChild('Key') : null
    // In a list without braces a word is read as a pair too.
    const isWordOfList = parent.name === 'FlowMapping' && parent.from === from
    if (name === 'Item') path.unshift('[]')
    else if (key !== null && key.to < end) path.unshift(unquoted(text.slice(key.from, key.to)))
    else if (key !== null && !isWordOfList) at = 'key'
  }
  const template = placeholder.exec(line)
  if (template !== null) return { path, at: 'template', typed: template[1] ?? '' }
  return { path, at, typed: at === 'text' ? '' : unquoted(before.slice(innermost.from)) }
}

const unquoted = (text: string) => text.replace(/^(["'])(.*?)\1?$/s, '$2')
