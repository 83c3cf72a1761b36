/** Admits a draft: makes it a frozen action with all defaults, or throws a refusal that names each invalid field. */

import { applyBoundary } from '../../boundary/apply-boundary.ts'
import { fence } from '../../boundary/fence.ts'
import type { FieldName } from '../../config/values/fields.ts'
import { type Path, writePath } from '../../config/values/path.ts'
import type { Action, AgentAction, Dedupe, FieldError, WakeMode } from '../model/decision.ts'
import type { EffectivePolicy } from '../model/effective-policy.ts'
import { type Meter, spendName } from '../model/output.ts'
import { badAnswer, pointerTo, type RefusalCode, RefusalError, refusalAt } from '../model/refusal.ts'
import type { Draft } from './draft.ts'
import { boundedKey } from './idempotency-key.ts'
import {
  type Checked,
  checkChannel,
  checkContent,
  checkDeliver,
  checkMode,
  checkModel,
  checkRequestKey,
  checkSessionKey,
  checkText,
  checkThinking,
  checkTimeout,
  isBlank,
  isProblem,
  type Rules,
} from './rules.ts'

/** The randomness that admission needs. */
export interface Randomness {
  /** Returns a fresh UUID, for the session key of a run without one. */
  readonly mint: () => string
  /** Returns a fresh, unguessable id for a fence. */
  readonly randomId: () => string
}

/** The settings that an action is checked against and completed with. */
export interface Admission {
  readonly rules: Rules
  /** The policy of the request's endpoint. */
  readonly endpointPolicy: EffectivePolicy | undefined
  readonly randomness: Randomness
}

/**
 * `meter` is the one that the draft was rendered with, if it was rendered.
 * @throws RefusalError with one detail for each invalid field, and the code of the first. TransformError if a transform
 * gave one of those fields.
 */
export function admit(draft: Draft, admission: Admission, meter?: Meter): Action {
  const findings = createFindings(draft)
  const action = draft.kind === 'wake' ? admitWake(draft, findings) : admitAgent(draft, admission, findings)
  findings.settle()
  const prompt = promptOf(draft, contentOf(action), admission.randomness, meter)
  return Object.freeze({ ...action, prompt })
}

function admitWake(draft: Draft, findings: Findings): Action {
  return {
    kind: 'wake',
    text: findings.take('text', checkContent) ?? '',
    prompt: '',
    mode: admitMode(findings, 'mode', 'wakeMode'),
    trusted: draft.trusted,
    mapping: draft.mapping,
    ...(draft.dedupe && { dedupe: admitDedupe(draft.dedupe) }),
  }
}

function admitDedupe(dedupe: Dedupe): Dedupe {
  return Object.freeze({ ...dedupe, key: boundedKey(dedupe.key) })
}

function admitAgent(
  draft: Draft,
  { rules, endpointPolicy, randomness }: Admission,
  findings: Findings,
): Action {
  const message = findings.take('message', checkContent) ?? ''
  const delivers = findings.optional('deliver', checkDeliver) ?? true
  const targets = admitTargets(draft.deliverTo, delivers, rules, findings)
  const deliver = delivers && targets?.length !== 0
  const [first] = targets ?? []
  const checkKey = draft.mapping === undefined ? checkRequestKey : checkSessionKey
  const sessionKey =
    findings.optional('sessionKey', (value) => checkKey(value, rules)) ?? rules.defaultSessionKey
  const action: AgentAction = {
    kind: 'agent',
    message,
    prompt: '',
    trusted: draft.trusted,
    mapping: draft.mapping,
    name: findings.optional('name', checkText),
    sessionKey: sessionKey ?? `hook:${randomness.mint()}`,
    sessionKeyGiven: sessionKey !== undefined,
    wakeMode: admitMode(findings, 'wakeMode', 'mode'),
    deliver,
    channel:
      first?.channel ??
      findings.optional('channel', (value) => checkChannel(value, deliver, rules)) ??
      'last',
    to: first === undefined ? findings.optional('to', checkText) : first.to,
    ...(first !== undefined && { deliverTo: targets }),
    runner: draft.runner ?? rules.defaults.runner,
    model: findings.optional('model', (value) => checkModel(value, rules)) ?? rules.defaults.model,
    thinking: findings.optional('thinking', checkThinking) ?? rules.defaults.thinking,
    timeoutSeconds:
      findings.optional('timeoutSeconds', checkTimeout) ??
      endpointPolicy?.timeoutSeconds?.value ??
      rules.defaults.timeoutSeconds,
  }
  return arranged(action, draft, endpointPolicy)
}

