/** Warns of settings for sessions, elements, dedupe and coalesce that mean something else than they seem to. */

import { bareExpression } from '../compile/expression/compile-expression.ts'
import type { MappingEntry } from '../config/configuration.ts'
import { isRecord } from '../config/values/is-record.ts'
import type { Warnings } from './warnings.ts'

/** One conversation for all requests is rarely meant, because what one sender says becomes context for the next. */
export function lintSession(entry: MappingEntry, warnings: Warnings): void {
  const { action, sessionKey } = entry.value
  if (
    action !== 'agent' ||
    sessionKey === undefined ||
    sessionKey.trim() === '' ||
    /\{\{|\{%/.test(sessionKey)
  )
    return
  warnings.add(entry, {
    code: 'SHARED_SESSION',
    path: ['sessionKey'],
    message: `All requests of mapping "${entry.id}" share one session`,
    hint: 'Let a placeholder tell conversations apart, such as "hook:github:{{number}}", or leave the key out.',
  })
}

/** A pattern on a list holds if one element satisfies it, and forEach then acts on all of them. */
export function lintUnfiltered(entry: MappingEntry, warnings: Warnings): void {
  const { forEach, match } = entry.value
  const list = forEach === undefined ? undefined : bareExpression(forEach).source.trim()
  if (list === undefined || match?.body === undefined) return
  const isRoot = /^(?:\$\$?|payload)$/.test(list)
  const pattern = /^[A-Za-z_]\w*$/.test(list) ? match.body[list] : undefined
  const isOfElements = isRecord(pattern) && Object.keys(pattern).some((name) => name !== 'exists')
  if (!isRoot && !isOfElements) return
  const field = Object.keys(isRoot ? match.body : (pattern as object))[0] ?? 'kind'
  warnings.add(entry, {
    code: 'UNFILTERED_ELEMENTS',
    path: ['forEach'],
    message: `\`match.body\` of mapping "${entry.id}" holds if one element satisfies it, and \`forEach\` acts on all elements`,
    hint: `Filter the list too: forEach: '${list}[${field} = "…"]'.`,
  })
}

/** The names of values that differ, or may differ, from element to element. */
const ofElement = /\b(?:item|index|vars)\b/

/** A key as it reads without the marks of a template or an expression. */
function bareKey(key: string): string {
  return key.trim().replace(/^\{\{\s*([^{}]*?)\s*\}\}$|^\{%\s*(.*?)\s*%\}$/s, '$1$2')
}

/** A request that could join a run is one with the same key, and with that key it is a duplicate. */
export function lintCoalesce(entry: MappingEntry, warnings: Warnings): void {
  const { action, dedupe, coalesce } = entry.value
  if (action !== 'agent' || !dedupe?.enabled || dedupe.key === undefined || coalesce === undefined) return
  if (bareKey(coalesce.key) !== bareKey(dedupe.key)) return
  warnings.add(entry, {
    code: 'DEAD_COALESCE',
    path: ['dedupe', 'key'],
    message: `\`dedupe.key\` of mapping "${entry.id}" is its \`coalesce.key\`: a later request is dropped as a duplicate before it could join the run`,
    hint: 'Let `dedupe.key` identify one event, such as by its id, and `coalesce.key` the subject of several events.',
  })
}

/** Of elements with the same key only the first counts, which is hardly ever meant for a whole list. */
export function lintDedupe(entry: MappingEntry, warnings: Warnings): void {
  const { forEach, dedupe } = entry.value
  if (forEach === undefined || !dedupe?.enabled || dedupe.key === undefined) return
  if (ofElement.test(dedupe.key)) return
  warnings.add(entry, {
    code: 'SHARED_DEDUPE_KEY',
    path: ['dedupe', 'key'],
    message: `All elements of \`forEach\` of mapping "${entry.id}" have one dedupe key, so that only the first counts`,
    hint: 'Name the element too, such as item.id, or index where it has nothing of its own.',
  })
}
