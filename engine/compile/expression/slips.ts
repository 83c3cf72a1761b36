/** Finds what JSONata reads and nobody means: functions that there are not, texts that are added, brackets of a key. */

import { editDistance, nearestName } from '../../config/nearest.ts'
import { startOfToken } from './fault.ts'
import { mended, type Slip, withoutMethods } from './foreign-syntax.ts'
import { functionTypes } from './functions/register.ts'
import { type Kind, kindOf } from './kind.ts'
import { ExpressionSyntaxError } from './syntax-error.ts'
import { type SyntaxNode, visitNodes } from './syntax-tree.ts'

/** Looks at a node and says what is wrong with it; `isCertain`: it can mean nothing else. */
type Check = (node: SyntaxNode, program: Program) => Omit<Slip, 'place'> | undefined

interface Program {
  readonly source: string
  /** Variables that it gives a value itself. */
  readonly bound: ReadonlySet<string>
  /** Variables that are called. */
  readonly called: ReadonlySet<unknown>
  readonly kindOf: (node: unknown) => Kind
}

/**
 * What may be meant, though hardly, is given back.
 * @throws ExpressionSyntaxError for what cannot be meant
 */
export function refuseSlips(ast: unknown, source: string, offset: number): readonly Slip[] {
  const called = new Set<unknown>()
  visitNodes(ast, ({ type, procedure, rhs }) => {
    if (type === 'function' || type === 'partial') called.add(procedure)
    if (type === 'apply') called.add(rhs)
  })
  const bound = boundIn(ast)
  const program = { source, bound, called, kindOf: kindsIn(bound) }
  const doubtful: Slip[] = []
  const certain: Slip[] = []
  visitNodes(ast, (node) => {
    const place = placeOf(node, source)
    for (const check of checks) {
      const slip = check(node, program)
      if (slip !== undefined) certain.push({ ...slip, place })
    }
    const doubt = doubtOf(node, source)
    if (doubt !== undefined) doubtful.push({ ...doubt, place: place + offset })
  })
  const first = certain.toSorted((left, right) => left.place - right.place)[0]
  if (first !== undefined) throw new ExpressionSyntaxError(first.message, offset + first.place, first.hint)
  return doubtful
}

function placeOf(node: SyntaxNode, source: string): number {
  if (node['procedure'] !== undefined) return placeOf(node['procedure'] as SyntaxNode, source)
  const inner = node['type'] === 'path' ? (node['steps'] as readonly SyntaxNode[])[0] : node
  const { position, value, type } = inner ?? node
  const token = typeof value === 'string' && type !== 'string' ? value : ''
  return startOfToken(Number(position ?? 0), token, source)
}

/** A program that gives the name of a function another meaning says nothing about the kinds of its values. */
export function kindsIn(bound: ReadonlySet<string>): (node: unknown) => Kind {
  return [...bound].some((name) => functionTypes.has(name)) ? () => 'unknown' : kindOf
}

/** By `:=`, as a parameter of a function, and by `@` and `#`. */
export function boundIn(ast: unknown): ReadonlySet<string> {
  const bound = new Set<string>()
  visitNodes(ast, ({ type, lhs, arguments: parameters, focus, index, value }) => {
    if (type === 'bind') bound.add(String((lhs as SyntaxNode)['value']))
    if (type === 'lambda')
      for (const each of parameters as readonly SyntaxNode[]) bound.add(String(each['value']))
    if (typeof focus === 'string') bound.add(focus)
    if (typeof index === 'string') bound.add(index)
    if (type === 'index') bound.add(String(value))
  })
  return bound
}

const checks: readonly Check[] = [
  unknownVariable,
  callWithoutSign,
  arithmeticOfTexts,
  comparisonOfOthers,
  comparisonOfComparison,
  textAsCondition,
  filterByText,
  foreignWord,
  templateLiteral,
  headerWithDashes,
  headerWithCapitals,
]

function unknownVariable(node: SyntaxNode, { bound, called }: Program): ReturnType<Check> {
  const { type, value } = node
  if (type !== 'variable' || typeof value !== 'string' || value === '' || value === '$') return undefined
  if (value.startsWith(' ') || bound.has(value) || functionTypes.has(value)) return undefined
  if (called.has(node)) return { message: `there is no function $${value}`, hint: nearestFunctions(value) }
  const nearest = nearestName(value, bound)
  return {
    message: `there is no variable $${value}`,
    hint: `${nearest === undefined ? '' : `Did you mean $${nearest}? `}A field of the payload is named without the sign: \`${value}\`.`,
  }
}

/** Names of other languages. */
const foreignFunctions: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  len: 'count',
  size: 'count',
  includes: 'contains',
  has: 'exists',
  concat: 'append',
  toString: 'string',
  slice: 'substring',
})

function nearestFunctions(name: string): string {
  const names = [...functionTypes.keys()]
  const near = [
    foreignFunctions[name],
    nearestName(name, names),
    ...names.filter((each) => beginsAlike(name, each)),
  ]
  const meant = [...new Set(near)].flatMap((each) => (each === undefined ? [] : [`$${each}`])).slice(0, 2)
  return meant.length === 0
    ? 'The functions are those of JSONata 2: https://docs.jsonata.org/string-functions'
    : `Did you mean ${meant.join(' or ')}?`
}

