/** Compiles the operators between two values. They fail with the library's codes. */

import type { Evaluate } from './frame.ts'
import { isEqual, isNumeric, isTrue, locateFault, writeText } from './values.ts'

type Operator = (left: unknown, right: unknown) => unknown

export const operators: ReadonlyMap<unknown, Operator> = new Map<string, Operator>([
  ['=', (left, right) => left !== undefined && right !== undefined && isEqual(left, right)],
  ['!=', (left, right) => left !== undefined && right !== undefined && !isEqual(left, right)],
  ['<', compareBy((left, right) => left < right)],
  ['<=', compareBy((left, right) => left <= right)],
  ['>', compareBy((left, right) => left > right)],
  ['>=', compareBy((left, right) => left >= right)],
  ['in', isIn],
  ['&', (left, right) => textOf(left) + textOf(right)],
  ['+', calculateBy((left, right) => left + right)],
  ['-', calculateBy((left, right) => left - right)],
  ['*', calculateBy((left, right) => left * right)],
  ['/', calculateBy((left, right) => left / right)],
  ['%', calculateBy((left, right) => left % right)],
])

/** The operators that never fail, whatever their operands. */
export const safeOperators: ReadonlySet<unknown> = new Set(['=', '!=', 'in'])

function textOf(value: unknown): string {
  return value === undefined ? '' : writeText(value)
}

function isIn(left: unknown, right: unknown): boolean {
  if (left === undefined || right === undefined) return false
  return Array.isArray(right) ? right.indexOf(left) !== -1 : right === left
}

function compareBy(compare: (left: string | number, right: string | number) => boolean): Operator {
  return (left, right) => {
    if (!isComparable(left)) throw { code: 'T2010', value: left }
    if (!isComparable(right)) throw { code: 'T2010', value: left === undefined ? left : right }
    if (left === undefined || right === undefined) return undefined
    if (typeof left !== typeof right) throw { code: 'T2009', value: left, value2: right }
    return compare(left, right)
  }
}

function isComparable(value: unknown): value is string | number | undefined {
  return value === undefined || typeof value === 'string' || typeof value === 'number'
}

function calculateBy(calculate: (left: number, right: number) => number): Operator {
  return (left, right) => {
    if (left !== undefined && !isNumeric(left)) throw { code: 'T2001', value: left }
    if (right !== undefined && !isNumeric(right)) throw { code: 'T2002', value: right }
    return left === undefined || right === undefined ? undefined : calculate(left, right)
  }
}

export function createLogical(
  value: 'and' | 'or',
  left: Evaluate,
  right: Evaluate,
  position: unknown,
): Evaluate {
  const isDecisive = value === 'or'
  return (input, frame) => {
    const first = left(input, frame)
    const isFirst = typeof first === 'boolean' ? first : isTrueAt(first, position, value)
    if (isFirst === isDecisive) return isFirst
    const second = right(input, frame)
    return typeof second === 'boolean' ? second : isTrueAt(second, position, value)
  }
}

function isTrueAt(given: unknown, position: unknown, token: unknown): boolean {
  try {
    return isTrue(given)
  } catch (error) {
    throw locateFault(error, position, token)
  }
}

/** Compiles a comparison with a literal that is neither a list nor an object. */
export function createEquality(value: '=' | '!=', left: Evaluate, literal: unknown): Evaluate {
  if (value === '=') return (input, frame) => left(input, frame) === literal
  return (input, frame) => {
    const given = left(input, frame)
    return given !== undefined && given !== literal
  }
}

export function createOperation(
  operator: (left: unknown, right: unknown) => unknown,
  left: Evaluate,
  right: Evaluate,
  position: unknown,
  token: unknown,
): Evaluate {
  return (input, frame) => {
    const first = left(input, frame)
    const second = right(input, frame)
    try {
      return operator(first, second)
    } catch (error) {
      throw locateFault(error, position, token)
    }
  }
}
