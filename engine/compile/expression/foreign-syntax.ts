/** Recognises the syntax of other languages in an expression, and suggests the JSONata with the same meaning. */

import jsonata from 'jsonata'

/** A mistake in an expression, with the suggested replacement. */
export interface Slip {
  readonly message: string
  readonly hint: string
  /** The place in UTF-16 units of the expression. */
  readonly place: number
}

interface ForeignSyntax {
  /**
   * Searched in a source in which each text, name in backquotes, comment and regular expression is replaced by one
   * character.
   */
  readonly find: RegExp
  readonly message: string
  /** The replacement. Absent if only the author knows the intended meaning. */
  readonly mend?: string
  /** Whether it is corrected only if nothing else is wrong. */
  readonly isLast?: true
  /** The hint if the text cannot be corrected. */
  readonly hint: string
}

/** Stands for a replacement by the same text in lower case. */
const inLowerCase = 'in lower case'

/** A possible operand: a path, a variable or a text, with an optional call. */
const operand = String.raw`[$\w.\ue000-\uf8ff]+(?:\([^()]*\)|\[[^\[\]]*\])*`
const either = (pattern: string): RegExp => new RegExp(pattern.replaceAll('OPERAND', operand), 'g')

/** Stand before a string that is to become a regular expression, as it is, as of SQL, or as the begin or end of a string. */
const [asRegex, asLike, asPrefix, asSuffix] = ['\uf8f0', '\uf8f1', '\uf8f2', '\uf8f3'] as const

