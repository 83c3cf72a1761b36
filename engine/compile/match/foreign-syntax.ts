/**
 * Finds what authors write in `match` because other tools accept it: operators of Mongo, EventBridge, JSON Schema or
 * n8n, and comparisons, globs and slashed regular expressions as texts. Without a warning it would be compared
 * literally, or looked up as a key of the payload, and never match.
 */

import { isRecord } from '../../config/is-record.ts'
import type { Path } from '../../config/path.ts'
import type { Report } from '../report.ts'

interface ForeignOperator {
  /** Whether no payload is likely to have a key of that name. Then it is an error, otherwise a warning. */
  readonly isSure: boolean
  /** The text to write instead. */
  readonly hint: (operand: unknown) => string
  /** Whether the operand is one that other tools accept. With another one, the name counts as a key of the payload. */
  readonly fits: (operand: unknown) => boolean
}

type Fits = ForeignOperator['fits']
const isNumber: Fits = (operand) =>
  typeof operand === 'number' || (typeof operand === 'string' && /^\s*-?[\d.]+\s*$/.test(operand))
const isText: Fits = (operand) =>
  typeof operand === 'string' || (Array.isArray(operand) && operand.every((each) => typeof each === 'string'))
const isFlag: Fits = (operand) => typeof operand === 'boolean' || operand === null
const isScalarOrList: Fits = (operand) =>
  typeof operand !== 'object' || operand === null || Array.isArray(operand)
const isList: Fits = Array.isArray
const isAny: Fits = () => true

const numeric = (sign: string) => (operand: unknown) =>
  `Write \`numeric: ["${sign}", ${isNumber(operand) ? String(operand).trim() : '…'}]\`.`
const value = () => 'Write the value itself: `field: opened`; the number 10 and the text "10" are not equal.'
const list = () => 'Write a list of which any may be equal: `field: [a, b]`.'
const anythingBut = () => 'Write `anything-but:` and a value, or a list of values.'
const containing = () =>
  'In a text, write `pattern: "…"`, which is found anywhere in it; in a list any element may match, so write the value itself.'
const pattern = () =>
  'Write `pattern: "…"`, a regular expression without slashes; `(?i)` at its start ignores case.'
const both = () => 'Write them into one map: several operators must all hold.'

const operators: ReadonlyMap<string, ForeignOperator> = new Map(
  (
    [
      ['gt > greaterthan exclusiveminimum', true, isNumber, numeric('>')],
      ['gte ge >= => greaterthanorequal', true, isNumber, numeric('>=')],
      ['lt < lessthan exclusivemaximum', true, isNumber, numeric('<')],
      ['lte le <= =< lessthanorequal', true, isNumber, numeric('<=')],
      ['min minimum above over', false, isNumber, numeric('>=')],
      ['max maximum below under', false, isNumber, numeric('<=')],
      ['between range', false, isList, () => 'Write `numeric: [">=", 1, "<=", 10]`.'],
      ['== = === eq', true, isScalarOrList, value],
      ['equals equal equalto const', false, isScalarOrList, value],
      ['!= !== <> ne neq nin notin notequals notequal doesnotequal', true, isAny, anythingBut],
      ['not isnot', false, isAny, anythingBut],
      ['anythingbut', true, isAny, () => 'It is written `anything-but`.'],
      ['in anyof oneof enum', false, isList, list],
      ['contains includes include icontains substring', false, isText, containing],
      ['startswith beginswith', true, isText, () => 'Write `prefix: "…"`.'],
      ['endswith', true, isText, () => 'Write `suffix: "…"`.'],
      ['regex regexp rlike', true, isText, pattern],
      ['matches match wildcard glob like ilike equalsignorecase ignorecase', false, isText, pattern],
      [
        'isnull',
        true,
        isFlag,
        () => 'Write `field: null` for a null, or `exists: false` for a field that is absent.',
      ],
      ['exist isset isdefined present', false, isFlag, () => 'Write `exists: true`, or `exists: false`.'],
      ['and allof', false, isList, both],
      ['or', false, isList, list],
    ] satisfies readonly (readonly [string, boolean, Fits, ForeignOperator['hint']])[]
  ).flatMap(([names, isSure, fits, hint]) =>
    names.split(' ').map((name) => [name, { isSure, fits, hint }] as const),
  ),
)