/** `uper` and `uppercase`: an abbreviation with one mistake at most. */
function beginsAlike(name: string, known: string): boolean {
  const lengths = [name.length, name.length + 1]
  return (
    name.length > 3 &&
    lengths.some((length) => editDistance(name.toLowerCase(), known.slice(0, length).toLowerCase(), 2) < 2)
  )
}

/** `contains(title, 'x')`, `labels.includes('x')`. */
function callWithoutSign(node: SyntaxNode, { source }: Program): ReturnType<Check> {
  const procedure = node['procedure'] as SyntaxNode | undefined
  if ((node['type'] !== 'function' && node['type'] !== 'partial') || procedure?.['type'] !== 'path') return
  const steps = procedure['steps'] as readonly SyntaxNode[]
  const name = String(steps.at(-1)?.['value'])
  const text = functionTypes.has(name)
    ? mended(source.replace(new RegExp(`(?<![$.\\w])${name}\\s*\\(`, 'g'), `$$${name}(`))
    : undefined
  const written = text === source.trim() ? undefined : text
  const mend = written ?? withoutMethods(source)
  return {
    message: `a function begins with \`$\`, and \`${name}\` does not`,
    hint: mend === undefined ? nearestFunctions(name) : `Write \`${mend}\`.`,
  }
}

const arithmetic = new Set<unknown>(['+', '-', '*', '/', '%'])
const noNumbers = new Set<Kind>(['text', 'list', 'object', 'boolean', 'null', 'function'])

function arithmeticOfTexts(node: SyntaxNode, { source, kindOf }: Program): ReturnType<Check> {
  const { type, value, lhs, rhs } = node
  if (type !== 'binary' || !arithmetic.has(value)) return undefined
  const wrong = [lhs, rhs].map(kindOf).find((kind) => noNumbers.has(kind))
  if (wrong === undefined) return undefined
  if (value !== '+' || wrong !== 'text')
    return {
      message: `\`${value}\` takes numbers, not a ${wrong}`,
      hint: 'A text is made a number with `$number(…)`.',
    }
  const text = mended(replaceOutsideTexts(source, /\+/g, '&'))
  return {
    message: '`+` adds numbers; texts are joined with `&`',
    hint: text === undefined ? "Write `'Review ' & title`." : `Write \`${text}\`.`,
  }
}

function replaceOutsideTexts(source: string, find: RegExp, by: string): string {
  return source.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^"']+/g, (part) =>
    /^["']/.test(part) ? part : part.replace(find, by),
  )
}

const comparisons = new Set<unknown>(['<', '>', '<=', '>='])
const notOrdered = new Set<Kind>(['list', 'object', 'boolean', 'function'])

/** `1 < x < 5` compares what the first comparison gave. */
function comparisonOfOthers({ type, value, lhs, rhs }: SyntaxNode, { kindOf }: Program): ReturnType<Check> {
  if (type !== 'binary' || !comparisons.has(value)) return undefined
  const wrong = [lhs, rhs].map(kindOf).find((kind) => notOrdered.has(kind))
  if (wrong === undefined) return undefined
  return {
    message: `\`${value}\` compares two numbers or two texts, not a ${wrong}`,
    hint: 'Write `1 < size and size < 5`.',
  }
}

const comparing = new Set<unknown>([...comparisons, '=', '!='])

/** `action = 'opened' & draft = false` compares what a comparison gave: `&` joins texts, before anything is compared. */
function comparisonOfComparison({ type, value, lhs }: SyntaxNode, { source }: Program): ReturnType<Check> {
  const left = lhs as SyntaxNode | undefined
  if (type !== 'binary' || (value !== '=' && value !== '!=')) return undefined
  if (left?.['type'] !== 'binary' || !comparing.has(left['value'])) return undefined
  const text = mended(replaceOutsideTexts(source, /&/g, 'and'))
  return {
    message: `\`${value}\` compares what the comparison before it gives`,
    hint: `Join conditions with \`and\`: \`${text === source.trim() || text === undefined ? "action = 'opened' and draft = false" : text}\`.`,
  }
}

/** `ref = 'a' or 'b'`. */
function textAsCondition({ type, value, rhs, lhs }: SyntaxNode, { source }: Program): ReturnType<Check> {
  if (type !== 'binary' || (value !== 'or' && value !== 'and')) return undefined
  if (![lhs, rhs].some((side) => (side as SyntaxNode)['type'] === 'string')) return undefined
  return {
    message: `a text beside \`${value}\` is a condition of its own, which always holds`,
    hint: `Write \`${mended(asList(source)) ?? "action in ['opened', 'reopened']"}\`.`,
  }
}

function asList(source: string): string {
  const text = `(?:'[^']*'|"[^"]*")`
  const alternatives = new RegExp(String.raw`([\w.$]+)\s*=\s*(${text})((?:\s+or\s+${text})+)`, 'g')
  return source.replace(
    alternatives,
    (_all, name: string, first: string, others: string) =>
      `${name} in [${[first, ...(others.match(new RegExp(text, 'g')) ?? [])].join(', ')}]`,
  )
}

