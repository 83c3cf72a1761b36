/** Owns rendering: a mapping's fields, for one request, become a draft. */

import { plainText, type Segment } from '../boundary/segment.ts'
import type { Draft } from './draft.ts'
import { AbsentValueError, createOutput, InexactNumberError, jsonOf, type Meter, spend } from './output.ts'
import { ExpressionError, type FieldName, type Program } from './program.ts'
import { RefusalError } from './refusal.ts'
import { type Scope, withExactNumbers } from './scope.ts'
import { whenReady } from './when-ready.ts'

type Fields = Partial<Record<FieldName, unknown>>

/**
 * A promise only where an expression had to be waited for.
 * @throws RefusalError, or rejects with it
 */
export function renderDraft(program: Program, scope: Scope, meter: Meter): Draft | Promise<Draft> {
  const left = meter.left
  try {
    return renderFields(program, scope, meter)
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error
    meter.left = left
    return renderFields(program, withExactNumbers(scope), meter)
  }
}

/** Templates first: once a promise exists, nothing that throws at once may stand between it and its handler. */
function renderFields(program: Program, scope: Scope, meter: Meter): Draft | Promise<Draft> {
  const fields: Fields = {}
  const contentName: FieldName = program.action === 'wake' ? 'text' : 'message'
  let content: readonly Segment[] | undefined

  for (const { name, field } of program.fields) {
    if (field.kind === 'expression') continue
    if (field.kind === 'literal') {
      fields[name] = field.value
      if (name === contentName) content = [{ literal: String(field.value) }]
      continue
    }
    const segments = renderTemplate(name, field.render, scope, meter)
    if (name === contentName) content = segments
    fields[name] = fromText(name, plainText(segments))
  }

  return whenReady(evaluateFrom(program, 0, fields, scope, meter), () => ({
    kind: program.action,
    fields: withoutBlanks(fields, contentName),
    segments: content,
    label: `A text made by the mapping "${program.id}"`,
    trusted: program.trusted,
    mapping: program.id,
    runner: program.runner,
  }))
}

type TemplateField = Extract<Program['fields'][number]['field'], { kind: 'template' }>

/** A session key takes no absent value: strangers would come to share one session. */
function renderTemplate(
  name: FieldName,
  render: TemplateField['render'],
  scope: Scope,
  meter: Meter,
): Segment[] {
  const output = createOutput(meter, { exact: scope.exact, strict: name === 'sessionKey' })
  try {
    render(scope, output)
  } catch (error) {
    if (error instanceof AbsentValueError) {
      throw located(name, 'SESSION_KEY_NOT_ALLOWED', `needs ${error.path}, which is absent or blank`)
    }
    if (error instanceof RefusalError && error.details.length === 0) {
      throw located(name, error.code, error.message, error.cause)
    }
    throw error
  }
  return output.segments
}

function evaluateFrom(
  program: Program,
  start: number,
  fields: Fields,
  scope: Scope,
  meter: Meter,
): void | Promise<void> {
  for (let index = start; index < program.fields.length; index++) {
    const entry = program.fields[index]
    if (entry?.field.kind !== 'expression') continue
    const { name } = entry
    const result = evaluate(name, entry.field.evaluate, scope)
    const keep = (value: unknown) => {
      fields[name] = fromResult(name, value, meter)
    }
    if (result instanceof Promise) {
      return result.then((value) => {
        keep(value)
        return evaluateFrom(program, index + 1, fields, scope, meter)
      })
    }
    keep(result)
  }
}

function evaluate(name: FieldName, expression: (scope: Scope) => unknown, scope: Scope): unknown {
  try {
    const result = expression(scope)
    return result instanceof Promise ? result.catch((error) => refuseExpression(name, error)) : result
  } catch (error) {
    return refuseExpression(name, error)
  }
}

function refuseExpression(name: FieldName, error: unknown): never {
  if (!(error instanceof ExpressionError)) throw error
  throw located(name, 'EXPRESSION_FAILED', error.message, error)
}

function located(
  name: FieldName,
  code: RefusalError['code'],
  message: string,
  cause?: unknown,
): RefusalError {
  const options = cause === undefined ? undefined : { cause }
  return new RefusalError(code, `${name}: ${message}`, [{ pointer: `/${name}`, message }], options)
}

/** A template gives text; the two fields that are no text are read from it where it reads as one. */
function fromText(name: FieldName, text: string): unknown {
  const trimmed = text.trim()
  if (name === 'deliver' && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  if (name === 'timeoutSeconds' && /^\d{1,9}$/.test(trimmed)) return Number(trimmed)
  return text
}

/** An expression keeps its type; a text or message of another type is printed as a template would print it. */
function fromResult(name: FieldName, value: unknown, meter: Meter): unknown {
  const content = name === 'text' || name === 'message'
  const text = content && typeof value === 'object' && value !== null
  const printable = typeof value === 'number' || (content && typeof value === 'boolean')
  const result = text
    ? jsonOf(value, createOutput(meter, { exact: true, strict: false }))
    : printable && name !== 'timeoutSeconds'
      ? String(value)
      : value
  if (typeof result === 'string') spend(meter, Buffer.byteLength(result))
  return result
}

/** Blank counts as absent, except where a text is required: admission then refuses it by name. */
function withoutBlanks(fields: Fields, contentName: FieldName): Fields {
  for (const name of Object.keys(fields) as FieldName[]) {
    const value = fields[name]
    if (name !== contentName && typeof value === 'string' && value.trim() === '') fields[name] = undefined
  }
  return fields
}