/** Returns what the mapping and the endpoint set for the run. For most runs that is nothing. */
function arranged(
  action: AgentAction,
  { busy, coalesce, dedupe }: Draft,
  endpointPolicy: EffectivePolicy | undefined,
): AgentAction {
  const pool = endpointPolicy?.concurrency?.policy
  const budget = endpointPolicy?.budget?.policy
  if ((busy ?? coalesce ?? dedupe ?? pool ?? budget) === undefined) return action
  return {
    ...action,
    ...(busy && { busy }),
    ...(coalesce && { coalesce: Object.freeze({ ...coalesce, key: boundedKey(coalesce.key) }) }),
    ...(dedupe && { dedupe: admitDedupe(dedupe) }),
    ...(pool !== undefined && { pool }),
    ...(budget !== undefined && { budget }),
  }
}

/** Lists each target once. A target with a blank channel is left out, and without any target nothing is delivered. */
function admitTargets(
  asked: Draft['deliverTo'],
  deliver: boolean,
  rules: Rules,
  findings: Findings,
): AgentAction['deliverTo'] {
  if (asked === undefined) return undefined
  const targets = new Map<string, Readonly<{ channel: string; to?: string }>>()
  for (const [index, { channel, to }] of asked.entries()) {
    if (isBlank(channel)) continue
    const path = ['deliverTo', index]
    const known = findings.check([...path, 'channel'], channel, (value) =>
      checkChannel(value, deliver, rules),
    )
    const address = isBlank(to) ? undefined : findings.check([...path, 'to'], to, checkText)
    if (known === undefined) continue
    const target = Object.freeze({ channel: known, ...(address !== undefined && { to: address }) })
    targets.set(JSON.stringify([known, address]), target)
  }
  return Object.freeze([...targets.values()])
}

/** Reads the mode by either of its names. If both are given, the action's own name takes precedence. */
function admitMode(findings: Findings, own: FieldName, other: FieldName): WakeMode {
  const first = findings.optional(own, checkMode)
  const second = findings.optional(other, checkMode)
  return first ?? second ?? 'now'
}

function contentOf(action: Action): string {
  return action.kind === 'wake' ? action.text : action.message
}

function promptOf(draft: Draft, content: string, { randomId }: Randomness, meter?: Meter): string {
  if (draft.trusted) return content
  if (draft.segments === undefined) return fence(content, { label: draft.label, randomId })
  const onName = meter && ((characters: number) => spendName(meter, characters))
  try {
    return applyBoundary(draft.segments, { randomId, onName })
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error
    throw refusalAt([draft.kind === 'wake' ? 'text' : 'message'], error.code, error.message)
  }
}

interface Findings {
  check<Value>(path: Path, value: unknown, check: (value: unknown) => Checked<Value>): Value | undefined
  take<Value>(name: FieldName, check: (value: unknown) => Checked<Value>): Value | undefined
  /** A field that is absent or null is not checked. */
  optional<Value>(name: FieldName, check: (value: unknown) => Checked<Value>): Value | undefined
  /** @throws RefusalError if a check failed */
  settle(): void
}

function createFindings(draft: Draft): Findings {
  const details: FieldError[] = []
  const sentences: string[] = []
  let code: RefusalCode | undefined

  const check: Findings['check'] = (path, value, rule) => {
    const checked = rule(value)
    if (!isProblem(checked)) return checked.value
    code ??= checked.code
    details.push({ pointer: pointerTo(path), message: checked.message })
    sentences.push(`${writePath(path)} ${checked.message}`)
    return undefined
  }
  const take: Findings['take'] = (name, rule) => check([name], draft.fields[name], rule)

  return {
    check,
    take,
    optional: (name, rule) => {
      const value = draft.fields[name]
      return value === undefined || value === null ? undefined : take(name, rule)
    },
    settle: () => {
      if (code === undefined) return
      if (draft.changed && isAtFault(draft.changed.fields, details))
        throw badAnswer(draft.changed.by, sentences.join('; '))
      throw new RefusalError(code, sentences.join('; '), details)
    },
  }
}

function isAtFault(changed: ReadonlySet<string>, details: readonly FieldError[]): boolean {
  return details.some(({ pointer }) => changed.has(pointer.split('/')[1] ?? ''))
}