/** Treats `startsWith`, `starts_with`, `starts-with` and `$startsWith` as the same. */
function foreignOperator(name: string, operand: unknown): ForeignOperator | undefined {
  const bare = name
    .replace(/^\$|^@/, '')
    .replace(/[-_ ]/g, '')
    .toLowerCase()
  const found = operators.get(bare)
  if (found === undefined || !found.fits(operand)) return undefined
  return name === bare || !/^[$@]/.test(name) ? found : { ...found, isSure: true }
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
    const finding = { code: 'FOREIGN_OPERATOR', path: [...path, name], hint: operator.hint(map[name]) }
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

/** Texts that other tools interpret, with what to write instead. */
const texts: readonly (readonly [RegExp, string, string])[] = [
  [
    /\{\{.*\}\}|\{%.*%\}/s,
    'is compared letter for letter: patterns hold no placeholders',
    'Compare two fields in `match.when`.',
  ],
  [
    /^\$\{\w+\}$/,
    'is compared letter for letter: references are not resolved in a mapping',
    'Write the value itself.',
  ],
  [
    /^\/.*[[\](){}^$.*+?\\|].*\/[a-z]*$|^\/.+\/[gimsuy]+$/s,
    'is compared letter for letter, slashes included',
    'Write `{ pattern: "…" }` for a regular expression, without the slashes; `(?i)` at its start ignores case.',
  ],
  [
    /^(>=?|<=?|=>|=<)\s*-?\d/,
    'is compared letter for letter',
    'Write `{ numeric: [">", 10] }` to compare numbers.',
  ],
  [/^(!=?|<>|not )\s*\S/, 'is compared letter for letter', 'Write `{ anything-but: … }`.'],
  [/^={2,3}\s*\S/, 'is compared letter for letter', 'Write the value itself.'],
  [
    /^[\w.-]+(\s*\|\|?\s*[\w.-]+)+$/,
    'is compared letter for letter',
    'Write a list of which any may be equal: `[a, b]`.',
  ],
  [/^[^*]+\*$/, 'is compared letter for letter, `*` included', 'Write `{ prefix: "…" }`.'],
  [/^\*[^*]+$/, 'is compared letter for letter, `*` included', 'Write `{ suffix: "…" }`.'],
  [/^\*[^*]+\*$/, 'is compared letter for letter, `*` included', 'Write `{ pattern: "…" }`.'],
  [/^\*$/, 'is compared letter for letter', 'For any value, write `{ exists: true }`.'],
]

/** Warns of a text that was hardly meant literally. It still counts as a literal, so nothing is lost if it was. */
export function warnOfForeignText(text: string, path: Path, report: Report): void {
  const found = texts.find(([pattern]) => pattern.test(text))
  if (found === undefined) return
  const [, message, hint] = found
  report.warn({ code: 'LITERAL_TEXT', path, message, hint })
}

/** Warns of a regular expression between slashes, because the slashes would be part of it. */
export function warnOfSlashes(source: string, path: Path, report: Report): void {
  if (!/^\/\^.*\/[a-z]*$|^\/.*\$\/[a-z]*$|^\/.+\/[gimsuy]+$/s.test(source)) return
  report.warn({
    code: 'LITERAL_TEXT',
    path,
    message: 'looks for the slashes as well',
    hint: 'Leave them out; `(?i)` at its start ignores case.',
  })
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
  let isRefused = false
  for (const [name, operand] of Object.entries(body)) {
    const logic = /^\$?(or|and|nor|not|any|all|anyOf|allOf|oneOf|noneOf)$/i.exec(name)?.[1]?.toLowerCase()
    const isOfMaps = Array.isArray(operand) && operand.length > 0 && operand.every(isRecord)
    if (logic === undefined || !(isOfMaps || (logic === 'not' && isRecord(operand)))) continue
    const hint =
      logic === 'and' || logic === 'all' || logic === 'allof'
        ? 'Write the keys side by side under `body`: all of them must hold.'
        : 'Write one mapping for each case, or a condition in `match.when`: `"a = 1 or b = 2"`.'
    const finding = { code: 'FOREIGN_OPERATOR', path: [...path, name], hint }
    if (name.startsWith('$')) {
      isRefused = true
      report.error({ ...finding, message: 'is not an operator; the clauses of a pattern must all hold' })
    } else
      report.warn({ ...finding, message: 'is taken for a key of the payload, because it is not an operator' })
  }
  return isRefused
}

function foreignPath(key: string): readonly string[] | undefined {
  const isPath = /^\$\.?\w|^\$\[|^\$\./.test(key) || /^\/\w/.test(key) || /\w\[(\d*|\*)\]/.test(key)
  if (!isPath || /^\$\w+$/.test(key)) return undefined
  return key.split(/[./[\]$]+/).filter((step) => step !== '' && step !== '*' && !/^\d+$/.test(step))
}
