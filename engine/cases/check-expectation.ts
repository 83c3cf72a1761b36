/** Compares an observation with what a test expects. */

import type { Expectation, ExpectedAction } from '../config/configuration.ts'
import { fieldsOf } from '../config/values/fields.ts'
import type { Path } from '../config/values/path.ts'
import type { Observation, ObservedAction } from './observation.ts'
import { checkValue, type ValueMismatch } from './value-check.ts'

/** The top-level keys that are not fields of an action. */
const aboutRequest: ReadonlySet<string> = new Set([
  'outcome',
  'status',
  'code',
  'reason',
  'mapping',
  'actions',
])

/** Returns everything that is not as expected. Where the outcome differs, nothing else is compared. */
export function checkExpectation(expect: Expectation, observed: Observation): ValueMismatch[] {
  const outcome = checkOutcome(expect, observed)
  if (outcome.length > 0) return outcome
  const mismatches = (['status', 'code', 'reason'] as const).flatMap((name) =>
    expect[name] === undefined ? [] : checkValue(expect[name], observed[name], ['expect', name]),
  )
  return [...mismatches, ...checkMapping(expect, observed), ...checkActions(expect, observed)]
}

/** Returns the outcome that a test expects; undefined where it names only a status, code or reason. */
export function expectedOutcome(expect: Expectation): Observation['outcome'] | undefined {
  if (expect.outcome !== undefined) return expect.outcome
  if (expect.actions !== undefined || ofOneAction(expect).length > 0) return 'accepted'
  const saysMore = expect.status !== undefined || expect.code !== undefined || expect.reason !== undefined
  return saysMore ? undefined : 'accepted'
}

function checkOutcome(expect: Expectation, observed: Observation): ValueMismatch[] {
  const expected = expectedOutcome(expect)
  if (expected === undefined || expected === observed.outcome) return []
  const path = expect.outcome === undefined ? ['expect'] : ['expect', 'outcome']
  const by = observed.mapping === undefined ? '' : `, by "${observed.mapping}"`
  return [{ path, expected, actual: `${observed.outcome}${by}` }]
}

function checkMapping(expect: Expectation, observed: Observation): ValueMismatch[] {
  if (expect.mapping === undefined) return []
  const severalHint = 'Several mappings made actions: say under `actions:` which of them made which.'
  return checkValue(expect.mapping, observed.mapping, ['expect', 'mapping']).map((mismatch) =>
    observed.mapping?.includes(', ') ? { ...mismatch, hint: severalHint } : mismatch,
  )
}

function checkActions(expect: Expectation, observed: Observation): ValueMismatch[] {
  const { actions } = observed
  const fields = Object.fromEntries(ofOneAction(expect))
  const [only] = actions
  if (Object.keys(fields).length > 0 && only !== undefined && actions.length > 1) {
    const hint = `Write \`actions:\` with what is expected of each of the ${actions.length}.`
    return [{ path: ['expect'], expected: countActions(1), actual: countActions(actions.length), hint }]
  }
  return [...(only ? checkAction(fields, only, ['expect']) : []), ...checkList(expect.actions, actions)]
}

function checkList(expected: Expectation['actions'], actions: readonly ObservedAction[]): ValueMismatch[] {
  if (expected === undefined) return []
  const path = ['expect', 'actions']
  const count: ValueMismatch[] =
    expected.length === actions.length
      ? []
      : [{ path, expected: countActions(expected.length), actual: countActions(actions.length) }]
  const pairs = expected.slice(0, actions.length)
  return [
    ...count,
    ...pairs.flatMap((each, index) => checkAction(each, actions[index] as ObservedAction, [...path, index])),
  ]
}

function checkAction(expected: ExpectedAction, action: ObservedAction, path: Path): ValueMismatch[] {
  return Object.entries(expected).flatMap(([name, value]) =>
    checkValue(value, action[name], [...path, name]).map((mismatch) => ({
      ...mismatch,
      hint: mismatch.hint ?? nameHint(name, action),
    })),
  )
}

/** Returns a hint for a field that the action cannot have. */
function nameHint(name: string, action: ObservedAction): string | undefined {
  const kind = action['action'] === 'wake' ? 'wake' : 'agent'
  const other = kind === 'wake' ? 'agent' : 'wake'
  const has = (names: readonly string[]) => names.includes(name)
  const isOfOther =
    has(fieldsOf[other]) || (other === 'agent' && has(['runner', 'deliverTo', 'busy', 'coalesce']))
  if (has(fieldsOf[kind]) || !isOfOther) return undefined
  return `\`${name}\` is a field of the action \`${other}\`, and this is \`${kind}\`.`
}

function ofOneAction(expect: Expectation): [string, unknown][] {
  return Object.entries(expect).filter(([name, value]) => value !== undefined && !aboutRequest.has(name))
}

function countActions(count: number): string {
  return count === 1 ? 'one action' : `${count} actions`
}
