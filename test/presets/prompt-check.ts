/** Finds faults in a prompt that a preset made: gaps in its sentences, and senders' words outside the fence. */

import { isHarmless } from '../../engine/boundary/harmless.ts'
import { neutralise } from '../../engine/boundary/neutralise.ts'

interface Prompt {
  /** The operator's words, with `[name]` in place of a value in the fence. */
  readonly outside: string
  /** The content of the fence. Absent if nothing had to be fenced. */
  readonly inside?: string
}

/** Splits a prompt. @throws Error if it has several fences, or a broken one */
export function parsePrompt(prompt: string): Prompt {
  const opening = prompt.match(/<outside-data/g) ?? []
  const closing = prompt.match(/<\/outside-data/g) ?? []
  if (opening.length === 0 && closing.length === 0) return { outside: prompt }
  const parts = /^(.*?)\n\n<outside-data id="([^"]+)">\n(.*)\n<\/outside-data id="\2">$/s.exec(prompt)
  if (opening.length !== 1 || closing.length !== 1 || parts === null) throw new Error('a broken fence')
  return { outside: parts[1] ?? '', inside: parts[3] ?? '' }
}

/** A line that ends with a label and no value, or has a comma right after a label. */
export const blankLabel = /:[ \t]*(,|$)/m

const gaps: readonly (readonly [string, RegExp])[] = [
  ['a value that is no text', /\bundefined\b|\bnull\b|\bNaN\b|\[object /],
  ['a placeholder that was not filled in', /\{\{|\}\}|\{%|%\}/],
  ['a label without its value', blankLabel],
  ['a mark after a gap', /(^|[^\s-]) [.,;:!?)](?=\s|$)/],
  ['empty brackets or quotes', /\(\s*\)|""|''/],
  ['a comma that separates nothing', /,\s*,|,\s*\)|\(\s*,|[:(]\s+,/],
  ['a preposition without its noun', /\b(by|of|from|into)[.,;)]/],
  ['two spaces within a line', /\S {2,}\S/],
  ['space at the end of a line', /[ \t]$/m],
  ['more than one blank line', /\n[ \t]*\n[ \t]*\n/],
  ['blank lines at an end', /^\s|\s$/],
]

/** Describes the faults. The payload's words may be outside the fence only if the template has them too. */
export function flawsOf(prompt: Prompt, payload: unknown, template: string): string[] {
  const flaws = gaps.flatMap(([flaw, pattern]) => {
    const found = pattern.exec(prompt.outside)
    const isOwn =
      found !== null &&
      template.includes(prompt.outside.slice(Math.max(0, found.index - 9), found.index) + found[0])
    return found === null || isOwn ? [] : [`${flaw}: ${JSON.stringify(around(prompt.outside, found.index))}`]
  })
  for (const text of speakingTexts(payload)) {
    if (prompt.outside.includes(text) && !template.includes(text))
      flaws.push(`words from outside among the operator's: ${JSON.stringify(text)}`)
  }
  const { inside = '' } = prompt
  if (/\[object \w+\]/.test(inside)) flaws.push('an object that was printed as none')
  if (/^\[[^\]\n]+ [^\]\s]+\]\n\s*(\n|$)/m.test(inside)) flaws.push('a fenced value that is blank')
  if (neutralise(inside) !== inside) flaws.push('a mark inside the fence that was left its power')
  return flaws
}

function around(text: string, index: number): string {
  return text.slice(Math.max(0, index - 30), index + 30)
}

/** Returns texts of the payload that are long enough to differ from the operator's words. */
function* speakingTexts(value: unknown): Iterable<string> {
  if (typeof value === 'string') {
    const text = value.trim()
    if (text.length >= 8 && !isHarmless(text)) yield text
  } else if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) yield* speakingTexts(each)
  }
}

/** Describes the faults of a session key that a preset made. */
export function keyFlaws(key: string, preset: string): readonly string[] {
  const flaws = [
    [
      `does not begin with hook:${preset}:`,
      !key.startsWith(`hook:${preset}:`) && !/^hook:minted-\d+$/.test(key),
    ],
    ['holds what no key should', /undefined|null|\[object|\{\{|[\p{C}\n]/u.test(key)],
    ['has a part that is empty', /[:#!/]$|::|:#|:!|^\s|\s$/.test(key)],
    ['is very long', key.length > 300],
  ] as const
  return flaws.flatMap(([flaw, isThere]) => (isThere ? [`the session key ${key} ${flaw}`] : []))
}
