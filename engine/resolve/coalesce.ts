/** Owns the key of `coalesce`: which requests become one run. */

import { createHash } from 'node:crypto'
import { isLiteral, plainText } from '../boundary/segment.ts'
import type { AgentAction } from './decision.ts'
import { evaluateAt, locateError } from './evaluate.ts'
import { fromResult } from './field-value.ts'
import { AbsentValueError, createOutput, type Meter } from './output.ts'
import type { Program, Template } from './program.ts'
import type { Recorder } from './recorder.ts'
import type { Scope } from './scope.ts'
import { whenReady } from './when-ready.ts'

type Coalesce = AgentAction['coalesce']

interface Rendering {
  readonly program: Program
  readonly scope: Scope
  readonly meter: Meter
  readonly recorder: Recorder | undefined
}

const path = ['coalesce', 'key'] as const

/**
 * Nothing where the key gives nothing: the request then stands alone. That includes a template of which any value is
 * absent or blank, since all requests without it would else become one run; in a `strict` mapping an absent one is
 * refused as anywhere.
 * @throws RefusalError, or rejects with it
 */
export function renderCoalesce(
  { key, ...rest }: NonNullable<Program['coalesce']>,
  rendering: Rendering,
): Coalesce | Promise<Coalesce> {
  // What is rendered takes its place; where nothing is, whoever asks why nothing was joined is told so.
  rendering.recorder?.onField('coalesce.key', key.kind === 'template' ? 'template' : 'expression', '')
  const text = key.kind === 'template' ? keyOf(key.render, rendering) : evaluated(key.evaluate, rendering)
  return whenReady(text, (written) => {
    const trimmed = written?.trim() ?? ''
    return trimmed === '' ? undefined : { key: trimmed, ...rest }
  })
}

type Key = string | undefined

function keyOf(render: Template, { program, scope, meter, recorder }: Rendering): Key | Promise<Key> {
  const output = createOutput(meter, { exact: scope.exact, strict: 'blank' })
  const rendered = (): Key => {
    const text = plainText(output.segments)
    // As in a session key: where its values begin it ends, because a condition left them all out.
    if (output.segments.every(isLiteral) && text.trim().endsWith(':')) return undefined
    recorder?.onField('coalesce.key', 'template', text, output.segments)
    return text
  }
  const missing = (error: unknown): Key => {
    if (error instanceof AbsentValueError && (error.isBlank || !program.strict)) return undefined
    throw locateError(error, path)
  }
  try {
    const wait = render(scope, output)
    return wait === undefined ? rendered() : wait.then(rendered, missing)
  } catch (error) {
    return missing(error)
  }
}

function evaluated(
  evaluate: Extract<NonNullable<Program['coalesce']>['key'], { kind: 'expression' }>['evaluate'],
  { scope, meter, recorder }: Rendering,
): Key | Promise<Key> {
  return whenReady(evaluateAt(path, evaluate, scope), (result) =>
    whenReady(fromResult('message', result, meter), (value) => {
      if (typeof value !== 'string') return undefined
      recorder?.onField('coalesce.key', 'expression', value)
      return value
    }),
  )
}

/** In UTF-16 units. Keys stand in indexes and are shown; texts of any length come out of payloads. */
const longestKey = 512
const shownOfLonger = 64

/** The key itself, or for a longer one how it begins and its SHA-256: two of them are never the same by being cut. */
export function boundedKey(key: string): string {
  if (key.length <= longestKey) return key
  // In the very units of the text: UTF-8 would write one sign for any half of a pair.
  const digest = createHash('sha256').update(key, 'utf16le').digest('hex')
  return `${key.slice(0, shownOfLonger).toWellFormed()}… sha256:${digest}`
}
