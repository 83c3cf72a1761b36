/** Finds what JSONata accepts but no author means: unknown functions, sums of texts, keys in brackets. */

import { functionHints, type Hint, wordHints } from '../../config/values/hints.ts'
import { editDistance, nearestName } from '../../config/values/nearest.ts'
import { ExpressionSyntaxError, startOfToken } from './fault.ts'
import { functionNames } from './functions.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import { isTimeZone } from './time-zone.ts'
import { pictureProblem } from './times.ts'

/** Describes the mistake in a node. With `isDoubtful`, it may be intended. */
type Check = (
  node: SyntaxNode,
  tree: SyntaxTree,
) => (Omit<Hint, 'offset'> & { readonly isDoubtful?: true }) | undefined

/** The tree of an expression, with facts about its nodes. */
export interface SyntaxTree {
  readonly source: string
  readonly nodes: readonly SyntaxNode[]
  /** The variables that the expression binds itself: by `:=`, as a parameter of a function, and by `@` and `#`. */
  readonly bound: ReadonlySet<string>
  /** The nodes that are called as functions. */
  readonly called: ReadonlySet<unknown>
}

/** `nodes` holds each node of the tree once. */
export function describeTree(nodes: readonly SyntaxNode[], source: string): SyntaxTree {
  const bound = new Set<string>()
  const called = new Set<unknown>()
  for (const node of nodes) {
    const { type, focus, index } = node
    if (type === 'function' || type === 'partial') called.add(node.procedure)
    else if (type === 'apply') called.add(node.rhs)
    else if (type === 'bind') bound.add(String(node.lhs?.value))
    else if (type === 'index') bound.add(String(node.value))
    else if (type === 'lambda') for (const { value } of node.arguments ?? []) bound.add(String(value))
    if (typeof focus === 'string') bound.add(focus)
    if (typeof index === 'string') bound.add(index)
  }
  return { source, nodes, bound, called }
}

/**
 * Returns the doubtful mistakes.
 * @throws ExpressionSyntaxError for a mistake that cannot be intended
 */
export function refuseMistakes(tree: SyntaxTree, start: number): readonly Hint[] {
  const { nodes, source } = tree
  const found: (NonNullable<ReturnType<Check>> & Hint)[] = []
  for (const node of nodes) {
    for (const check of checks[String(node.type)] ?? []) {
      const mistake = check(node, tree)
      if (mistake !== undefined) found.push({ ...mistake, offset: offsetOf(node, source) })
    }
  }
  if (found.length === 0) return found
  const [first] = found
    .filter(({ isDoubtful }) => isDoubtful !== true)
    .toSorted((left, right) => left.offset - right.offset)
  if (first !== undefined) throw new ExpressionSyntaxError(first.message, start + first.offset, first.hint)
  return found.map(({ message, hint, offset }) => ({ message, hint, offset: start + offset }))
}

function offsetOf(node: SyntaxNode, source: string): number {
  if (node.procedure !== undefined) return offsetOf(node.procedure, source)
  const inner = node.type === 'path' ? node.steps?.[0] : node
  const { position, value, type } = inner ?? node
  const token = typeof value === 'string' && type !== 'string' ? value : ''
  return startOfToken(Number(position ?? 0), token, source)
}

/** The checks by the type of the node. */
const checks: Readonly<Record<string, readonly Check[]>> = {
  variable: [unknownVariable],
  function: [callWithoutSign, timeFormat, stringAsRegex],
  partial: [callWithoutSign],
  binary: [arithmeticOfTexts, comparisonOfComparison, textAsCondition, foreignWord, headerWithDashes],
  filter: [filterByText],
  path: [foreignWord, headerWithCapitals, lengthOfList],
  name: [templateLiteral],
  string: [foreignText],
}

function unknownVariable(node: SyntaxNode, { bound, called }: SyntaxTree): ReturnType<Check> {
  const { value } = node
  if (typeof value !== 'string' || value === '' || value === '$') return undefined
  if (value.startsWith(' ') || bound.has(value) || functionNames.has(value)) return undefined
  if (called.has(node)) return { message: `there is no function $${value}`, hint: nearestFunctions(value) }
  const nearest = nearestName(value, bound)
  return {
    message: `there is no variable $${value}`,
    hint: `${nearest === undefined ? '' : `Did you mean $${nearest}? `}A field of the payload is named without the sign: \`${value}\`.`,
  }
}