/** The first match names the mistake, and all matches are corrected. */
const foreign: readonly ForeignSyntax[] = [
  {
    find: /^\s*(?:if|unless|for|set|assign|include)\b[\s\S]*%\}/g,
    message: 'there are no blocks in `{% … %}`, which holds one expression',
    hint: 'Write {{#if draft}}Draft{{else}}Ready{{/if}}, or {{#each commits}}{{this.message}}{{/each}}.',
  },
  {
    find: /%\}[\s\S]*\{%/g,
    message: 'a text that begins and ends as an expression is one expression',
    hint: 'Write placeholders: {{title}} by {{sender.login}}, or join texts: {% title & " by " & sender.login %}.',
  },
  {
    find: /^\s*=\s*(?=\{\{)/g,
    message: 'the `=` before `{{` is of n8n',
    mend: '',
    hint: "Write the names alone: `ref = 'x'`.",
  },
  {
    find: /\$\{[^{}]*\}/g,
    message: '`${…}` is neither a reference nor a placeholder in an expression',
    hint: 'References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by `transform.with`. A field is its name alone.',
  },
  {
    find: /\{\{\s*([^{}]*?)\s*\}\}/g,
    message: 'an expression has no {{ }}: names stand in it as they are',
    mend: '$1',
    hint: "Write the names alone: `ref = 'x'`.",
  },
  {
    find: /!==/g,
    message: 'inequality is `!=`',
    mend: '!=',
    hint: "Write `action != 'opened'`.",
  },
  {
    find: either(String.raw`(OPERAND)\s*==\s*(?:null|undefined|None)\b`),
    message: 'equality is one `=`, and a field that is absent equals nothing',
    mend: '($$not($$exists($1)) or $1 = null)',
    hint: 'Write `$not($exists(field))`.',
  },
  {
    find: /(?<![<>!:=])===?/g,
    message: 'equality is one `=`',
    mend: '=',
    hint: "Write `action = 'opened'`.",
  },
  {
    find: /<>/g,
    message: 'inequality is `!=`',
    mend: '!=',
    hint: "Write `action != 'opened'`.",
  },
  {
    find: /\$json\.(?:body\.)?(?=[A-Za-z_])/g,
    message: 'a field of the payload is its name alone',
    mend: '',
    hint: 'Write `action`.',
  },
  { find: /&&/g, message: 'the word for `&&` is `and`', mend: ' and ', hint: 'Write `a and b`.' },
  { find: /\|\|/g, message: 'the word for `||` is `or`', mend: ' or ', hint: 'Write `a or b`.' },
  {
    find: /\b(AND|OR|IN)\b/g,
    message: '`and`, `or` and `in` are written in small letters',
    mend: inLowerCase,
    hint: 'Write `a and b`.',
  },
  {
    find: either(String.raw`(OPERAND)\s+(?:is\s+not|IS\s+NOT)\s+(?:null|NULL|None|undefined)\b`),
    message: 'whether a field is there is asked with `$exists`',
    mend: '$$exists($1)',
    hint: 'Write `$exists(field)`.',
  },
  {
    find: either(String.raw`(OPERAND)\s+(?:is|IS)\s+(?:null|NULL|None|undefined)\b`),
    message: 'whether a field is there is asked with `$exists`',
    mend: '$$not($$exists($1))',
    hint: 'Write `$not($exists(field))`.',
  },
  {
    find: either(String.raw`(OPERAND)\s+(?:not|NOT)\s+in\s+(OPERAND|\[[^\[\]]*\])`),
    message: '`not in` is `$not(… in …)`',
    mend: '$$not($1 in $2)',
    hint: "Write `$not(action in ['a', 'b'])`.",
  },
  {
    find: either(String.raw`(?:!\s*(?=\$?\w|\()|\b(?:not|NOT)\s+)(OPERAND)`),
    message: 'negation is a function, `$not(…)`',
    mend: '$$not($1)',
    hint: 'Write `$not(draft)`.',
  },
  {
    find: /!\s*\(|(?<!\$)\bnot\s*\(/g,
    message: 'negation is a function, `$not(…)`',
    mend: '$$not(',
    hint: 'Write `$not(draft)`.',
  },
  {
    find: either(String.raw`(OPERAND)\s*(?:=~|\b(?:matches|MATCHES|REGEXP|rlike|RLIKE|regex)\b)\s*(OPERAND)`),
    message: 'a regular expression is asked with `$contains`',
    mend: `$$contains($1, ${asRegex}$2)`,
    hint: 'Write `$contains(ref, /^v/)`.',
  },
  {
    find: either(String.raw`(OPERAND)\s+(?:like|LIKE|ILIKE|ilike)\s+(OPERAND)`),
    message: 'a comparison by `like` is asked with `$contains` and a regular expression',
    mend: `$$contains($1, ${asLike}$2)`,
    hint: 'Write `$contains(title, /^fix/)`.',
  },
  {
    find: either(String.raw`(OPERAND)\s+(?:contains|includes|CONTAINS)\s+(OPERAND)`),
    message: 'whether a text holds another is asked with `$contains`',
    mend: '$$contains($1, $2)',
    hint: "Write `$contains(title, 'x')`, or `'x' in labels` for a list.",
  },
  {
    find: either(String.raw`(OPERAND)\s+(?:starts_?[wW]ith|begins_?[wW]ith)\s+(OPERAND)`),
    message: 'how a string begins is asked with a regular expression',
    mend: `$$contains($1, ${asPrefix}$2)`,
    hint: 'Write `$contains(ref, /^refs/)`, or a pattern in match.body: `ref: { prefix: refs }`.',
  },
  {
    find: either(String.raw`(OPERAND)\s+ends_?[wW]ith\s+(OPERAND)`),
    message: 'how a string ends is asked with a regular expression',
    mend: `$$contains($1, ${asSuffix}$2)`,
    hint: 'Write `$contains(ref, /^refs/)`, or a pattern in match.body: `ref: { prefix: refs }`.',
  },
  {
    find: /\?\./g,
    message: '`?.` is a plain `.`: a path that leads nowhere gives nothing',
    mend: '.',
    hint: 'Write `a.b`.',
  },
  {
    find: /\[\?\(\s*(?:@\.)?([^()]*?)\s*\)\]/g,
    message: 'a filter stands in the brackets as it is',
    mend: '[$1]',
    hint: "Write `items[name = 'x']`.",
  },
  {
    find: /\$\.\./g,
    message: 'a field at any depth is `**.name`',
    mend: '**.',
    hint: 'Write `**.name`.',
  },
  {
    find: /@\./g,
    message: 'the current element is `$`',
    mend: '$.',
    hint: 'Write `$.name`, or the name alone.',
  },
  {
    find: /\(?\s*\$?\b([A-Za-z_]\w*)\s*\)?\s*=>/g,
    message: 'a function is written `function($x) { … }`',
    hint: 'Write `$map(items, function($x) { $x.name })`, or the path alone: `items.name`.',
  },
  {
    find: /\bin\s*\(([^()]*,[^()]*)\)/g,
    message: 'a list stands in brackets',
    mend: 'in [$1]',
    hint: "Write `action in ['a', 'b']`.",
  },
  {
    find: either(String.raw`\btypeof\s+(OPERAND)`),
    message: 'the type of a value is `$type(…)`',
    mend: '$$type($1)',
    hint: 'Write `$type(field)`.',
  },
  {
    find: /\bnew\s+Date\(\s*\)/g,
    message: 'the time of the request is `$now()`',
    mend: '$$now()',
    hint: 'Write `$now()`, or `$millis()` for a number.',
  },
  {
    find: /\bif\b|\bthen\b|\belse\b/g,
    message: 'a choice is written `condition ? one : other`',
    hint: "Write `urgent ? 'now' : 'later'`.",
  },
  {
    find: /(?<=^|\n)\s*\/\/.*|\s\/\/\s.*|\s#\s.*/g,
    message: 'a comment stands between `/*` and `*/`',
    mend: '',
    hint: 'Write `/* so */`, or a comment of YAML on a line of its own.',
  },
  {
    find: /^\s*\.(?=[A-Za-z_])/g,
    message: 'a path begins with a name',
    mend: '',
    hint: 'Write `pull_request.title`.',
  },
  {
    find: /(?<!\|)\|(?!\|)\s*[A-Za-z]\w*/g,
    message: 'there are no filters behind `|`',
    hint: 'A function takes the value in brackets: `$uppercase(title)`; one condition or the other is `a or b`.',
  },
  {
    find: /(?<![$\w.])([A-Za-z_]\w*)(?=\s*:=)/g,
    message: 'a variable begins with `$`',
    mend: '$$$1',
    hint: 'Write `($total := 1; $total + 1)`.',
  },
  {
    find: /^(?!\s*\()[\s\S]*;[\s\S]*$/g,
    message: 'several expressions stand in round brackets',
    mend: '($&)',
    isLast: true,
    hint: 'Write `($total := 1; $total + 1)`.',
  },
  {
    find: /^\s*(?:(?!(?:and|or|in|not)\b)[\w-]+ *){2,}[.!?]?\s*$/g,
    message: 'a text stands in quotes',
    mend: "'$&'",
    isLast: true,
    hint: "Write `'some text'`.",
  },
]

/** Calls in the syntax of other languages, with their JSONata. */
const methods: readonly (readonly [find: RegExp, mend: string])[] = [
  [either(String.raw`(OPERAND)\.indexOf\(([^()]*)\)\s*(?:>=\s*0|>\s*-1|!={1,2}\s*-1)`), '$2 in $1'],
  [either(String.raw`(OPERAND)\.indexOf\(([^()]*)\)\s*(?:<\s*0|={1,3}\s*-1)`), '$$not($2 in $1)'],
  [either(String.raw`(OPERAND)\.(?:includes|contains|has)\(([^()]*)\)`), '$2 in $1'],
  [
    either(String.raw`(OPERAND)\.(?:startsWith|starts_with\??|startswith|hasPrefix)\(([^()]*)\)`),
    `$$contains($1, ${asPrefix}$2)`,
  ],
  [
    either(String.raw`(OPERAND)\.(?:endsWith|ends_with\??|endswith|hasSuffix)\(([^()]*)\)`),
    `$$contains($1, ${asSuffix}$2)`,
  ],
  [either(String.raw`(OPERAND)\.test\(([^()]*)\)`), '$$contains($2, $1)'],
  [either(String.raw`(OPERAND)\.(?:toLowerCase|lower|downcase)\(\)`), '$$lowercase($1)'],
  [either(String.raw`(OPERAND)\.(?:toUpperCase|upper|upcase)\(\)`), '$$uppercase($1)'],
  [either(String.raw`(OPERAND)\.(?:trim|strip)\(\)`), '$$trim($1)'],
  [either(String.raw`(OPERAND)\.toString\(\)`), '$$string($1)'],
  [either(String.raw`(OPERAND)\.(join|split|replace|substring|match)\(([^()]*)\)`), '$$$2($1, $3)'],
  [either(String.raw`\bJSON\.stringify\((OPERAND)\)`), '$$string($1)'],
  [either(String.raw`\bMath\.(max|min|abs|round|floor|ceil|sqrt)\(([^()]*)\)`), '$$$1($2)'],
  [/\bDate\.now\(\)/g, '$$millis()'],
  [either(String.raw`(?<![$.\w])len\((OPERAND)\)`), '$$count($1)'],
]

/** Rewrites calls of other languages, and returns the expression if JSONata can then read it. */
export function withoutMethods(source: string): string | undefined {
  const hidden = hideLiterals(source)
  const text = writeRegexes(hidden.restore(mendMethods(hidden.text)))
  return text === source ? undefined : mended(text)
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const regexOf: Readonly<Record<string, (text: string) => string>> = {
  [asRegex]: (text) => text,
  [asPrefix]: (text) => `^${escaped(text)}`,
  [asSuffix]: (text) => `${escaped(text)}$`,
  [asLike]: (text) =>
    `^${escaped(text).replaceAll('%', '.*').replaceAll('_', '.')}$`.replace(/^\^\.\*|\.\*\$$/g, ''),
}

/** Writes the strings that were marked as regular expressions. */
function writeRegexes(text: string): string {
  const marked = /([\uf8f0-\uf8f3])(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')?/g
  return text.replace(marked, (_all, mark: string, double?: string, single?: string) => {
    const literal = double ?? single
    if (literal === undefined) return ''
    return `/${regexOf[mark]?.(literal.replaceAll('\\\\', '\\')).replaceAll('/', '\\/')}/`
  })
}

function mendMethods(text: string): string {
  return methods.reduce((before, [find, mend]) => before.replace(find, mend), text)
}

/** Suggests what the author of an unreadable expression probably meant. */
export function foreignSyntax(source: string): Slip | undefined {
  const hidden = hideLiterals(source)
  const found = foreign.find(({ find }) => hidden.text.search(find) !== -1)
  if (found === undefined) return undefined
  const place = hidden.restore(hidden.text.slice(0, hidden.text.search(found.find))).length
  const all = foreign.filter((each) => each === found || !each.isLast)
  const text = mended(writeRegexes(hidden.restore(mendMethods(all.reduce(mendOne, hidden.text)))))
  return { message: found.message, hint: text === undefined ? found.hint : writeHint(text, source), place }
}

/** `includes` asks a list or a string, and only the payload shows which. */
export function writeHint(text: string, source: string): string {
  const isEither = /\.(?:includes|contains|has|indexOf)\(/.test(source)
  return `Write \`${text}\`.${isEither ? ' That asks a list; a string is asked with `$contains(field, "x")`.' : ''}`
}

function mendOne(text: string, { find, mend }: ForeignSyntax): string {
  if (mend === undefined) return text
  return mend === inLowerCase ? text.replace(find, (word) => word.toLowerCase()) : text.replace(find, mend)
}

/** Returns the text in one line, if JSONata can read it. */
export function mended(text: string): string | undefined {
  try {
    jsonata(text)
  } catch {
    return undefined
  }
  return text.trim().replace(/\s+/g, ' ')
}

const literals =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\/\*[\s\S]*?\*\/|(?<=(?:^|[(,=~[:?]|\b(?:and|or|matches|MATCHES))\s*)\/(?![/*])(?:[^/\\\n]|\\.)+\/[im]*/g

/** Replaces each literal by one character of the private use area, so that nothing is found inside it. */
function hideLiterals(source: string): { readonly text: string; restore(text: string): string } {
  const kept: string[] = []
  const text = source.replace(literals, (literal) => {
    kept.push(literal)
    return String.fromCharCode(0xe000 + kept.length - 1)
  })
  return {
    text,
    restore: (part) => part.replace(/[\ue000-\uf8ff]/g, (mark) => kept[mark.charCodeAt(0) - 0xe000] ?? mark),
  }
}
