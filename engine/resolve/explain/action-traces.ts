/** Records where every field of an action comes from. */

import { applyBoundary } from '../../boundary/apply-boundary.ts'
import { isLiteral, plainText, type Segment } from '../../boundary/segment.ts'
import { isBlank } from '../admit/rules.ts'
import type { Action } from '../model/decision.ts'
import { type EffectivePolicy, placeOfPolicyValue } from '../model/effective-policy.ts'
import type { TraceRecorder } from '../model/recorder.ts'
import type { ActionTrace, FieldTrace, SourceTrace } from '../model/trace.ts'
import type { Redactor } from './redact.ts'

const maxSources = 50
/** Of the pieces of a text. Characters. */
const maxContentLength = 16_384

const fieldsOfAction = {
  wake: ['text', 'mode', 'dedupe.key'],
  agent: [
    ...['message', 'name', 'sessionKey', 'wakeMode', 'deliver', 'channel', 'to'],
    ...['runner', 'model', 'thinking', 'timeoutSeconds', 'busy', 'coalesce.key', 'dedupe.key'],
    ...['pool', 'budget'],
  ],
} as const

const otherName: Readonly<Record<string, string>> = { mode: 'wakeMode', wakeMode: 'mode' }
/** The fields whose default comes from the settings. */
const defaulted: ReadonlySet<string> = new Set(['runner', 'model', 'thinking', 'timeoutSeconds'])

/** Maps the fields that a policy can fill in to the policy's key. */
const policyKeyOf: Readonly<Record<string, keyof EffectivePolicy>> = {
  timeoutSeconds: 'timeoutSeconds',
  pool: 'concurrency',
  budget: 'budget',
  'dedupe.key': 'verify',
}

/** The sentences about a key that gave nothing. */
const withoutKey = [
  ['coalesce.key', 'nothing, so the request is not coalesced'],
  ['dedupe.key', 'nothing, so every request counts'],
] as const

interface Recorded {
  readonly trace: FieldTrace
  readonly value: unknown
  readonly segments: readonly Segment[] | undefined
}

interface Recording {
  readonly mapping: string
  readonly index: number | undefined
  readonly vars: SourceTrace[]
  readonly fields: Map<string, Recorded>
  action: Action | undefined
  endpointPolicy: EffectivePolicy | undefined
}

/** `recorder` collects what is rendered, and `traces` returns it. */
export function createActionTraces(redactor: Redactor): {
  readonly recorder: TraceRecorder
  readonly traces: () => ActionTrace[]
} {
  const recordings: Recording[] = []
  /** The recording from before a transform changed the action. */
  let rendered: Recording | undefined
  const recorder: TraceRecorder = {
    onAction: (mapping, index) =>
      recordings.push({
        mapping,
        index,
        vars: [],
        fields: new Map(),
        action: undefined,
        endpointPolicy: undefined,
      }),
    onVar: (name, value) => {
      const path = `vars.${name}`
      recordings.at(-1)?.vars.push({ path: name, value: redactor.value(value, path) })
    },
    onField: (field, from, value, segments) => {
      const shown = segments === undefined ? redactor.plain(value) : redactor.text(segments)
      const trace = { field, value: shown, from, sources: sourcesOf(segments ?? [], redactor) }
      recordings.at(-1)?.fields.set(field, { trace, value, segments })
    },
    onTransformed: (position, change) => {
      const last = recordings.at(-1)
      if (position === 0) rendered = last && { ...last, fields: new Map(last.fields) }
      else if (rendered) recordings.push({ ...rendered, fields: new Map(rendered.fields) })
      for (const [field, value, segments] of change) {
        if (field === 'action') continue
        if (field === 'deliverTo') onTargets(value)
        else recorder.onField(field, 'transform', value, segments)
      }
    },
    onSkipped: () => recordings.pop(),
    onAdmitted: (action, endpointPolicy) => {
      const recording = recordings.at(-1)
      if (recording === undefined) return
      recording.action = action
      recording.endpointPolicy = endpointPolicy
    },
  }
  function onTargets(value: unknown): void {
    for (const [index, target] of Array.isArray(value) ? value.entries() : []) {
      recorder.onField(`deliverTo[${index}].channel`, 'transform', target.channel)
      recorder.onField(`deliverTo[${index}].to`, 'transform', target.to)
    }
  }

  return { recorder, traces: () => recordings.map((recording) => traceOf(recording, redactor)) }
}

function traceOf(recording: Recording, redactor: Redactor): ActionTrace {
  const { mapping, index, vars, fields, action } = recording
  const values = action === undefined ? [] : valuesOf(action)
  const shown =
    action === undefined
      ? [...fields.values()].map(({ trace }) => trace)
      : [
          ...values.map(([field, value]) => fieldTrace(field, value, recording, redactor)),
          ...withoutKeys(values, fields),
        ]
  const content = contentOf(recording, redactor)
  return {
    mapping,
    ...(index !== undefined && { index }),
    vars,
    fields: shown,
    ...(content && { segments: shorten(content.shown) }),
    ...(content && action && { prompt: promptOf(action, content) }),
  }
}

