/** Owns the hooks around each node of a program: turns are taken before it, and what it gave is measured after it. */

import type jsonata from 'jsonata'
import { registerFunctions } from './functions/register.ts'
import { type Evaluation, entry, evaluationOf, exit, type Frame } from './library.ts'
import { mostElements, mostText, thrownLimit, tooMuchText } from './limit.ts'
import type { CheckedNode } from './marks.ts'
import { weigh } from './weigh.ts'

/** Elements and characters that one evaluation may make all together, in pieces of eight bytes: 160 MB. */
const mostMade = 20_000_000

/** Elements of one payload, and not of one that an expression has put into many places. */
const mostWalked = 600_000

/** Nodes between two looks at the clock, which costs as much as a node does; what may take longer is looked at at once. */
const mostUnwatched = 8

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
    if (node.type === 'function') spend(evaluationOf(frame), result.length / 8)
    return
  }
  if (typeof result !== 'object' || result === null) return
  if (Array.isArray(result) && (node.type === 'unary' || 'sequence' in result)) {
    spend(evaluationOf(frame), result.length)
  }
  if (node.check === undefined) return
  evaluationOf(frame).unwatched = mostUnwatched
  node.check(result, evaluationOf(frame), node)
}

function spend(evaluation: Evaluation, count: number): void {
  evaluation.made += count
  if (evaluation.made > mostMade) throw thrownLimit('it makes more than the memory should hold')
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
  checkWalk(input)
  let lists = 0
  let values = 0
  for (const value of Object.values(input)) {
    values += Array.isArray(value) ? value.length : 1
    if (Array.isArray(value)) lists += 1
  }
  if (lists * Math.min(values, mostElements) > mostCopied) {
    throw thrownLimit('`*` finds too many lists')
  }
}

function checkWalk(input: unknown): void {
  if (weigh(input, mostWalked) > mostWalked) throw thrownLimit('it walks through more than one payload holds')
}
