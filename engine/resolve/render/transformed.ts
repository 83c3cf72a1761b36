/** Calls a mapping's transform with the rendered action, and makes drafts of its answer. */

import { plainText, type Segment } from '../../boundary/segment.ts'
import { type FieldName, fieldNames } from '../../config/values/fields.ts'
import { nearestName } from '../../config/values/nearest.ts'
import { typeName } from '../../config/values/type-name.ts'
import type { AnsweredAction, AnsweredField, TransformCall, TransformError } from '../../transform/port.ts'
import type { Draft } from '../admit/draft.ts'
import type { Reply } from '../model/decision.ts'
import { type Meter, spend } from '../model/output.ts'
import type { Program } from '../model/program.ts'
import { badAnswer } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { Change, ChangedName } from '../model/trace.ts'
import { keyAt } from './keys.ts'

/** The actions to admit, or the reason why there are none. */
export interface Transformed {
  readonly drafts: readonly { readonly draft: Draft; readonly change: Change }[]
  readonly skipped?: string
  readonly reply?: Reply
}

type Transform = NonNullable<Program['transform']>

/** Bytes by which an answer may exceed the rendered size of its texts: names, quotes, escapes. */
const answerAllowance = 65_536

/** The limit for a reply, in bytes. */
const maxReplyBytes = 65_536

/** A list from a payload may be very long, and each target is a delivery or a line of an error. */
const maxTargets = 100

/** Rejects with a TransformError, or with a RefusalError if the answer renders to too much. */
export async function transformDraft(
  { module, call }: Transform,
  draft: Draft,
  scope: Scope,
  meter: Meter,
): Promise<Transformed> {
  const answer = await call(callOf(draft, scope, meter))
  const answered = answer.kind === 'one' ? [answer.action] : answer.actions
  const nameOf = (index: number) => (answer.kind === 'one' ? module : `${module}: element ${index}`)
  let reply: Reply | undefined
  const kept = answered.flatMap((whole, index) => {
    const { reply: own, ...rest } = whole ?? {}
    if (own !== undefined) reply = oneReply(reply, replyOf(own, nameOf(index)), nameOf(index))
    const action = whole ? rest : whole
    return action === null || isNone(action) ? [] : [{ action, index }]
  })
  const answering = reply && { reply }
  if (kept.length === 0) return { drafts: [], skipped: reasonOf(answer.kind, answered), ...answering }
  return {
    ...answering,
    drafts: kept.map(({ action, index }) => {
      const name = nameOf(index)
      const change = changeOf(action, name)
      for (const [, value, segments] of change) spend(meter, bytesOf(value, segments))
      const changed = applyChange(draft, change, { module, name })
      return { draft: apartFrom(changed, answer.kind === 'one' ? 0 : index), change }
    }),
  }
}

/**
 * Keeps the actions of one answer apart, because otherwise all but one might be coalesced or count as repetitions: each
 * gets its position added to its keys, and so meets only actions of the same position in other answers.
 */
function apartFrom(draft: Draft, index: number): Draft {
  const { coalesce, dedupe } = draft
  if (index === 0 || (coalesce === undefined && dedupe === undefined)) return draft
  return {
    ...draft,
    coalesce: coalesce && { ...coalesce, key: keyAt(coalesce.key, index) },
    dedupe: dedupe && { ...dedupe, key: keyAt(dedupe.key, index) },
  }
}

/** True if the answer is `action: null`. */
function isNone(action: AnsweredAction): boolean {
  const field = action?.['action']
  return field !== undefined && 'value' in field && field.value === null
}

function replyOf(answered: AnsweredField, by: string): Reply | undefined {
  if ('prompt' in answered) throw badAnswer(by, '`reply` must be JSON or a text, not a prompt')
  const { value } = answered
  if (value === null) return undefined
  if (typeof value !== 'string' && typeof value !== 'object')
    throw badAnswer(by, `\`reply\` must be an object, a list or a text, not ${typeName(value)}`)
  const body = typeof value === 'string' ? value : JSON.stringify(value)
  const bytes = Buffer.byteLength(body)
  if (bytes > maxReplyBytes)
    throw badAnswer(by, `\`reply\` has ${bytes} bytes, where ${maxReplyBytes} are the most`)
  if (typeof value !== 'string') return { contentType: 'application/json; charset=utf-8', body }
  const type = value.startsWith('<?xml') ? 'application/xml' : 'text/plain'
  return { contentType: `${type}; charset=utf-8`, body }
}

/** A request has one reply. Several elements may return the same one. */
export function oneReply(known: Reply | undefined, reply: Reply | undefined, by: string): Reply | undefined {
  if (known && reply && known.body !== reply.body)
    throw badAnswer(
      by,
      '`reply` is another one than that of an earlier element, and a request has one answer',
    )
  return known ?? reply
}

function reasonOf(kind: 'one' | 'list', answered: readonly AnsweredAction[]): string {
  if (answered.some(isNone)) return 'transform made no action'
  if (kind === 'one') return 'transform returned null'
  return answered.length === 0 ? 'transform returned an empty list' : 'transform returned nothing but nulls'
}