/** `headers['x-id']` filters by a text, which holds for whatever is there. */
function filterByText({ type, expr, position }: SyntaxNode, { source }: Program): ReturnType<Check> {
  const text = expr as SyntaxNode | undefined
  if (type !== 'filter' || text?.['type'] !== 'string') return undefined
  const key = String(text['value'])
  const before = source
    .slice(0, Number(position ?? 0))
    .replace(/\[$/, '')
    .trim()
  const path = /[\w.$]+$/.exec(before)?.[0] ?? ''
  return {
    message: 'brackets filter a list; a text in them holds for every element',
    hint: `A field is read behind a dot: ${path}.${quoted(key)}`,
  }
}

function quoted(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : `\`${key}\``
}

/** Words of other languages, which are names of fields here. */
const foreignWords: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  undefined: 'Whether a field is there is asked with `$exists(field)` and `$not($exists(field))`.',
  None: 'Write `null`; whether a field is there is asked with `$exists(field)`.',
  nil: 'Write `null`; whether a field is there is asked with `$exists(field)`.',
  NULL: 'Write `null`; whether a field is there is asked with `$exists(field)`.',
  True: 'Write `true`.',
  TRUE: 'Write `true`.',
  False: 'Write `false`.',
  FALSE: 'Write `false`.',
})

function foreignWord(node: SyntaxNode): ReturnType<Check> {
  if (node['type'] !== 'path') return undefined
  const [step, ...more] = node['steps'] as readonly SyntaxNode[]
  const word = String(step?.['value'])
  if (step?.['type'] !== 'name' || more.length > 0 || foreignWords[word] === undefined) return undefined
  return { message: `\`${word}\` is read as a field of the payload`, hint: foreignWords[word] }
}

function templateLiteral({ type, value }: SyntaxNode): ReturnType<Check> {
  if (type !== 'name' || typeof value !== 'string' || !value.includes('${')) return undefined
  const parts = value.split(/\$\{([^{}]*)\}/).flatMap((part, index) => {
    if (part === '') return []
    return [index % 2 === 0 ? JSON.stringify(part) : part.trim()]
  })
  const text = mended(parts.join(' & '))
  return {
    message: 'backquotes hold the name of a field; texts are joined with `&`',
    hint: `Write \`${text ?? '"Review " & title'}\`.`,
  }
}

/** `headers.x-github-event` subtracts two fields from another. */
function headerWithDashes(node: SyntaxNode, { source }: Program): ReturnType<Check> {
  if (node['type'] !== 'binary' || node['value'] !== '-') return undefined
  const left = node['lhs'] as SyntaxNode
  if (left['type'] !== 'path') return undefined
  const [first] = left['steps'] as readonly SyntaxNode[]
  if (first?.['value'] !== 'headers' && first?.['value'] !== ' headers') return undefined
  const written = /headers\.([\w-]+)/.exec(source)?.[1] ?? 'x-id'
  return {
    message: '`-` subtracts, also in the name of a header',
    hint: `Put the name in backquotes: headers.\`${written.toLowerCase()}\``,
  }
}

function headerWithCapitals(node: SyntaxNode): ReturnType<Check> {
  if (node['type'] !== 'path') return undefined
  const [first, second] = node['steps'] as readonly SyntaxNode[]
  const name = String(second?.['value'])
  if (first?.['value'] !== ' headers' || second?.['type'] !== 'name' || name === name.toLowerCase()) return
  return {
    message: 'names of headers are in small letters here',
    hint: `Write headers.${quoted(name.toLowerCase())}`,
  }
}

/** What can be meant, and hardly ever is. */
function doubtOf(node: SyntaxNode, source: string): Omit<Slip, 'place'> | undefined {
  const { type, value, position } = node
  if (type === 'string' && /\{\{\s*[#/]?[\w.@[\]-]+\s*\}\}/.test(String(value)))
    return {
      message: 'holds {{ }} in a text, which an expression leaves as it is',
      hint: `Name the value without quotes: \`${/\{\{\s*[#/]?([\w.@[\]-]+)/.exec(String(value))?.[1]}\`.`,
    }
  if (type === 'string' && /(?<!\$)\$\{\w+\}/.test(String(value)))
    return {
      message: 'holds `${…}` in a text, which nothing resolves',
      hint: 'References are resolved in reveille.yaml outside of mappings; a value is joined with `&`.',
    }
  if (type !== 'path') return undefined
  const steps = node['steps'] as readonly SyntaxNode[]
  const last = steps.at(-1)
  if (steps.length < 2 || last?.['type'] !== 'name' || last['value'] !== 'length') return undefined
  if (source[Number(last['position'] ?? position) - 1] === '`') return undefined
  const path = /([\w.$]+)\.length\b/.exec(source)?.[1] ?? 'labels'
  return {
    message: 'reads a field called `length`, which no list and no text has in an expression',
    hint: `Write \`$count(${path})\` for a list and \`$length(${path})\` for a text; a field of that name stands in backquotes.`,
  }
}
