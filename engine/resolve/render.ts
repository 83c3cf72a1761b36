/** Owns rendering: a mapping's fields, for one action, become a draft. */

import { isLiteral, plainText, type Segment } from '../boundary/segment.ts'
import type { FieldName } from '../config/fields.ts'
import { type Path, writePath } from '../config/path.ts'
import { renderCoalesce } from './coalesce.ts'
import { renderDedupe } from './dedupe.ts'
import type { Draft } from './draft.ts'
import type { EffectivePolicy } from './effective-policy.ts'
import { evaluateAt, locateError, refusalAt } from './evaluate.ts'
import { fromResult, fromText } from './field-value.ts'
import type { Rendering } from './key.ts'
import { AbsentValueError, createOutput, InexactNumberError, type Meter, type Strictness } from './output.ts'
import { atPace } from './pace.ts'
import type { Field, Program } from './program.ts'
import type { Recorder } from './recorder.ts'
import { type Scope, withExactNumbers } from './scope.ts'
import { whenReady } from './when-ready.ts'

type Fields = Partial<Record<FieldName, unknown>>

/**
 * A promise only where an expression had to be waited for, or a long body is parsed again.
 * @throws RefusalError, or rejects with it
 */
export function renderDraft(
  program: Program,
  scope: Scope,
  meter: Meter,
  endpointPolicy: EffectivePolicy | undefined,
  recorder?: Recorder,
): Draft | Promise<Draft> {
  const exactly = () =>
    whenReady(withExactNumbers(scope), (exact) =>
      renderFields({ program, scope: exact, meter, endpointPolicy, recorder }),
    )
  // An earlier action of the request met a large integer.
  if (scope.memory.exact !== undefined) return exactly()
  const { left, work } = meter
  const again = (error: unknown) => {
    if (!(error instanceof InexactNumberError)) throw error
    meter.left = left
    meter.work = work
    return atPace(scope.request, exactly)
  }
  try {
    const draft = renderFields({ program, scope, meter, endpointPolicy, recorder })
    return draft instanceof Promise ? draft.catch(again) : draft
  } catch (error) {
    return again(error)
  }
}

/** Templates first: what they cost is known before anything is evaluated. */
function renderFields(rendering: Rendering): Draft | Promise<Draft> {
  const { program, recorder } = rendering
  const fields: Fields = {}
  const contentName: FieldName = program.action === 'wake' ? 'text' : 'message'
  let content: readonly Segment[] | undefined

  const rendered = inOrder(program.fields, ({ name, field }) => {
    if (field.kind === 'expression') return undefined
    return whenReady(renderField([name], field, rendering), (segments) => {
      if (name === contentName) content = segments
      fields[name] = field.kind === 'literal' ? field.value : fromText(name, plainText(segments))
      recorder?.onField(name, field.kind, fields[name], segments)
    })
  })
  const evaluated = whenReady(rendered, () => {
    if (program.runner !== undefined) recorder?.onField('runner', 'literal', program.runner)
    return whenReady(renderTargets(rendering), (targets) =>
      whenReady(evaluateFields(fields, rendering), () =>
        targets === undefined || !hasExpressions(program) ? targets : evaluateTargets(targets, rendering),
      ),
    )
  })
  return whenReady(evaluated, (deliverTo) => {
    const draft: Draft = {
      kind: program.action,
      fields: withoutBlanks(fields, contentName),
      deliverTo,
      segments: content,
      label: `A text made by the mapping "${program.id}"`,
      trusted: program.trusted,
      mapping: program.id,
      runner: program.runner,
      busy: program.busy,
    }
    if (program.busy !== undefined) recorder?.onField('busy', 'literal', program.busy)
    return withKeys(draft, rendering)
  })
}

/** For most there is nothing to add. */
function withKeys(draft: Draft, rendering: Rendering): Draft | Promise<Draft> {
  const { program } = rendering
  const coalesced = program.coalesce && renderCoalesce(program.coalesce, rendering)
  return whenReady(coalesced, (coalesce) => {
    const joining = coalesce === undefined ? draft : { ...draft, coalesce }
    const deduped = program.dedupe && renderDedupe(program.dedupe, rendering)
    return whenReady(deduped, (dedupe) => (dedupe === undefined ? joining : { ...joining, dedupe }))
  })
}

/** One after another; no promise is made where none has to be waited for. */
function inOrder<Item>(
  items: readonly Item[],
  step: (item: Item, index: number) => void | Promise<void>,
  start = 0,
): void | Promise<void> {
  for (const [index, item] of items.slice(start).entries()) {
    const wait = step(item, start + index)
    if (wait !== undefined) return wait.then(() => inOrder(items, step, start + index + 1))
  }
}