function nearestFunctions(name: string): string {
  const written = functionHints.get(name)
  if (written !== undefined) return `Write ${written}.`
  const names = [...functionNames]
  const near = [nearestName(name, names), ...names.filter((each) => beginsAlike(name, each))]
  const meant = [...new Set(near)].flatMap((each) => (each === undefined ? [] : [`$${each}`])).slice(0, 2)
  return meant.length === 0
    ? 'The functions are those of JSONata 2: https://docs.jsonata.org/string-functions'
    : `Did you mean ${meant.join(' or ')}?`
}

/** True if a name abbreviates a known one with one mistake at most, as `uper` does `uppercase`. */
function beginsAlike(name: string, known: string): boolean {
  const lengths = [name.length, name.length + 1]
  return (
    name.length > 3 &&
    lengths.some((length) => editDistance(name.toLowerCase(), known.slice(0, length).toLowerCase(), 2) < 2)
  )
}

/** Finds `contains(title, 'x')` and `labels.includes('x')`. */
function callWithoutSign({ procedure }: SyntaxNode): ReturnType<Check> {
  if (procedure?.type !== 'path') return undefined
  const name = String(procedure.steps?.at(-1)?.value)
  return {
    message: `a function begins with \`$\`, and \`${name}\` does not`,
    hint: nearestFunctions(name),
  }
}

const arithmetic = new Set<unknown>(['+', '-', '*', '/', '%'])

function arithmeticOfTexts({ value, lhs, rhs }: SyntaxNode): ReturnType<Check> {
  if (!arithmetic.has(value) || ![lhs, rhs].some((side) => side?.type === 'string')) return undefined
  return value === '+'
    ? { message: '`+` adds numbers; texts are joined with `&`', hint: "Write `'Review ' & title`." }
    : {
        message: `\`${value}\` takes numbers, not a text`,
        hint: 'A text is made a number with `$number(…)`.',
      }
}

const comparing = new Set<unknown>(['=', '!=', '<', '>', '<=', '>='])

/** Finds `1 < x < 5`, and `action = 'opened' & draft = false`: `&` joins texts before anything is compared. */
function comparisonOfComparison({ value, lhs }: SyntaxNode): ReturnType<Check> {
  if (!comparing.has(value) || lhs?.type !== 'binary' || !comparing.has(lhs.value)) return undefined
  return {
    message: `\`${value}\` compares what the comparison before it gives`,
    hint: "Join conditions with `and`: `1 < size and size < 5`, `action = 'opened' and draft = false`.",
  }
}

/** Finds `ref = 'a' or 'b'`. */
function textAsCondition({ value, rhs, lhs }: SyntaxNode): ReturnType<Check> {
  if (value !== 'or' && value !== 'and') return undefined
  if (![lhs, rhs].some((side) => side?.type === 'string')) return undefined
  return {
    message: `a text beside \`${value}\` is a condition of its own, which always holds`,
    hint: "Write `action in ['opened', 'reopened']`.",
  }
}

/** Finds `$contains(action, "^op")`, which looks for the sign itself. */
function stringAsRegex(node: SyntaxNode): ReturnType<Check> {
  if (node.procedure?.value !== 'contains') return undefined
  const [, wanted] = node.arguments ?? []
  const text = wanted?.type === 'string' ? String(wanted.value) : ''
  if (!/^\^.|.\$$|\.[*+]|\\[dwsb]|^\(\?i\)/.test(text)) return undefined
  return {
    isDoubtful: true,
    message: 'looks for a string letter for letter, and this one looks like a regular expression',
    hint: 'Write `$contains(ref, /^v/)`; `/^v/i` ignores case.',
  }
}

/** Finds pictures of other languages, such as `YYYY-MM-DD`, and unknown time zones. */
function timeFormat(node: SyntaxNode): ReturnType<Check> {
  const name = node.procedure?.value
  if (name !== 'now' && name !== 'fromMillis' && name !== 'toMillis') return undefined
  const args = (node.arguments ?? []).slice(name === 'now' ? 0 : 1)
  const [picture, zone] = args.map(({ type, value }) => (type === 'string' ? String(value) : undefined))
  const problem = picture === undefined ? undefined : pictureProblem(picture)
  if (problem !== undefined)
    return {
      message: problem,
      hint: 'Write `"[Y0001]-[M01]-[D01] [H01]:[m01]"`; a time zone comes after the picture.',
    }
  if (zone === undefined || isTimeZone(zone)) return undefined
  return {
    message: `there is no time zone "${zone}"`,
    hint: 'Write an offset such as `"+0200"`, or a name such as `"Europe/Berlin"`.',
  }
}

