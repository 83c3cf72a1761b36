/**
 * Warns of expressions and texts that work and were hardly meant that way: a condition that gives neither true nor false, a
 * reference or single braces that are not replaced, and a `forEach` whose element nothing names.
 */

import {
  bareExpression,
  compileExpression,
  unwrapExpression,
} from '../compile/expression/compile-expression.ts'
import { placeOfReference, referenceHint, wordFields } from '../compile/fields/literal-reference.ts'
import { listOfForEach, namesOfForEach, scopeNamesOf } from '../compile/fields/scope-names.ts'
import type { MappingEntry } from '../config/configuration.ts'
import { braceHints, findHint } from '../config/values/hints.ts'
import { valuesAt } from './fields/known-fields.ts'
import { plainPath } from './fields/mapping-references.ts'
import type { Sample } from './sample.ts'
import type { LintCode, Warnings } from './warnings.ts'

const whenPath = ['match', 'when']

/** `samples` are those of the mapping's endpoint. */
export function lintCondition(entry: MappingEntry, samples: readonly Sample[], warnings: Warnings): void {
  const { when } = entry.value.match ?? {}
  if (when === undefined) return
  const { source, offset } = bareExpression(when)
  const names = namesOfForEach(scopeNamesOf(entry.value))
  const { kind } = compileExpression(source, offset, names)
  const add = (gives: string, hint: string): void =>
    warnings.add(entry, {
      code: 'CONDITION_VALUE',
      path: whenPath,
      message: `\`match.when\` of mapping "${entry.id}" gives ${gives}, and only \`true\` matches`,
      hint,
    })
  if (kind === 'filtered') {
    add('what its brackets find', `Ask whether there is any: \`$exists(${source.trim()})\`.`)
    return
  }
  const path = kind === 'path' ? plainPath(when, names) : undefined
  if (path?.root !== 'payload') return
  const values = valuesAt(
    samples.map(({ payload }) => payload),
    path.steps,
  )
  if (typeof values === 'string' || values.some((value) => typeof value === 'boolean' || value === null))
    return
  const [first] = values
  const written = path.steps.join('.')
  if (Array.isArray(first)) add('a list in every sample that has it', `Write \`$count(${written}) > 0\`.`)
  else if (typeof first === 'object')
    add('an object in every sample that has it', `Write \`$exists(${written})\`.`)
  else
    add(
      `a ${typeof first === 'string' ? 'text' : 'number'} in every sample that has it`,
      `Compare it, such as \`${written} = ${JSON.stringify(first)}\`, or write \`$exists(${written})\`.`,
    )
}

/** A text for a model may mean `${NAME}` or `{title}` literally, but hardly ever does. */
export function lintWords(entry: MappingEntry, warnings: Warnings): void {
  for (const field of wordFields) {
    const text = entry.value[field as 'message']
    if (typeof text !== 'string') continue
    const add = (code: LintCode, offset: number, holds: string, hint: string): void =>
      warnings.add(entry, {
        code,
        path: [field],
        offset,
        message: `\`${field}\` of mapping "${entry.id}" ${holds}`,
        hint,
      })
    const reference = placeOfReference(text)
    if (reference !== undefined)
      add(
        'LITERAL_REFERENCE',
        reference,
        'holds a reference, which is plain text in a mapping',
        referenceHint,
      )
    const braces = unwrapExpression(text) === undefined ? findHint(braceHints, text) : undefined
    if (braces !== undefined) add('LITERAL_TEXT', braces.offset, braces.message, braces.hint)
  }
}

/** Where nothing names the element, all actions of a request are the same. A transform gets the element in any case. */
export function lintElement(entry: MappingEntry, warnings: Warnings): void {
  const { forEach, transform, match, ...others } = entry.value
  if (forEach === undefined || transform !== undefined) return
  const list = listOfForEach(entry.value)
  const names = new RegExp(`\\b(item|index${list === undefined ? '' : `|${list}`})\\b`)
  if (names.test(JSON.stringify(others))) return
  warnings.add(entry, {
    code: 'UNUSED_ELEMENT',
    path: ['forEach'],
    message: `Nothing in mapping "${entry.id}" names the element of \`forEach\`: all its actions are the same`,
    hint: 'The element is `item`, as in {{item.title}}; names without it are those of the whole payload.',
  })
}