/** The pieces of a text, and the same without secrets. */
interface Content {
  readonly whole: readonly Segment[]
  readonly shown: readonly Segment[]
}

/** A text whose pieces are not known is one from outside, as it is for the boundary. */
function contentOf({ fields, action }: Recording, redactor: Redactor): Content | undefined {
  const [own, other] = action?.kind === 'wake' ? ['text', 'message'] : ['message', 'text']
  const name = [own, other].find((each) => each !== undefined && fields.has(each))
  const recorded = name === undefined ? undefined : fields.get(name)
  if (name === undefined || recorded === undefined || isBlank(recorded.value)) return undefined
  const whole = recorded.segments ?? [{ value: String(recorded.value), path: name }]
  const shown = whole.map((segment) =>
    isLiteral(segment)
      ? segment
      : { value: redactor.whole(segment.value, segment.path), path: redactor.plain(segment.path) },
  )
  return { whole, shown }
}

/** A secret may be in a prompt in pieces that are not recognised together, so the prompt is made of the shown pieces then. */
function promptOf(action: Action, { whole, shown }: Content): string {
  const isOpen = shown.every((segment, index) => {
    const from = whole[index]
    return isLiteral(segment) || from === undefined || isLiteral(from) || segment.value === from.value
  })
  if (isOpen) return action.prompt
  return action.trusted ? plainText(shown) : applyBoundary(shown, { randomId: () => '00000000' })
}

function shorten(segments: readonly Segment[]): readonly Segment[] {
  const shortened: Segment[] = []
  let left = maxContentLength
  for (const segment of segments) {
    if (left <= 0) break
    const text = isLiteral(segment) ? segment.literal : segment.value
    const cut = text.length > left ? `${text.slice(0, left).toWellFormed()}…` : text
    left -= text.length
    shortened.push(isLiteral(segment) ? { literal: cut } : { value: cut, path: segment.path })
  }
  return shortened
}

/** Lists the keys that the mapping has and that gave nothing for this request. */
function withoutKeys(values: ReturnType<typeof valuesOf>, fields: Recording['fields']): FieldTrace[] {
  return withoutKey.flatMap(([name, value]) => {
    const key = fields.get(name)
    if (key === undefined || !isBlank(key.value) || values.some(([given]) => given === name)) return []
    return [{ ...key.trace, value }]
  })
}

function fieldTrace(
  field: string,
  value: unknown,
  { fields, endpointPolicy, action }: Recording,
  redactor: Redactor,
): FieldTrace {
  const recorded = [field, otherName[field] ?? field]
    .flatMap((name) => fields.get(name) ?? [])
    .find(({ value }) => !isBlank(value))
  // The action's text may differ from the rendered one: an alias became a model, or spaces around a key were removed.
  if (recorded !== undefined) {
    const { trace } = recorded
    return { ...trace, field, value: recorded.value === value ? trace.value : redactor.plain(value) }
  }
  const shown = redactor.plain(value)
  // Neither the sender nor the mapping chose the key, and it is not generated, so it is the configured default.
  const isDefaultKey = field === 'sessionKey' && action?.kind === 'agent' && action.sessionKeyGiven
  const path = isDefaultKey ? 'hooks.defaultSessionKey' : placeOfDefault(field, endpointPolicy)
  const sources = path === undefined ? [] : [{ path, value: redactor.value(value, path) }]
  return { field, value: shown, from: 'default', sources }
}

function placeOfDefault(field: string, endpointPolicy: EffectivePolicy = {}): string | undefined {
  const key = policyKeyOf[field]
  const policyValue = key && endpointPolicy[key]
  if (key !== undefined && policyValue !== undefined) return placeOfPolicyValue(key, policyValue)
  return defaulted.has(field) ? `agents.defaults.${field}` : undefined
}

function valuesOf(action: Action): (readonly [string, unknown])[] {
  const isAgent = action.kind === 'agent'
  const values: Readonly<Record<string, unknown>> = {
    ...action,
    'coalesce.key': isAgent ? action.coalesce?.key : undefined,
    'dedupe.key': action.dedupe?.key,
  }
  const targets = (isAgent && action.deliverTo) || []
  return fieldsOfAction[action.kind]
    .flatMap((name): (readonly [string, unknown])[] => {
      if (name === 'to' && targets.length > 0) return []
      if (name !== 'channel' || targets.length === 0) return [[name, values[name]]]
      return targets.flatMap(({ channel, to }, index) => [
        [`deliverTo[${index}].channel`, channel] as const,
        [`deliverTo[${index}].to`, to] as const,
      ])
    })
    .filter(([, value]) => value !== undefined)
}

function sourcesOf(segments: readonly Segment[], redactor: Redactor): SourceTrace[] {
  const sources = new Map<string, SourceTrace>()
  for (const segment of segments) {
    if (sources.size === maxSources) break
    if (isLiteral(segment) || sources.has(segment.path)) continue
    // A loop over an object puts its keys into the path.
    sources.set(segment.path, {
      path: redactor.plain(segment.path),
      value: redactor.value(segment.value, segment.path),
    })
  }
  return [...sources.values()]
}