function callOf(draft: Draft, { request, params, vars, item, index }: Scope, meter: Meter): TransformCall {
  const { headers, query, endpoint, now, rawBody, unwrapped, isForm, id, payload } = request
  const { onCall, onStop, dryRun } = request
  return {
    requestId: id,
    onCall,
    onStop,
    dryRun,
    rawBody,
    unwrapped,
    form: isForm === true ? payload : undefined,
    headers,
    query,
    path: endpoint,
    params,
    vars: vars ?? {},
    item,
    index,
    now,
    base: { action: draft.kind, ...draft.fields, ...(draft.deliverTo && { deliverTo: draft.deliverTo }) },
    maxAnswerBytes: meter.left + answerAllowance,
  }
}

function changeOf(action: Exclude<AnsweredAction, null>, name: string): Change {
  return Object.entries(action ?? {}).map(([field, answered]) => {
    const changed = changedNames.find((known) => known === field)
    if (changed === undefined) throw unknownField(field, name)
    const segments = 'prompt' in answered ? answered.prompt : undefined
    const value = 'prompt' in answered ? plainText(answered.prompt) : (answered.value ?? undefined)
    if (changed === 'action' && value !== undefined && value !== 'wake' && value !== 'agent')
      throw badAnswer(name, '`action` must be "wake" or "agent"')
    if (changed === 'deliverTo' && value !== undefined) checkTargets(value, name)
    return [changed, value, segments]
  })
}

const changedNames: readonly ChangedName[] = [...fieldNames, 'deliverTo', 'action']

/** Admission checks the values. With a misspelt `to`, the reply would go to the channel's default address. */
function checkTargets(targets: unknown, name: string): void {
  if (!Array.isArray(targets))
    throw badAnswer(name, `\`deliverTo\` must be a list of {channel, to}, not ${typeName(targets)}`)
  if (targets.length > maxTargets)
    throw badAnswer(name, `\`deliverTo\` has ${targets.length} targets, where ${maxTargets} are the most`)
  for (const [index, target] of targets.entries()) {
    const keys = typeof target === 'object' && target !== null ? Object.keys(target) : []
    const strange = keys.find((key) => key !== 'channel' && key !== 'to')
    if (strange === undefined && typeof target?.channel === 'string') continue
    if (strange === undefined)
      throw badAnswer(name, `\`deliverTo[${index}]\` must be {channel, to}, with a string as \`channel\``)
    const nearest = nearestName(strange, ['channel', 'to'])
    const hint = nearest === undefined ? '; it takes `channel` and `to`' : `; did you mean \`${nearest}\`?`
    throw badAnswer(name, `\`deliverTo[${index}].${shownName(strange)}\` is no key of a target${hint}`)
  }
}

function unknownField(field: string, name: string): TransformError {
  const nearest = nearestName(field, [...changedNames, 'reply'])
  const hint = notFields[field] ?? (nearest === undefined ? '' : `; did you mean \`${nearest}\`?`)
  return badAnswer(name, `\`${shownName(field)}\` is no field of an action${hint}`)
}

function shownName(key: string): string {
  return key.length > 40 ? `${key.slice(0, 40)}…` : key
}

const refusing = '; `throw refuse(status, message)` answers the sender with a status'

/**
 * Fields that authors write by mistake: keys of the mapping, and the names that other tools use for a reply to the
 * sender.
 */
const notFields: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  status: refusing,
  statusCode: refusing,
  body: '; what the sender reads is `reply`',
  runner: '; a runner is set in the mapping',
  busy: '; it is set in the mapping',
  coalesce: '; it is set in the mapping',
  dedupe: '; it is set in the mapping',
})

function bytesOf(value: unknown, segments: readonly Segment[] | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + (segments?.length ?? 0)
  return value === undefined || typeof value !== 'object' ? 0 : Buffer.byteLength(JSON.stringify(value))
}

/** Returns the draft with the change applied. Undefined keeps the draft. */
function applyChange(draft: Draft, change: Change, by: { module: string; name: string }): Draft {
  if (change.length === 0) return draft
  const changedFields = new Map<ChangedName, unknown>(change.map(([field, value]) => [field, value]))
  const kind = (changedFields.get('action') as Draft['kind'] | undefined) ?? draft.kind
  const fields: Partial<Record<FieldName, unknown>> = { ...draft.fields }
  const [own, other] = kind === 'wake' ? (['text', 'message'] as const) : (['message', 'text'] as const)
  // An action of another kind keeps the text, unless it gets a new one.
  if (kind !== draft.kind) fields[own] = draft.fields[other]
  for (const [field, value] of change) if (field !== 'action' && field !== 'deliverTo') fields[field] = value
  // An address belongs to its channel, so a new channel drops it.
  if (changedFields.has('channel') && !changedFields.has('to')) fields.to = undefined
  const content = draft.fields[draft.kind === 'wake' ? 'text' : 'message']
  // A text of `base` that is returned unchanged keeps the operator's literals.
  const rewritten = change.find(
    ([field, value, segments]) => field === own && (segments !== undefined || value !== content),
  )
  return {
    ...draft,
    kind,
    fields,
    deliverTo: targetsOf(draft, changedFields),
    segments: rewritten === undefined ? draft.segments : rewritten[2],
    label: rewritten === undefined ? draft.label : `A text made by the transform "${by.module}"`,
    changed: {
      by: by.name,
      fields: new Set([...changedFields.keys(), ...(changedFields.has('action') ? [own] : [])]),
    },
  }
}

function targetsOf(draft: Draft, given: ReadonlyMap<ChangedName, unknown>): Draft['deliverTo'] {
  if (given.has('deliverTo')) return given.get('deliverTo') as Draft['deliverTo']
  return given.has('channel') || given.has('to') ? undefined : draft.deliverTo
}