type Rendered = Exclude<Field, { kind: 'expression' }>

function renderField(
  path: Path,
  field: Rendered,
  rendering: Rendering,
): readonly Segment[] | Promise<readonly Segment[]> {
  if (field.kind === 'literal') return [{ literal: String(field.value) }]
  const { program, scope, meter } = rendering
  const strict = path[0] === 'sessionKey' ? 'blank' : program.strict ? 'absent' : false
  const output = createOutput(meter, { exact: scope.exact, strict })
  const refuse = (error: unknown): never => {
    throw locate(error, path, strict)
  }
  const rendered = () => {
    if (strict === 'blank') refuseBarePrefix(output.segments, path)
    return output.segments
  }
  try {
    const wait = field.render(scope, output)
    if (wait !== undefined) return wait.then(rendered, refuse)
  } catch (error) {
    refuse(error)
  }
  return rendered()
}

/** Where a condition or a loop around its values leaves them all out, strangers would come to share a session as well. */
function refuseBarePrefix(segments: readonly Segment[], path: Path): void {
  if (!segments.every(isLiteral) || !plainText(segments).trim().endsWith(':')) return
  throw refusalAt(
    path,
    'SESSION_KEY_NOT_ALLOWED',
    'must not end where its values begin: all of them are absent',
  )
}

/** A session key takes no absent value: strangers would come to share one session. */
function locate(error: unknown, path: Path, strict: Strictness): unknown {
  if (strict !== 'blank' || !(error instanceof AbsentValueError)) return locateError(error, path)
  return refusalAt(path, 'SESSION_KEY_NOT_ALLOWED', `needs ${error.path}, which is absent or blank`)
}

type Target = { channel: unknown; to: unknown }

/** Those that are expressions are left open. */
function renderTargets(rendering: Rendering): Targets | undefined | Promise<Targets> {
  const { deliverTo } = rendering.program
  if (deliverTo === undefined) return undefined
  const targets: Target[] = []
  const rendered = inOrder(deliverTo, ({ channel, to }, index) =>
    whenReady(renderTarget(['deliverTo', index, 'channel'], channel, rendering), (first) =>
      whenReady(renderTarget(['deliverTo', index, 'to'], to, rendering), (second) => {
        targets.push({ channel: first, to: second })
      }),
    ),
  )
  return whenReady(rendered, () => targets)
}

function renderTarget(
  path: Path,
  field: Field | undefined,
  rendering: Rendering,
): string | undefined | Promise<string> {
  if (field === undefined || field.kind === 'expression') return undefined
  return whenReady(renderField(path, field, rendering), (segments) => {
    const text = plainText(segments)
    rendering.recorder?.onField(writePath(path), field.kind, text, segments)
    return text
  })
}

function hasExpressions({ deliverTo }: Program): boolean {
  return (
    deliverTo?.some(({ channel, to }) => channel.kind === 'expression' || to?.kind === 'expression') ?? false
  )
}

async function evaluateTargets(targets: Targets, rendering: Rendering): Promise<Targets> {
  const result: Target[] = []
  for (const [index, target] of targets.entries()) {
    const fields = rendering.program.deliverTo?.[index]
    const channel = await evaluateTarget(
      ['deliverTo', index, 'channel'],
      fields?.channel,
      target.channel,
      rendering,
    )
    const to = await evaluateTarget(['deliverTo', index, 'to'], fields?.to, target.to, rendering)
    result.push({ channel, to })
  }
  return result
}

type Targets = NonNullable<Draft['deliverTo']>

async function evaluateTarget(
  path: Path,
  field: Field | undefined,
  rendered: unknown,
  { scope, meter, recorder }: Rendering,
): Promise<unknown> {
  if (field?.kind !== 'expression') return rendered
  const value = await fromResult('to', await evaluateAt(path, field.evaluate, scope), meter)
  recorder?.onField(writePath(path), 'expression', value)
  return value
}

function evaluateFields(fields: Fields, rendering: Rendering): void | Promise<void> {
  const { program, scope, meter, recorder } = rendering
  return inOrder(program.fields, ({ name, field }) => {
    if (field.kind !== 'expression') return undefined
    return whenReady(evaluateAt([name], field.evaluate, scope), (result) =>
      whenReady(fromResult(name, result, meter), (value) => {
        fields[name] = value
        recorder?.onField(name, 'expression', value)
      }),
    )
  })
}

/** Blank counts as absent, except where a text is required: admission then refuses it by name. */
function withoutBlanks(fields: Fields, contentName: FieldName): Fields {
  for (const name of Object.keys(fields) as FieldName[]) {
    const value = fields[name]
    if (name !== contentName && typeof value === 'string' && value.trim() === '') fields[name] = undefined
  }
  return fields
}
