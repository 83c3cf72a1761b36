/** Owns the hooks around each node of a program: turns are taken before it, and what it gave is measured after it. */

import type jsonata from 'jsonata'
import { registerFunctions } from './functions/register.ts'
import { entry, evaluationOf, exit, type Frame } from './library.ts'
import { mostElements, mostText, thrownLimit, tooManyElements, tooMuchText } from './limit.ts'
import { spend, spendText } from './made.ts'
import type { CheckedNode } from './marks.ts'
import { weigh } from './weigh.ts'

/** What `*` and `**` walk through; more than 10,000 values they do not give. */
const mostWalked = 50_000

/**
 * Nodes that are under way: those that called one another, and the fields of an object that are evaluated together.
 * Each takes a few kilobytes. The library has the same guard, which writes down the stack at every error.
 */
const mostDeep = 2_000

/** Nodes between two looks at the clock, which costs as much as a node does; what may take longer is looked at at once. */
const mostUnwatched = 8

/** Characters of a text that is made of others, above which it is counted as if it were a copy. */
const mostShared = 65_536

/** Lists that are looked into for one name. */
const mostLists = 100_000

/** `*` copies what it has found for each list that it comes to. */
const mostCopied = 10_000_000

export function guardExpression(expression: jsonata.Expression): void {
  expression.assign(entry, beforeNode)
  expression.assign(exit, afterNode)
  registerFunctions(expression)
}

function beforeNode(node: CheckedNode, input: unknown, frame: Frame): Promise<void> | undefined {
  const evaluation = evaluationOf(frame)
  if (frame.base.depth > mostDeep) throw { code: 'D1011' }
  if (typeof input === 'object' && input !== null) {
    if (node.type === 'name') checkName(input)
    else if (node.type === 'wildcard') checkWildcard(input)
    else if (node.type === 'descendant') checkWalk(input)
    if (node.type === 'wildcard' || node.type === 'descendant' || Array.isArray(input))
      evaluation.unwatched = mostUnwatched
  }
  evaluation.unwatched += 1
  if (evaluation.unwatched < mostUnwatched) return undefined
  evaluation.unwatched = 0
  return evaluation.turn()
}

function afterNode(node: CheckedNode, _input: unknown, frame: Frame, result: unknown): void {
  if (node.type === 'function') evaluationOf(frame).unwatched = mostUnwatched
  if (typeof result === 'string') {
    if (result.length > mostText) throw tooMuchText()
    // Joined texts share their parts until something reads them.
    if (node.type === 'function' || result.length > mostShared) spendText(evaluationOf(frame), result)
    return
  }
  if (typeof result !== 'object' || result === null) return
  if (Array.isArray(result) && (node.type === 'unary' || 'sequence' in result)) {
    spend(evaluationOf(frame), result.length)
  }
  if (node.check === undefined) return
  evaluationOf(frame).unwatched = mostUnwatched
  const given = unwrap(result)
  if (typeof given === 'object' && given !== null) node.check(given, evaluationOf(frame))
}

/** The library's lists of one element become that element, and those of none nothing, after this hook. */
function unwrap(result: object): unknown {
  return Array.isArray(result) && 'sequence' in result && result.length < 2 ? result[0] : result
}

/** A name is looked up in all lists that a list holds. */
function checkName(input: object): void {
  if (!Array.isArray(input)) return
  let lists = 0
  const waiting: unknown[][] = [input]
  for (let list = waiting.pop(); list !== undefined; list = waiting.pop()) {
    for (const element of list) {
      if (!Array.isArray(element)) continue
      lists += 1
      waiting.push(element)
    }
    if (lists > mostLists) throw thrownLimit(`it looks into more than ${mostLists} lists`)
  }
}

function checkWildcard(input: object): void {
  const found = Array.isArray(input) ? input : valuesOf(input as Readonly<Record<string, unknown>>)
  checkWalk(found)
  let lists = 0
  let values = 0
  for (const value of found) {
    values += Array.isArray(value) ? value.length : 1
    if (Array.isArray(value)) lists += 1
  }
  if (lists * Math.min(values, mostElements) > mostCopied) {
    throw thrownLimit('`*` finds too many lists')
  }
}

function valuesOf(input: Readonly<Record<string, unknown>>): readonly unknown[] {
  const keys = Object.keys(input)
  if (keys.length > mostElements) throw tooManyElements()
  return keys.map((key) => input[key])
}

function checkWalk(input: unknown): void {
  if (weigh(input, mostWalked) > mostWalked)
    throw thrownLimit('it walks through more than `*` and `**` should')
}
