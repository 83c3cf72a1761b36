/** Determines which reserved names have a value in a mapping, and reports names that are read before they have one. */

import type { MappingSource } from '../../config/configuration.ts'
import { everyName, type ScopeNames } from '../../resolve/model/scope.ts'
import { bareExpression } from '../expression/compile-expression.ts'
import type { Report } from './report.ts'
import type { ReadName } from './texts.ts'

/** A reserved name without a value is the payload's: `item` outside of `forEach`, `vars` where there are none. */
export function scopeNamesOf({ match, forEach, vars }: MappingSource): ScopeNames {
  return namesWithout([
    ...(forEach === undefined ? elementNames : []),
    ...(hasVars(vars) ? [] : ['vars']),
    ...(/(^|\/):/.test(match?.path ?? '') ? [] : ['params']),
  ])
}

const elementNames: readonly string[] = ['item', 'index']

/** Returns the meaning of the names in `forEach` itself. */
export function namesOfForEach({ ours }: ScopeNames): ScopeNames {
  return namesWithout([...everyName.ours].filter((name) => !ours.has(name) || elementNames.includes(name)))
}

function namesWithout(absent: readonly string[]): ScopeNames {
  if (absent.length === 0) return everyName
  const ours = new Set([...everyName.ours].filter((name) => !absent.includes(name)))
  return { key: [...absent].sort().join(), ours }
}

/** Returns the same names, with `list` for a list of the one element. */
export function withElementList(names: ScopeNames, list: string): ScopeNames {
  return { ...names, key: `${names.key}=${list}`, elementList: list }
}

function hasVars(vars: MappingSource['vars']): boolean {
  return Object.keys(vars ?? {}).length > 0
}

/** Returns the key of the payload that `forEach` consists of, if it is only a key. */
export function listOfForEach({ forEach }: MappingSource): string | undefined {
  const name = forEach === undefined ? '' : bareExpression(forEach).source.trim()
  return /^[A-Za-z_]\w*$/.test(name) && !everyName.ours.has(name) ? name : undefined
}

/**
 * True if `name[0]` of the list in `forEach` means the element, as in OpenClaw, where each element takes the place of
 * the list. A mapping that reads `item` as well is refused, because it could mean the first element too.
 */
export function readsElementAsFirst(
  list: string,
  { transform }: MappingSource,
  read: readonly ReadName[],
  report: Report,
): boolean {
  const rendered = read.filter(({ path: [field] }) => field !== 'match' && field !== 'forEach')
  const first = rendered.find(({ name, isFirst }) => name === list && isFirst)
  if (first === undefined) return false
  const { path, offset } = first
  if (rendered.some(({ name }) => name === 'item')) {
    report.error({
      code: 'AMBIGUOUS_ELEMENT',
      path,
      message: `reads ${list}[0] beside \`item\`, so that it is not clear which element is meant`,
      hint: `Write item for the element that the action is about, and payload.${list}[0] for the first of all.`,
      offset,
    })
    return false
  }
  if (transform !== undefined) {
    report.warn({
      code: 'ELEMENT_IN_TRANSFORM',
      path: ['transform', 'module'],
      message: `is given the whole payload, although ${list}[0] means the element of forEach in this mapping's texts`,
      hint: `Read context.item in the transform, where context.payload.${list}[0] is the first element each time.`,
    })
  }
  return true
}

/** Reports reserved names that are read before they have a value: the payload's field may be meant, or it is a mistake. */
export function checkOrder(
  { vars = {}, forEach }: MappingSource,
  read: readonly ReadName[],
  report: Report,
): void {
  const order = Object.keys(vars)
  for (const {
    name,
    steps: [next = ''],
    path,
    offset,
  } of read) {
    const [field, key = ''] = path
    const own = `A field of the payload that is called so is payload.${name}.`
    const tooEarly = (message: string, hint: string): void =>
      report.error({ code: 'NAME_WITHOUT_VALUE', path, message, hint, offset })

    if (field === 'match' && forEach !== undefined && elementNames.includes(name)) {
      const hint = `Filter the list instead: forEach: 'items[kind = "x"]'. ${own}`
      tooEarly(`reads ${name}, which has no value yet: it is asked once, before forEach`, hint)
    } else if ((field === 'match' || field === 'forEach') && name === 'vars' && order.length > 0) {
      tooEarly('reads vars, which are computed after it', `Write out here what they are. ${own}`)
    } else if (field === 'vars' && name === 'vars' && order.indexOf(next) >= order.indexOf(String(key))) {
      const isItself = next === key
      const hint = isItself ? own : `Put ${next} above ${key}, since each value sees those before it.`
      tooEarly(`reads vars.${next}, which is ${isItself ? 'itself' : 'computed after it'}`, hint)
    }
  }
}
