/** Recognises the syntax of other template languages, and names the placeholder with the same meaning. */

import { helpers } from './helpers.ts'

interface ForeignTemplate {
  /** Matches the text between the braces, without surrounding blanks. */
  readonly find: RegExp
  readonly message: string
  /** The suggestion. `$1` is the first group of `find`. */
  readonly hint: string
}

const value = String.raw`("[^"]*"|'[^']*'|[^\s"']+)`
const foreign: readonly (readonly [find: string, message: string, hint: string])[] = [
  [
    '^[^"\']*[\u201c\u201d\u2018\u2019\u201e]',
    'curly quotes are no quotes',
    'Write " or \', as in {{default title "none"}}.',
  ],
  [
    String.raw`^#(if|unless)\s+${value}\s*={1,3}\s*${value}$`,
    'a comparison is a helper',
    'Write {{#$1 (eq $2 $3)}}.',
  ],
  [
    String.raw`^#(if|unless)\s+${value}\s*(?:!==?|<>)\s*${value}$`,
    'a comparison is a helper',
    'Write {{#$1 (not (eq $2 $3))}}.',
  ],
  [
    String.raw`^#(?:ifEquals|ifEq|if_eq|ifEqual|is|eq|equals|compare)\s+${value}\s+${value}$`,
    'a comparison is a helper',
    'Write {{#if (eq $1 $2)}}…{{/if}}.',
  ],
  [
    String.raw`^#(if|unless)\s+${value}\s*(?:&&|and)\s*${value}$`,
    '`and` is a helper',
    'Write {{#$1 (and $2 $3)}}.',
  ],
  [
    String.raw`^#(if|unless)\s+${value}\s*(?:\|\||or)\s*${value}$`,
    '`or` is a helper',
    'Write {{#$1 (or $2 $3)}}.',
  ],
  [String.raw`^#if\s+(?:!\s*|not\s+)${value}$`, 'negation is a block', 'Write {{#unless $1}}…{{/unless}}.'],
  [String.raw`^#?(?:else_?if|elsif|elif)\s+(.+)$`, '`else if` is two words', 'Write {{else if $1}}.'],
  [
    '^#?(?:end|endif|fi|endfor|endeach|end_if)$',
    'a block is closed by its own name',
    'Write {{/if}} or {{/each}}.',
  ],
  [
    String.raw`^#(?:each|for|foreach)\s+(\S+)\s+as\s+(\w+)$`,
    'the name of an element stands between bars',
    'Write {{#each $1 as |$2|}}…{{/each}}.',
  ],
  [
    String.raw`^#?(?:each|for|foreach)\s+(\w+)\s+in\s+(\S+)$`,
    'the name of an element stands between bars',
    'Write {{#each $2 as |$1|}}…{{/each}}.',
  ],
  [String.raw`^#(?:for|foreach|range)\s+(\S+)$`, 'a loop is called `each`', 'Write {{#each $1}}…{{/each}}.'],
  [
    String.raw`^${value}\s*(?:\|\||\?\?)\s*${value}$`,
    'a value in place of another is a helper',
    'Write {{default $1 $2}}.',
  ],
  [String.raw`^${value}\s*\?.*:.*$`, 'a choice is a block', 'Write {{#if $1}}one{{else}}other{{/if}}.'],
  [
    String.raw`^(\S+)\s*\|\s*(?:upcase|upper|uppercase)$|^(?:upcase|upper|uppercase|toUpperCase)\s+(\S+)$|^(.+)\.toUpperCase\(\)$`,
    'letters are changed by an expression',
    'Write vars: { upper: $uppercase($1$2$3) } and {{vars.upper}}.',
  ],
  [
    String.raw`^(\S+)\s*\|\s*(?:downcase|lower|lowercase)$|^(?:downcase|lower|lowercase|toLowerCase)\s+(\S+)$|^(.+)\.toLowerCase\(\)$`,
    'letters are changed by an expression',
    'Write vars: { lower: $lowercase($1$2$3) } and {{vars.lower}}.',
  ],
  [
    String.raw`^(\S+)\s*\|\s*(${Object.keys(helpers).join('|')})\b:?\s*(.*)$`,
    'a helper stands before its value',
    'Write {{$2 $1 $3}}.',
  ],
  [
    String.raw`^[^"']*\|`,
    'there are no filters behind `|`',
    `A helper stands before its value, as in {{truncate title 80}}; there are ${Object.keys(helpers).join(', ')}.`,
  ],
  [String.raw`^\.([A-Za-z_][\w.]*)$`, 'a field is named without a dot before it', 'Write {{$1}}.'],
  [
    String.raw`^\$\w+\(.*\)$`,
    'a function of JSONata stands in an expression',
    'Write vars: { value: $& } and {{vars.value}}.',
  ],
  [
    String.raw`^\$(?:json|body|payload|event|request|input|data)\.(?:body\.)?([\w.]+)$`,
    'a field of the payload is its name alone',
    'Write {{$1}}.',
  ],
  [String.raw`^\$\.([\w.]+)$`, 'a field of the payload is its name alone', 'Write {{$1}}.'],
  [
    String.raw`^\$(\w+)$`,
    'a field of the payload is its name alone',
    'Write {{$1}}, or {{[$&]}} for a key that begins so.',
  ],
  [
    String.raw`^[\w.]+\.\w+\(.*\)$`,
    'a template calls no methods',
    'Write an expression in vars, such as vars: { count: $count(commits) }, and {{vars.count}}.',
  ],
]

const table: readonly ForeignTemplate[] = foreign.map(([find, message, hint]) => ({
  find: new RegExp(find, 's'),
  message,
  hint,
}))

/** Returns the first placeholder in the syntax of another language. `place` is in UTF-16 units of the template. */
export function foreignTemplate(
  source: string,
): { readonly message: string; readonly hint: string; readonly place: number } | undefined {
  // No placeholder extends past the beginning of the next one, since otherwise many without an end would take quadratic
  // time.
  for (const { 0: all, 1: inside = '', index } of source.matchAll(/\{\{~?((?:(?!\}\}|\{\{).)*?)~?\}\}/gs)) {
    const text = inside.trim()
    if (text.startsWith('!')) continue
    for (const { find, message, hint } of table) {
      const match = find.exec(text)
      if (match === null) continue
      const place = index + all.indexOf(inside.trimStart())
      return { message, hint: fillHint(hint, match), place }
    }
  }
  return undefined
}

function fillHint(hint: string, match: RegExpExecArray): string {
  const groupOf = (_sign: string, group: string) => match[group === '&' ? 0 : Number(group)] ?? ''
  return hint.replace(/\$([&1-3])/g, groupOf).replace(/ +\}\}/g, '}}')
}
