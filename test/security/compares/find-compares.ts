/**
 * Finds every comparison in the sources whose operand is named like a secret. TypeScript parses the files, so that no
 * comment, string or line break hides one. Names decide, because nothing else distinguishes a secret from another
 * text.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path/posix'
import type { Node, SourceFile } from 'typescript/unstable/ast'
import {
  isAsExpression,
  isAwaitExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isIdentifier,
  isNewExpression,
  isNonNullExpression,
  isNoSubstitutionTemplateLiteral,
  isNumericLiteral,
  isParenthesizedExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isRegularExpressionLiteral,
  isSatisfiesExpression,
  isStringLiteral,
  isSwitchStatement,
  isTemplateExpression,
  isTypeOfExpression,
} from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'

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

/** Parses these files below `root`. Nothing is resolved or checked. */
export function findCompares(root: string, files: readonly string[]): Compare[] {
  const folder = mkdtempSync(join(tmpdir(), 'reveille-compares-'))
  try {
    const project = join(folder, 'tsconfig.json')
    const compilerOptions = { noResolve: true, noLib: true, types: [], allowJs: true, noEmit: true }
    writeFileSync(project, JSON.stringify({ compilerOptions, files: files.map((file) => join(root, file)) }))
    return comparesOfProject(project, root, files)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function comparesOfProject(project: string, root: string, files: readonly string[]): Compare[] {
  const api = new API({ cwd: root })
  try {
    const program = api.updateSnapshot({ openProject: project }).getProjects()[0]?.program
    return files.flatMap((file) => {
      const source = program?.getSourceFile(join(root, file))
      if (source === undefined) throw new Error(`${file} was not read.`)
      return comparesOf(source, file)
    })
  } finally {
    api.close()
  }
}

function comparesOf(source: SourceFile, file: string): Compare[] {
  const found: Compare[] = []
  visit(source)
  return found

  function visit(node: Node): void {
    const word = comparedIn(node)
      .flatMap(namesOf)
      .map((name) => secretWordOf(name, file))
      .find((each) => each !== undefined)
    if (word !== undefined) {
      const start = node.getStart(source)
      const line = source.getLineAndCharacterOfPosition(start).line + 1
      const compared = isSwitchStatement(node)
        ? `switch (${node.expression.getText(source)})`
        : node.getText(source)
      found.push({ file, line, text: compared.replace(/\s+/g, ' '), word })
    }
    node.forEachChild(visit)
  }
}

/** Returns the comparisons of a node. */
function comparedIn(node: Node): readonly Node[] {
  if (isSwitchStatement(node)) return [node.expression]
  if (isBinaryExpression(node)) {
    const { left, right } = node
    if (!equalities.has(node.operatorToken.getText())) return []
    return isConstant(left) || isConstant(right) ? [] : [left, right]
  }
  if (!isCallExpression(node)) return []
  const { expression } = node
  const callee = lastNameOf(expression)
  if (callee === undefined || !comparingMethods.has(callee)) return []
  const receivers = isPropertyAccessExpression(expression) ? [expression.expression] : []
  const given = [...node.arguments]
  if (given.every(isConstant) || receivers.some(isConstant)) return []
  return [...receivers, ...given]
}

function isConstant(node: Node): boolean {
  const inner = unwrapped(node)
  return (
    isStringLiteral(inner) ||
    isNumericLiteral(inner) ||
    isNoSubstitutionTemplateLiteral(inner) ||
    isRegularExpressionLiteral(inner) ||
    isTypeOfExpression(inner) ||
    (isPrefixUnaryExpression(inner) && isConstant(inner.operand)) ||
    ['undefined', 'null', 'true', 'false'].includes(inner.getText())
  )
}

/** Returns the names of an expression: the last of a path, the called function, those of each branch. */
function namesOf(node: Node): readonly string[] {
  const inner = unwrapped(node)
  if (isConditionalExpression(inner)) return [inner.whenTrue, inner.whenFalse].flatMap(namesOf)
  if (isBinaryExpression(inner)) return [inner.left, inner.right].flatMap(namesOf)
  if (isTemplateExpression(inner)) return inner.templateSpans.flatMap((span) => namesOf(span.expression))
  if (isCallExpression(inner)) return [...namesOf(inner.expression), ...[...inner.arguments].flatMap(namesOf)]
  if (isNewExpression(inner)) return [...(inner.arguments ?? [])].flatMap(namesOf)
  const name = lastNameOf(inner)
  if (name === undefined) return []
  // `token.trim` and `signature[0]` are still the secret.
  if (isPropertyAccessExpression(inner) && isCallExpression(inner.parent))
    return [name, ...namesOf(inner.expression)]
  return [name]
}

function lastNameOf(node: Node): string | undefined {
  if (isIdentifier(node)) return node.text
  if (isPropertyAccessExpression(node)) return node.name.text
  if (!isElementAccessExpression(node)) return undefined
  const index = node.argumentExpression
  return isStringLiteral(index) ? index.text : lastNameOf(node.expression)
}

function unwrapped(node: Node): Node {
  const isWrapper =
    isParenthesizedExpression(node) ||
    isAsExpression(node) ||
    isSatisfiesExpression(node) ||
    isNonNullExpression(node) ||
    isAwaitExpression(node)
  return isWrapper ? unwrapped(node.expression) : node
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
