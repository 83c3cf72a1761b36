/**
 * Finds what authors write in `match` because other tools accept it: operators of Mongo, EventBridge, JSON Schema or
 * n8n, and comparisons, globs and slashed regular expressions as texts. Without a warning it would be compared
 * literally, or looked up as a key of the payload, and never match.
 */

import { findHint, type HintRow, operatorHints, patternHints, slashHints } from '../../config/values/hints.ts'
import { isRecord } from '../../config/values/is-record.ts'
import type { Path } from '../../config/values/path.ts'
import type { Report } from '../fields/report.ts'

/** Treats `startsWith`, `starts_with`, `starts-with` and `$startsWith` as the same. A map below a name is one of the payload. */
function foreignOperator(name: string, operand: unknown) {
  const bare = name.replace(/^[$@]|[-_ ]/g, '').toLowerCase()
  const found = isRecord(operand) ? undefined : operatorHints.get(bare)
  return found && { ...found, isSure: found.isSure || /^[$@]/.test(name) }
}

/**
 * Reports the foreign operators of a map that holds only operators, ours or foreign. Returns whether the map is
 * refused. A map with a warning is still read as keys of the payload.
 */
export function refuseForeignOperators(
  map: Readonly<Record<string, unknown>>,
  ours: ReadonlySet<string>,
  path: Path,
  report: Report,
): boolean {
  const names = Object.keys(map)
  const foreign = names.flatMap((name) => {
    const operator = ours.has(name) ? undefined : foreignOperator(name, map[name])
    return operator === undefined ? [] : [{ name, operator }]
  })
  const ownCount = names.filter((name) => ours.has(name)).length
  if (foreign.length === 0 || foreign.length + ownCount < names.length) return false
  // Beside a known operator, a foreign name is certainly meant as an operator.
  const isSure = ownCount > 0 || foreign.some(({ operator }) => operator.isSure)
  for (const { name, operator } of foreign) {
    const finding = { code: 'FOREIGN_OPERATOR', path: [...path, name], hint: operator.hint }
    if (isSure)
      report.error({ ...finding, message: `is not an operator; the operators are ${[...ours].join(', ')}` })
    else
      report.warn({
        ...finding,
        message: 'is taken for a key of the payload, because it is not an operator',
        hint: `${finding.hint} For a key of that name, write it in \`match.when\`.`,
      })
  }
  return isSure
}

/** Warns of a text that was hardly meant literally. It still counts as a literal, so nothing is lost if it was. */
export function warnOfForeignText(text: string, path: Path, report: Report): void {
  warnBy(patternHints, text, path, report)
}

/** Warns of a regular expression between slashes, because the slashes would be part of it. */
export function warnOfSlashes(source: string, path: Path, report: Report): void {
  warnBy(slashHints, source, path, report)
}

function warnBy(rows: readonly HintRow[], text: string, path: Path, report: Report): void {
  const found = findHint(rows, text)
  if (found === undefined) return
  report.warn({ code: 'LITERAL_TEXT', path, message: found.message, hint: found.hint })
}

/** Warns of a key that is a path in other tools: `$.action`, `/action`, `labels[0].name`. A lone dot is left to lint. */
export function warnOfForeignKey(key: string, path: Path, report: Report): void {
  const steps = foreignPath(key)
  if (steps === undefined) return
  report.warn({
    code: 'LITERAL_KEY',
    path,
    message: 'is taken for one key of the payload, whole as it is written',
    hint:
      steps.length > 1
        ? `Nest it: \`${steps.join(': { ')}: …${' }'.repeat(steps.length - 1)}\`; where the payload holds a list, any element may match.`
        : `Write \`${steps[0] ?? 'action'}: …\`.`,
  })
}

/** Reports `body: { $or: [{ … }, { … }] }`: conditions over whole payloads. @returns whether it is refused */
export function refuseForeignLogic(
  body: Readonly<Record<string, unknown>>,
  path: Path,
  report: Report,
): boolean {
  const names = Object.keys(body).filter(
    (name) =>
      /^\$?(?:or|and|nor|not|any|all|anyOf|allOf|oneOf|noneOf)$/i.test(name) &&
      (Array.isArray(body[name]) || /^\$?not$/i.test(name)) &&
      [body[name]].flat().length > 0 &&
      [body[name]].flat().every(isRecord),
  )
  for (const name of names) {
    const isSure = name.startsWith('$')
    report[isSure ? 'error' : 'warn']({
      code: 'FOREIGN_OPERATOR',
      path: [...path, name],
      message: isSure
        ? 'is not an operator; the clauses of a pattern must all hold'
        : 'is taken for a key of the payload, because it is not an operator',
      hint: 'Keys side by side must all hold. Otherwise write one mapping for each case, or a condition in `match.when`: `"a = 1 or b = 2"`.',
    })
  }
  return names.some((name) => name.startsWith('$'))
}

function foreignPath(key: string): readonly string[] | undefined {
  const isPath = /^\$\.?\w|^\$\[|^\$\./.test(key) || /^\/\w/.test(key) || /\w\[(\d*|\*)\]/.test(key)
  if (!isPath || /^\$\w+$/.test(key)) return undefined
  return key.split(/[./[\]$]+/).filter((step) => step !== '' && step !== '*' && !/^\d+$/.test(step))
}
