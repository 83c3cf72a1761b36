/** Finds every value of the request that one mapping names, with the field that names it. */

import {
  bareExpression,
  compileExpression,
  unwrapExpression,
} from '../../compile/expression/compile-expression.ts'
import { namesOfForEach, scopeNamesOf } from '../../compile/fields/scope-names.ts'
import { isTemplateKey } from '../../compile/fields/texts.ts'
import { allowsAbsence, type Pattern } from '../../compile/match/pattern.ts'
import { compileTemplate } from '../../compile/template/compile-template.ts'
import type { Reference } from '../../compile/template/reference.ts'
import type { MappingEntry } from '../../config/configuration.ts'
import { fieldNames } from '../../config/values/fields.ts'
import type { Path } from '../../config/values/path.ts'
import { reservedReader, type ScopeNames } from '../../resolve/model/scope.ts'
import type { Clauses } from '../implication.ts'

export interface NamedReference extends Omit<Reference, 'offset'> {
  /** The path of the field in the entry. */
  readonly field: Path
  /** The offset in the field's text. Absent: the whole field is meant. */
  readonly offset?: number
}

/**
 * A value below `item` is reported as a value below the list that `forEach` names, and a value below one of `vars` as a value
 * below the path that it stands for. Where those are computed, it is left out.
 */
export function mappingReferences(entry: MappingEntry, clauses: Clauses): readonly NamedReference[] {
  const { value } = entry
  const keys = (['coalesce', 'dedupe'] as const).flatMap((owner): (readonly [Path, string])[] => {
    const key = value[owner]?.key
    return key === undefined ? [] : [[[owner, 'key'], key]]
  })
  const texts: readonly (readonly [Path, unknown])[] = [
    ...fieldNames.map((name) => [[name], value[name]] as const),
    ...keys.filter(([, key]) => isTemplateKey(key)),
    ...(value.deliverTo ?? []).flatMap(({ channel, to }, index) => [
      [['deliverTo', index, 'channel'], channel] as const,
      [['deliverTo', index, 'to'], to] as const,
    ]),
  ]
  const expressions: readonly (readonly [Path, string | undefined])[] = [
    [['match', 'when'], value.match?.when],
    [['forEach'], value.forEach],
    ...keys.filter(([, key]) => !isTemplateKey(key)),
    ...Object.entries(value.vars ?? {}).map(([name, source]) => [['vars', name], source] as const),
  ]
  const reserved = scopeNamesOf(value)
  const before = namesOfForEach(reserved)
  const aliases: Aliases = {
    item: plainPath(value.forEach ?? '', before),
    vars: new Map(Object.entries(value.vars ?? {}).map(([name, text]) => [name, plainPath(text, reserved)])),
  }
  return [
    ...[...clauses.body].flatMap(([key, pattern]) => bodyReferences(pattern, [key])),
    ...expressions.flatMap(([field, text]) =>
      text === undefined
        ? []
        : at(field, ofExpression(text, field[0] === 'match' || field[0] === 'forEach' ? before : reserved)),
    ),
    ...texts.flatMap(([field, text]) => (typeof text === 'string' ? at(field, ofText(text, reserved)) : [])),
  ].flatMap((reference) => unalias(reference, aliases))
}

function at(field: Path, references: readonly Reference[]): readonly NamedReference[] {
  return references.map((reference) => ({ ...reference, field }))
}

function ofText(text: string, reserved: ScopeNames): readonly Reference[] {
  return unwrapExpression(text) === undefined
    ? compileTemplate(text, reserved).references
    : ofExpression(text, reserved)
}

function ofExpression(text: string, reserved: ScopeNames): readonly Reference[] {
  const { source, offset } = bareExpression(text)
  return compileExpression(source, offset, reserved)
    .names.filter(({ isOptional }) => !isOptional)
    .map(({ name, steps, offset }) =>
      reservedReader(name, reserved)
        ? { root: name, steps, offset }
        : { root: 'payload', steps: [name, ...steps], offset },
    )
}

/** Returns the reference of an expression that is one plain path, such as `pull_request.labels`. */
export function plainPath(text: string, reserved: ScopeNames): Reference | undefined {
  const isPath = /^\s*[\w.]+\s*$/.test(bareExpression(text).source)
  return isPath ? ofExpression(text, reserved)[0] : undefined
}

/** Returns the fields that a pattern requires; `exists: false` requires none. */
function bodyReferences(pattern: Pattern, steps: readonly string[]): readonly NamedReference[] {
  switch (pattern.kind) {
    case 'keys':
      return pattern.keys.flatMap(([key, each]) => bodyReferences(each, [...steps, key]))
    case 'any': {
      const alternatives = pattern.patterns.map((each) => bodyReferences(each, steps))
      // An alternative that requires nothing matches where the field is absent.
      return alternatives.some((each) => each.length === 0) ? [] : alternatives.flat()
    }
    default:
      return allowsAbsence(pattern) ? [] : [{ root: 'payload', steps, field: ['match', 'body', ...steps] }]
  }
}

/** The plain paths that `item` and the values of `vars` stand for. */
interface Aliases {
  readonly item: Reference | undefined
  readonly vars: ReadonlyMap<string, Reference | undefined>
}

/** A name that `vars` lacks stays as it is, because the name is what is wrong with it. */
function unalias(reference: NamedReference, { item, vars }: Aliases): readonly NamedReference[] {
  const { root, steps } = reference
  if (root === 'item') return below(item, steps, reference)
  const [name = '', ...rest] = steps
  if (root !== 'vars' || !vars.has(name)) return [reference]
  return below(vars.get(name), rest, reference)
}

function below(
  alias: Reference | undefined,
  steps: readonly string[],
  reference: NamedReference,
): readonly NamedReference[] {
  // Without a step below, the path itself is reported where it is.
  if (alias?.root !== 'payload' || steps.length === 0) return []
  return [{ ...reference, root: 'payload', steps: [...alias.steps, ...steps] }]
}
