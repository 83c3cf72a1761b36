/** Renders the fields of a mapping for one action into a draft. */

import { isLiteral, plainText, type Segment } from '../../boundary/segment.ts'
import type { FieldName } from '../../config/values/fields.ts'
import { type Path, writePath } from '../../config/values/path.ts'
import type { Draft } from '../admit/draft.ts'
import { AbsentValueError, createOutput, type Strictness } from '../model/output.ts'
import type { Expression, Field, Program } from '../model/program.ts'
import { refusalAt } from '../model/refusal.ts'
import { evaluateAt, locateError } from './evaluate.ts'
import { fromResult, fromText } from './field-value.ts'
import { dedupeOf, type Rendering, renderKey } from './keys.ts'

type Fields = Partial<Record<FieldName, unknown>>
type Target = NonNullable<Draft['deliverTo']>[number]

/**
 * Renders templates first, because their cost is known before anything is evaluated.
 * @throws RefusalError
 */
export async function renderDraft(rendering: Rendering): Promise<Draft> {
  const { program, recorder } = rendering
  const fields: Fields = {}
  const targets =
    program.targets === undefined ? undefined : Array.from({ length: program.targets }, (): Target => ({}))
  const contentName: FieldName = program.action === 'wake' ? 'text' : 'message'
  let content: readonly Segment[] | undefined
  const set = ([field, index, key]: Path, value: unknown): void => {
    if (index === undefined) fields[field as FieldName] = value
    else Object.assign(targets?.[Number(index)] ?? {}, { [String(key)]: value })
  }
  for (const { name, path, field } of program.fields) {
    if (field.kind === 'expression') continue
    const segments = renderField(path, field, rendering)
    if (name === contentName) content = segments
    const value = field.kind === 'literal' ? field.value : fromText(name, plainText(segments))
    set(path, value)
    recorder?.onField(writePath(path), field.kind, value, segments)
  }
  if (program.runner !== undefined) recorder?.onField('runner', 'literal', program.runner)
  for (const { name, path, field } of program.fields) {
    if (field.kind !== 'expression') continue
    const value = await evaluateField(name, path, field.evaluate, rendering)
    set(path, value)
    // It is the operator's, though the payload may have chosen it.
    if (name === contentName && typeof value === 'string' && field.choices?.includes(value))
      content = [{ literal: value }]
  }
  if (program.busy !== undefined) recorder?.onField('busy', 'literal', program.busy)
  const { coalesce, dedupe } = program
  const joined = coalesce && withKey(coalesce, await renderKey('coalesce', coalesce.key, rendering))
  const written = dedupe?.key && (await renderKey('dedupe', dedupe.key, rendering))
  const counted = dedupe && dedupeOf(dedupe, written, rendering)
  return {
    kind: program.action,
    fields: withoutBlanks(fields, contentName),
    deliverTo: targets,
    segments: content,
    label: `A text made by the mapping "${program.id}"`,
    trusted: program.trusted,
    mapping: program.id,
    runner: program.runner,
    busy: program.busy,
    ...(joined && { coalesce: joined }),
    ...(counted && { dedupe: counted }),
  }
}

/** Without a key, the request is not coalesced. */
function withKey({ key: _template, ...rest }: NonNullable<Program['coalesce']>, key: string | undefined) {
  return key === undefined ? undefined : { key, ...rest }
}

type Rendered = Exclude<Field, { kind: 'expression' }>

function renderField(path: Path, field: Rendered, rendering: Rendering): readonly Segment[] {
  if (field.kind === 'literal') return [{ literal: String(field.value) }]
  const { program, scope, meter } = rendering
  const strict = path[0] === 'sessionKey' ? 'blank' : program.strict ? 'absent' : false
  const output = createOutput(meter, strict)
  try {
    field.render(scope, output)
  } catch (error) {
    throw locate(error, path, strict)
  }
  if (strict === 'blank') refuseBarePrefix(output.segments, path)
  return output.segments
}

/**
 * Refuses a session key of which only the prefix is left, because its values were in a condition or a loop. Unrelated senders
 * would share the session.
 */
function refuseBarePrefix(segments: readonly Segment[], path: Path): void {
  if (!segments.every(isLiteral) || !plainText(segments).trim().endsWith(':')) return
  throw refusalAt(
    path,
    'SESSION_KEY_NOT_ALLOWED',
    'must not end where its values begin: all of them are absent',
  )
}

/** An absent value in a session key is always refused, because unrelated senders would share the session. */
function locate(error: unknown, path: Path, strict: Strictness): unknown {
  if (strict !== 'blank' || !(error instanceof AbsentValueError)) return locateError(error, path)
  return refusalAt(path, 'SESSION_KEY_NOT_ALLOWED', `needs ${error.path}, which is absent or blank`)
}

/** `like` is the field whose rules the value follows. */
async function evaluateField(
  like: FieldName,
  path: Path,
  evaluate: Expression,
  { scope, meter, recorder }: Rendering,
): Promise<unknown> {
  const value = fromResult(like, await evaluateAt(path, evaluate, scope), meter)
  recorder?.onField(writePath(path), 'expression', value)
  return value
}

/** A blank field counts as absent, except a required text, which admission then refuses by name. */
function withoutBlanks(fields: Fields, contentName: FieldName): Fields {
  for (const name of Object.keys(fields) as FieldName[]) {
    const value = fields[name]
    if (name !== contentName && typeof value === 'string' && value.trim() === '') fields[name] = undefined
  }
  return fields
}
