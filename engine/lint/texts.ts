/**
 * Warns of expressions and texts that work and were hardly meant that way: a condition that gives neither true nor false, a
 * reference or single braces that are not replaced, and a `forEach` whose element nothing names.
 */

import { unwrapExpression } from '../compile/expression/compile-expression.ts'
import { placeOfReference, referenceHint, wordFields } from '../compile/fields/literal-reference.ts'
import { listOfForEach } from '../compile/fields/scope-names.ts'
import type { MappingEntry } from '../config/configuration.ts'
import { braceHints, findHint } from '../config/values/hints.ts'
import { typeName } from '../config/values/type-name.ts'
import { createExplain, type Sample } from './sample.ts'
import type { Warning, Warnings } from './warnings.ts'

/** `samples` are those of the mapping's endpoint. */
export async function lintCondition(
  entry: MappingEntry,
  samples: readonly Sample[],
  warnings: Warnings,
): Promise<void> {
  const { when } = entry.value.match ?? {}
  if (when === undefined) return
  const explain = createExplain({ when })
  let first: unknown
  for (const sample of samples) {
    const miss = await explain(sample)
    if (miss === undefined || typeof miss.actual === 'boolean' || miss.actual === null) return
    first ??= miss.actual
  }
  if (first === undefined) return
  warnings.add(entry, {
    code: 'CONDITION_VALUE',
    path: ['match', 'when'],
    message: `\`match.when\` of mapping "${entry.id}" gives ${typeName(first)} for every sample, and only \`true\` matches`,
    hint: "Compare it: `action = 'opened'`, `$count(labels) > 0`; or ask whether it is there: `$exists(…)`.",
  })
}

/** A text for a model may mean `${NAME}` or `{title}` literally, but hardly ever does. */
export function lintWords(entry: MappingEntry, warnings: Warnings): void {
  for (const field of wordFields) {
    const text = entry.value[field as 'message']
    if (typeof text !== 'string') continue
    const add = (code: Warning['code'], offset: number, holds: string, hint: string): void =>
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
