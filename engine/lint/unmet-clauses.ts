/**
 * Warns of clauses of `match` that samples contradict: the samples that satisfy all other clauses have the field, and none
 * has a value that the clause accepts. Where there is no such sample, a text such as `yes` and a key with a dot in it are
 * reported, because they are seldom meant literally.
 */

import { operatorNames, textOperators } from '../compile/match/operators.ts'
import { isRecord } from '../config/values/is-record.ts'
import { nearestName } from '../config/values/nearest.ts'
import { writePath } from '../config/values/path.ts'
import { valuesAt } from './fields/known-fields.ts'
import type { ReadMapping } from './reachability.ts'
import { createExplain, type Sample } from './sample.ts'
import type { Warnings } from './warnings.ts'

type Keys = Readonly<Record<string, unknown>>

/** The match's condition on one field. */
interface Clause {
  /** The path from the entry. */
  readonly path: readonly string[]
  readonly wanted: unknown
}

/** The samples that one clause alone keeps from matching. */
interface Failing {
  readonly held: unknown[]
  isRecorded: boolean
}

/**
 * @param samples - the samples of the mapping's endpoint
 * @param recorded - those that are not bodies of tests. A value that only tests lack is reported only where it looks like a
 *   mistake, because `MISSING_TESTS` reports the rest
 */
export async function lintUnmetClauses(
  { entry }: ReadMapping,
  samples: readonly Sample[],
  recorded: ReadonlySet<Sample>,
  warnings: Warnings,
): Promise<void> {
  const { match = {} } = entry.value
  const clauses = [
    ...Object.entries(match.headers ?? {}).map(([name, wanted]) => ({
      path: ['match', 'headers', name],
      wanted,
    })),
    ...bodyClauses(match.body ?? {}, ['match', 'body']),
  ]
  const failing = new Map<string, Failing>()
  // The expression is left out, because it may read the same field.
  const explain = createExplain({ ...match, when: undefined })
  for (const sample of samples) {
    const miss = await explain(sample)
    if (miss === undefined) return
    if (miss.isOnly !== true) continue
    const found = failing.get(writePath(miss.path)) ?? { held: [], isRecorded: false }
    failing.set(writePath(miss.path), found)
    found.held.push(...[miss.actual ?? []].flat(10))
    found.isRecorded ||= recorded.has(sample)
  }
  for (const clause of clauses) {
    const path = writePath(clause.path)
    const found = failing.get(path)
    const problem = found ? unmet(clause, found) : withoutSamples(clause, samples)
    if (problem === undefined) continue
    const message = `\`${path}\` of mapping "${entry.id}" ${problem.message}`
    warnings.add(entry, { ...problem, path: clause.path, message })
  }
}

type Problem = Pick<Parameters<Warnings['add']>[1], 'code' | 'message' | 'hint'>

/** Returns one clause for each field; a map of keys becomes a clause for each of its keys. */
function bodyClauses(pattern: Keys, above: readonly string[]): readonly Clause[] {
  return Object.entries(pattern).flatMap(([key, wanted]) => {
    const path = [...above, key]
    const isKeys = isRecord(wanted) && !Object.keys(wanted).every((name) => operatorNames.has(name))
    return isKeys ? bodyClauses(wanted, path) : [{ path, wanted }]
  })
}

function unmet({ wanted, path }: Clause, { held, isRecorded }: Failing): Problem | undefined {
  if (held.length === 0) return undefined
  const hint = hintFor(wanted, held, path.slice(2))
  if (hint === undefined && !isRecorded) return undefined
  const shown = [...new Set(held.map(show))].slice(0, 3)
  return {
    code: 'UNMET_CLAUSE',
    message: `is satisfied by no sample; samples hold ${shown.join(', ')}`,
    hint: hint ?? 'Fix the clause, or add a test whose body satisfies it.',
  }
}

function hintFor(wanted: unknown, held: readonly unknown[], steps: readonly string[]): string | undefined {
  const field = writePath(steps)
  const areAll = (type: string) => held.every((value) => typeof value === type)
  if (Array.isArray(wanted))
    return wanted.map((each) => hintFor(each, held, steps)).find((hint) => hint !== undefined)
  if (isRecord(wanted)) {
    if ('numeric' in wanted && areAll('string'))
      return `\`numeric\` takes numbers alone; write \`when: "$number(${field}) > …"\`.`
    const operator = textOperators.find((name) => name in wanted)
    if (operator !== undefined && !held.some((value) => typeof value === 'string'))
      return `\`${operator}\` takes texts alone; compare another value in \`match.when\`.`
    return undefined
  }
  if (typeof wanted !== 'string')
    return areAll('string') ? `Put it in quotes: "${String(wanted)}".` : undefined
  if (areAll('boolean')) return `Write \`${truths.get(wanted.toLowerCase()) ?? 'true'}\`, without quotes.`
  if (areAll('number') && /^-?\d+(\.\d+)?$/.test(wanted)) return `Write \`${wanted}\`, without quotes.`
  const nearest = nearestName(wanted, new Set(held.filter((value) => typeof value === 'string')))
  return nearest === undefined ? undefined : `Did you mean ${show(nearest)}?`
}

/** Words that authors write for a truth value, and that are texts in YAML 1.2. */
const truths: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['on', true],
  ['true', true],
  ['no', false],
  ['off', false],
  ['false', false],
])

/** For a field of the body that no sample has. */
function withoutSamples({ path, wanted }: Clause, samples: readonly Sample[]): Problem | undefined {
  const steps = path.slice(2)
  const values = valuesAt(
    samples.map(({ payload }) => payload),
    steps,
  )
  if (path[1] === 'headers' || typeof values !== 'string') return undefined
  const truth = typeof wanted === 'string' ? truths.get(wanted.toLowerCase()) : undefined
  if (truth !== undefined)
    return {
      code: 'LITERAL_TEXT',
      message: `is the text ${show(wanted)}, and no truth value`,
      hint: `Write \`${truth}\`, without quotes; yes, no, on and off are texts. If a text is meant, add a test that has it.`,
    }
  const dotted = steps.findIndex((step) => /^\w[\w-]*(\.\w[\w-]*)+$/.test(step))
  if (dotted === -1) return undefined
  const nested = (steps[dotted] ?? '').split('.')
  return {
    code: 'LITERAL_KEY',
    message: 'has a key with a dot in it, which is one key of the payload',
    hint: `Nest it: \`${nested.join(': { ')}: …${' }'.repeat(nested.length - 1)}\`. If the payload has that key, add a test that shows it.`,
  }
}

/** Writes a value of a sample as JSON, cut to fit on a line. */
function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 40 ? `${text.slice(0, 39)}…` : text
}