/** Finds `headers['x-id']`, which filters by a text and so keeps everything. */
function filterByText({ expr, position }: SyntaxNode, { source }: SyntaxTree): ReturnType<Check> {
  if (expr?.type !== 'string') return undefined
  const key = String(expr.value)
  const before = source
    .slice(0, Number(position ?? 0))
    .replace(/\[$/, '')
    .trim()
  const path = /[\w.$]+$/.exec(before)?.[0] ?? ''
  return {
    message: 'brackets filter a list; a text in them holds for every element',
    hint: `A field is read behind a dot: ${path === '' ? 'payload' : path}.${quoted(key)}`,
  }
}

function quoted(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : `\`${key}\``
}

/** `True` is never meant as a field. `undefined` may stand for nothing, but a comparison with it is never true. */
function foreignWord(node: SyntaxNode): ReturnType<Check> {
  const { type, value, lhs, rhs } = node
  const isCompared = type === 'binary' && (value === '=' || value === '!=')
  const word = isCompared
    ? [lhs, rhs].map(wordOf).find((each) => each !== undefined)
    : [wordOf(node)].find((each) => each !== undefined && /^(?:true|false)$/i.test(each))
  if (word === undefined) return undefined
  return { message: `\`${word}\` is read as a field of the payload`, hint: wordHints[word] ?? '' }
}

function wordOf({ type, steps }: SyntaxNode = {}): string | undefined {
  if (type !== 'path') return undefined
  const [step, ...more] = steps ?? []
  const word = String(step?.value)
  return step?.type === 'name' && more.length === 0 && wordHints[word] !== undefined ? word : undefined
}

function templateLiteral({ value }: SyntaxNode): ReturnType<Check> {
  if (typeof value === 'string' && /^[\u201c\u201d\u2018\u2019\u201e]/.test(value))
    return { message: 'curly quotes are no quotes', hint: 'Write " or \', as in action = "opened".' }
  if (typeof value !== 'string' || !value.includes('${')) return undefined
  return {
    message: 'backquotes hold the name of a field; texts are joined with `&`',
    hint: 'Write `"Review " & title`.',
  }
}

/** Finds `headers.x-github-event`, which subtracts two fields from another. */
function headerWithDashes(node: SyntaxNode, { source }: SyntaxTree): ReturnType<Check> {
  if (node.value !== '-') return undefined
  const left = node.lhs
  if (left?.type !== 'path') return undefined
  const [first] = left.steps ?? []
  if (first?.value !== 'headers' && first?.value !== ' headers') return undefined
  const written = /headers\.([\w-]+)/.exec(source)?.[1] ?? 'x-id'
  return {
    message: '`-` subtracts, also in the name of a header',
    hint: `Put the name in backquotes: headers.\`${written.toLowerCase()}\``,
  }
}

function headerWithCapitals(node: SyntaxNode): ReturnType<Check> {
  const [first, second] = node.steps ?? []
  const name = String(second?.value)
  if (first?.value !== ' headers' || second?.type !== 'name' || name === name.toLowerCase()) return
  return {
    message: 'names of headers are in small letters here',
    hint: `Write headers.${quoted(name.toLowerCase())}`,
  }
}

/** Finds the placeholders of other languages. */
function foreignText({ value }: SyntaxNode): ReturnType<Check> {
  const text = String(value)
  const placeholder = /\{\{\s*[#/]?([\w.@[\]-]+)\s*\}\}/.exec(text)
  if (placeholder !== null)
    return {
      isDoubtful: true,
      message: 'holds {{ }} in a text, which an expression leaves as it is',
      hint: `Name the value without quotes: \`${placeholder[1]}\`.`,
    }
  if (!/(?<!\$)\$\{\w+\}/.test(text)) return undefined
  return {
    isDoubtful: true,
    message: 'holds `${…}` in a text, which nothing resolves',
    hint: 'References are resolved in reveille.yaml outside of mappings; a value is joined with `&`.',
  }
}

function lengthOfList({ steps, position }: SyntaxNode, { source }: SyntaxTree): ReturnType<Check> {
  const path = steps ?? []
  const last = path.at(-1)
  if (path.length < 2 || last?.type !== 'name' || last.value !== 'length') return undefined
  if (source[Number(last.position ?? position) - 1] === '`') return undefined
  const list = /([\w.$]+)\.length\b/.exec(source)?.[1] ?? 'labels'
  return {
    isDoubtful: true,
    message: 'reads a field called `length`, which no list and no text has in an expression',
    hint: `Write \`$count(${list})\` for a list and \`$length(${list})\` for a text; write a field of that name in backquotes.`,
  }
}
