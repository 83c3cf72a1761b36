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
import { hasSample, type Match, type Sample, samplesOf } from './sample.ts'
import type { Warnings } from './warnings.ts'

type Keys = Readonly<Record<string, unknown>>

/** What the match asks of one field. */
interface Clause {
  readonly of: 'body' | 'headers'
  readonly steps: readonly string[]
  readonly wanted: unknown
}

/**
 * @param samples - the samples of the mapping's endpoint
 * @param recorded - those that are not bodies of tests. A value that only tests lack is reported only where it looks like a
 *   slip, because `MISSING_TESTS` reports the rest
 */
export async function lintUnmetClauses(
  { entry }: ReadMapping,
  samples: readonly Sample[],
  recorded: ReadonlySet<Sample>,
  warnings: Warnings,
): Promise<void> {
  const { match = {} } = entry.value
  const clauses = [
    ...Object.entries(match.headers ?? {}).map(
      ([name, wanted]): Clause => ({ of: 'headers', steps: [name], wanted }),
    ),
    ...bodyClauses(match.body ?? {}, []),
  ]
  for (const clause of clauses) {
    const judges = await samplesOf(without(match, clause), samples)
    const held = valuesOf(clause, judges)
    const isUnmet = held.length > 0 && !(await hasSample(alone(clause), judges))
    const problem = isUnmet
      ? unmet(
          clause,
          held,
          judges.some((judge) => recorded.has(judge)),
        )
      : judges.length === 0
        ? withoutSamples(clause, valuesOf(clause, samples))
        : undefined
    if (problem === undefined) continue
    const path = ['match', clause.of, ...clause.steps]
    const message = `\`${writePath(path)}\` of mapping "${entry.id}" ${problem.message}`
    warnings.add(entry, { ...problem, path, message })
  }
}

type Problem = Pick<Parameters<Warnings['add']>[1], 'code' | 'message' | 'hint'>

/** Returns one clause for each field; a map of keys becomes a clause for each of its keys. */
function bodyClauses(pattern: Keys, above: readonly string[]): readonly Clause[] {
  return Object.entries(pattern).flatMap(([key, wanted]) => {
    const steps = [...above, key]
    const isKeys = isRecord(wanted) && !Object.keys(wanted).every((name) => operatorNames.has(name))
    return isKeys ? bodyClauses(wanted, steps) : [{ of: 'body' as const, steps, wanted }]
  })
}

/** Returns the match without the clause, and without its expression, which may read the same field. */
function without(match: Match, { of, steps }: Clause): Match {
  const rest = { ...match, when: undefined }
  if (of === 'body') return { ...rest, body: removed(match.body ?? {}, steps) }
  return { ...rest, headers: removed(match.headers ?? {}, steps) as Match['headers'] }
}

function removed(map: Keys, [key = '', ...rest]: readonly string[]): Keys | undefined {
  const below = rest.length === 0 ? undefined : removed(map[key] as Keys, rest)
  const left = Object.entries(map).flatMap(([name, each]) =>
    name !== key ? [[name, each]] : below === undefined ? [] : [[name, below]],
  )
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

function alone({ of, steps, wanted }: Clause): Match {
  const nested = steps.reduceRight<unknown>((value, step) => ({ [step]: value }), wanted)
  return { [of]: nested } as Match
}

/** Returns the scalars that samples have in the field, those in lists included; none where that is not known. */
function valuesOf({ of, steps }: Clause, samples: readonly Sample[]): readonly unknown[] {
  if (of === 'headers')
    return samples.flatMap(({ headers }) => headers?.[String(steps[0]).toLowerCase()] ?? [])
  const values = valuesAt(
    samples.map(({ payload }) => payload),
    steps,
  )
  return typeof values === 'string' ? [] : values.flat(10)
}

function unmet(
  { wanted, steps }: Clause,
  held: readonly unknown[],
  isRecorded: boolean,
): Problem | undefined {
  const slip = hintFor(wanted, held, steps)
  if (slip === undefined && !isRecorded) return undefined
  const shown = [...new Set(held.map(show))].slice(0, 3)
  return {
    code: 'UNMET_CLAUSE',
    message: `is satisfied by no sample; samples hold ${shown.join(', ')}`,
    hint: slip ?? 'Fix the clause, or add a test whose body satisfies it.',
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

function withoutSamples({ of, steps, wanted }: Clause, held: readonly unknown[]): Problem | undefined {
  if (of === 'headers' || held.length > 0) return undefined
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
