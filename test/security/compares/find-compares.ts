/**
 * Finds every comparison in the sources whose operand is named like a secret. The files are parsed, so that no comment, string or line
 * break hides one. Names decide, because nothing else distinguishes a secret from another text.
 */

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path/posix'
import { type AnyNode, type CallExpression, parse } from 'acorn'
import { full } from 'acorn-walk'

export interface Compare {
  /** The file, relative to the root, with slashes. */
  readonly file: string
  /** The line, from 1. */
  readonly line: number
  /** The comparison as it is written, on one line. */
  readonly text: string
  /** The word of the operand's name that marks a secret. */
  readonly word: string
}

/** Words of a name, in lower case and singular. `apiKey` is two words, and only both together count. */
const secretWords = new Set([
  ...'token secret signature sig mac hmac digest password passphrase credential authorization'.split(' '),
  ...'bearer cookie apikey privatekey signingkey'.split(' '),
])
/** In the files that verify signatures, operands have these names too. */
const verifiersWords = new Set(['expected', 'given', 'right', 'computed', 'presented', 'hash', 'sha256'])
const verifiers = /^(engine\/(verify|providers)|runtime\/trust)\//

const equalities = new Set(['===', '!==', '==', '!=', 'in'])
/** Methods that compare their argument with their receiver or its content. */
const comparingMethods = new Set([
  ...['equals', 'compare', 'localeCompare', 'is', 'isDeepStrictEqual', 'timingSafeEqual'],
  ...['includes', 'startsWith', 'endsWith', 'indexOf', 'lastIndexOf', 'match', 'test', 'search'],
  ...['has', 'get', 'hasOwn'],
])

/** Parses these files below `root`, without their types. */
export function findCompares(root: string, files: readonly string[]): Compare[] {
  return files.flatMap((file) => comparesOf(readFileSync(join(root, file), 'utf8'), file))
}

function comparesOf(source: string, file: string): Compare[] {
  // Types become blanks, so that each place is the same in both texts.
  const code = file.endsWith('.ts') ? stripTypeScriptTypes(source) : source
  const tree = parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    allowHashBang: true,
    locations: true,
  })
  const found: (Compare & { readonly start: number })[] = []
  full(tree, (each) => {
    const node = each as AnyNode
    const word = comparedIn(node)
      .flatMap((operand) => namesOf(operand, node.type === 'CallExpression'))
      .map((name) => secretWordOf(name, file))
      .find((secret) => secret !== undefined)
    if (word === undefined) return
    const { start, end } = node.type === 'SwitchStatement' ? node.discriminant : node
    const written = source.slice(start, end).replace(/\s+/g, ' ')
    const text = node.type === 'SwitchStatement' ? `switch (${written})` : written
    found.push({ file, line: node.loc?.start.line ?? 0, text, word, start })
  })
  return found.sort((a, b) => a.start - b.start).map(({ start: _start, ...compare }) => compare)
}

/** Returns the operands that a node compares. */
function comparedIn(node: AnyNode): readonly AnyNode[] {
  if (node.type === 'SwitchStatement') return [node.discriminant]
  if (node.type === 'BinaryExpression') {
    const operands = [node.left, node.right]
    return equalities.has(node.operator) && !operands.some(isConstant) ? operands : []
  }
  return node.type === 'CallExpression' ? comparedByCall(node) : []
}

function comparedByCall({ callee, arguments: given }: CallExpression): readonly AnyNode[] {
  if (!comparingMethods.has(lastNameOf(callee) ?? '')) return []
  const receivers = callee.type === 'MemberExpression' ? [callee.object] : []
  return given.every(isConstant) || receivers.some(isConstant) ? [] : [...receivers, ...given]
}

function isConstant(node: AnyNode): boolean {
  if (node.type === 'UnaryExpression') return node.operator === 'typeof' || isConstant(node.argument)
  if (node.type === 'TemplateLiteral') return node.expressions.length === 0
  return node.type === 'Literal' || (node.type === 'Identifier' && node.name === 'undefined')
}

/** Returns the names of an expression: the last of a path, the called function, those of each branch. */
function namesOf(node: AnyNode, isOfCall = false): readonly string[] {
  const all = (nodes: readonly AnyNode[]) => nodes.flatMap((each) => namesOf(each))
  switch (node.type) {
    case 'ConditionalExpression':
      return all([node.consequent, node.alternate])
    case 'BinaryExpression':
    case 'LogicalExpression':
      return all([node.left, node.right])
    case 'TemplateLiteral':
      return all(node.expressions)
    case 'AwaitExpression':
      return namesOf(node.argument)
    case 'ChainExpression':
      return namesOf(node.expression, isOfCall)
    case 'CallExpression':
      return [node.callee, ...node.arguments].flatMap((each) => namesOf(each, true))
    case 'NewExpression':
      return all(node.arguments)
  }
  const name = lastNameOf(node)
  if (name === undefined) return []
  // `token.trim()` is still the secret.
  return isOfCall && node.type === 'MemberExpression' ? [name, ...namesOf(node.object)] : [name]
}

function lastNameOf(node: AnyNode): string | undefined {
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return node.name
  if (node.type === 'ChainExpression') return lastNameOf(node.expression)
  if (node.type !== 'MemberExpression') return undefined
  if (!node.computed) return lastNameOf(node.property)
  const { property } = node
  return property.type === 'Literal' && typeof property.value === 'string'
    ? property.value
    : lastNameOf(node.object)
}

function secretWordOf(name: string, file: string): string | undefined {
  const words = name
    .replace(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/(?<=[^s])s$/, ''))
  const pairs = words.slice(1).map((word, index) => `${words[index]}${word}`)
  const wanted = (word: string) => secretWords.has(word) || (verifiers.test(file) && verifiersWords.has(word))
  return [...words, ...pairs].find(wanted)
}
