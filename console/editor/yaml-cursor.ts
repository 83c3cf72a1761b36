/**
 * Says where in a mapping the cursor is, from the indentation of the lines above it. It reads what is only half written, so
 * it knows less of YAML than a parser does, and says nothing rather than something wrong.
 */

export interface YamlCursor {
  /** Keys from the top, with `[]` for an item of a list. Those of the line itself are part of it, but not the typed one. */
  readonly path: readonly string[]
  /** `template`: inside of `{{ }}`. `text`: a line of a block of text. */
  readonly at: 'key' | 'value' | 'template' | 'text'
  /** The part before the cursor of the word that is being typed. */
  readonly typed: string
}

interface Line {
  /** The columns of the dashes in front of it. */
  readonly dashes: readonly number[]
  /** The column at which its content begins, from 0. */
  readonly start: number
  readonly content: string
}

/** `lines` are those up to the cursor; the last one ends there. */
export function readCursor(lines: readonly string[]): YamlCursor {
  const line = split(lines.at(-1) ?? '')
  const [above, isText] = pathAbove(lines, line)
  const placeholder = /\{\{[{#/]*\s*(?:[^{}]*[\s(])?([\w.[\]-]*)$/.exec(line.content)
  if (placeholder) return { path: above, at: 'template', typed: placeholder[1] ?? '' }
  if (isText) return { path: above, at: 'text', typed: '' }
  const pair = /^(["']?)([^\s"'{}[\],:#][^"':]*)\1:(?:\s+(.*))?$/.exec(line.content)
  if (pair?.[2] === undefined) return inFlow(line.content, above)
  const value = pair[3]
  if (value === undefined) return { path: [...above, pair[2]], at: 'text', typed: '' }
  return inFlow(value, [...above, pair[2]], 'value')
}

function split(text: string): Line {
  const dashes: number[] = []
  let start = text.length - text.trimStart().length
  for (let rest = text.slice(start); /^-(\s|$)/.test(rest); rest = text.slice(start)) {
    dashes.push(start)
    const after = rest.slice(1)
    start += 1 + (after.length - after.trimStart().length)
  }
  return { dashes, start, content: text.slice(start) }
}

/** The keys above a line, and whether the line belongs to a block of text. */
function pathAbove(lines: readonly string[], line: Line): [path: string[], isText: boolean] {
  const path: string[] = []
  let column = line.start
  /** True if a key of the same column is above it too, as in `list:` with its dashes below the `l`. */
  let isItem = false
  let isText = false
  const enter = (dashes: readonly number[], start: number) => {
    column = start
    isItem = false
    for (const dash of dashes.toReversed()) {
      path.unshift('[]')
      column = dash
      isItem = true
    }
  }
  enter(line.dashes, line.start)
  for (let index = lines.length - 2; index >= 0 && (column > 0 || isItem); index--) {
    const text = lines[index] ?? ''
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue
    const { dashes, start, content } = split(text)
    const isSibling = start === column && dashes.length > 0 && !isItem
    if (isSibling) {
      enter(dashes, start)
      continue
    }
    if (start > column || (start === column && !isItem) || (isItem && dashes.length > 0 && start >= column))
      continue
    const key = /^(["']?)([^"'{}[\],#][^"':]*)\1:(?:\s+(.*))?$/.exec(content)
    if (key?.[2] === undefined) continue
    if (/^[|>][+-]?\d?\s*$/.test(key[3] ?? '')) isText = true
    else if (key[3] !== undefined && key[3].trim() !== '' && !/^[&!#]/.test(key[3])) continue
    path.unshift(key[2])
    enter(dashes, start)
  }
  return [path, isText]
}

/** Goes on inside of `{ a: { b: …` and `[a, b` on the line itself. */
function inFlow(text: string, above: readonly string[], at: 'key' | 'value' = 'key'): YamlCursor {
  const path = [...above]
  const open: ('{' | '[')[] = []
  let typed = ''
  let place = at
  let quote = ''
  for (const [index, character] of [...text].entries()) {
    if (quote !== '') {
      if (character === quote) quote = ''
      else typed += character
    } else if ((character === '"' || character === "'") && typed === '') quote = character
    else if (character === '{' || character === '[') {
      // The key that a value belongs to is on the path already.
      if (character === '[') path.push('[]')
      open.push(character)
      place = character === '{' ? 'key' : 'value'
      typed = ''
    } else if (character === '}' || character === ']') {
      if (open.pop() === '[') path.pop()
      else if (place === 'value') path.pop()
      place = 'value'
      typed = ''
    } else if (character === ',' && open.length > 0) {
      if (open.at(-1) === '{' && place === 'value') path.pop()
      place = open.at(-1) === '{' ? 'key' : 'value'
      typed = ''
    } else if (character === ':' && place === 'key' && /^\s/.test(text[index + 1] ?? ' ')) {
      path.push(typed.trim())
      place = 'value'
      typed = ''
    } else if (character !== ' ' || typed !== '') typed += character
  }
  return { path, at: place, typed }
}
