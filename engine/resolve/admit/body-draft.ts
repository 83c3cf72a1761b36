/** Reads the bodies of the built-in endpoints `/wake` and `/agent` as drafts, and reports fields that have no effect. */

import { type FieldName, fieldsOf } from '../../config/values/fields.ts'
import { nearestName } from '../../config/values/nearest.ts'
import type { FieldError, HookRequest } from '../model/decision.ts'
import { pointerTo, RefusalError } from '../model/refusal.ts'
import type { Draft } from './draft.ts'
import { dayMs, givenDedupe, keyInBody, keyInHeaders } from './idempotency-key.ts'
import { checkAgentId, isBlank, isProblem, type Rules } from './rules.ts'

type Body = Readonly<Record<string, unknown>>
type Kind = 'wake' | 'agent'

export interface BodyDraft {
  readonly draft: Draft
  /** Fields of the body that have no effect: five at most, with shortened and printable names. */
  readonly warnings: readonly FieldError[]
}

/** @throws RefusalError `INVALID_BODY`, or `INVALID_FIELD` for an idempotency key or an agent that is not allowed */
export function parseBodyDraft(
  kind: Kind,
  { payload, headers }: Pick<HookRequest, 'payload' | 'headers'>,
  rules: Rules,
): BodyDraft {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    throw new RefusalError('INVALID_BODY', 'the body must be a JSON object', [
      { pointer: '', message: 'must be a JSON object' },
    ])
  }
  const body = payload as Body
  refuseAgent(body, rules)
  const fields: Partial<Record<FieldName, unknown>> = {}
  for (const name of fieldsOf[kind]) if (Object.hasOwn(body, name)) fields[name] = trimmed(name, body[name])
  const label = kind === 'wake' ? 'A text sent to /wake' : 'A message sent to /agent'
  const draft = { kind, fields, label, trusted: false }
  const key = keyInHeaders(headers)?.key ?? keyInBody(body)
  return {
    draft: key === undefined ? draft : { ...draft, dedupe: givenDedupe(key, dayMs) },
    warnings: warningsOf(kind, body, rules),
  }
}

/** Trims texts and messages. Any other field is taken or refused as it is. */
function trimmed(name: FieldName, value: unknown): unknown {
  return (name === 'text' || name === 'message') && typeof value === 'string' ? value.trim() : value
}

function refuseAgent(body: Body, rules: Rules): void {
  if (isBlank(body['agentId'])) return
  const checked = checkAgentId(body['agentId'], rules)
  if (!isProblem(checked)) return
  const { code, message } = checked
  throw new RefusalError(code, `agentId ${message}`, [{ pointer: '/agentId', message }])
}

const maxWarnings = 5

const allowedFields: Readonly<Record<Kind, ReadonlySet<string>>> = {
  wake: new Set([...fieldsOf.wake, 'idempotencyKey']),
  agent: new Set([...fieldsOf.agent, 'idempotencyKey']),
}

function warningsOf(kind: Kind, body: Body, rules: Rules): readonly FieldError[] {
  const warnings: FieldError[] = []
  const known = allowedFields[kind]
  for (const name of Object.keys(body)) {
    if (known.has(name) || isBlank(body[name])) continue
    const message = Object.hasOwn(foreign[kind], name)
      ? foreign[kind][name]?.(body[name], body, rules)
      : `is not a field of /${kind}${guess(name, known)}`
    if (message === undefined) continue
    warnings.push({ pointer: pointerTo([shownName(name)]), message })
    if (warnings.length === maxWarnings) break
  }
  return warnings
}

function guess(name: string, known: Iterable<string>): string {
  const nearest = name.length > maxNameLength ? undefined : nearestName(name, known)
  return nearest === undefined ? '' : `; did you mean \`${nearest}\`?`
}

/** Returns the sentence about a field that has no effect, or undefined if its value asks for the default behaviour. */
type Judge = (value: unknown, body: Body, rules: Rules) => string | undefined

const insteadOf =
  (field: string): Judge =>
  () =>
    `has no effect: the field is called \`${field}\` here`

const otherAgent: Judge = (value) =>
  isMain(value) ? undefined : 'has no effect: there is one agent here, `main`, and it is the one that answers'

const waiting: Judge = (value) =>
  value === true
    ? 'has no effect: with the header `Prefer: wait=60` the answer waits for the outcome'
    : undefined

/** Maps OpenClaw's fields that do not exist here, and the names that other tools use for ours, to a judge. */
const foreign: Readonly<Record<Kind, Readonly<Record<string, Judge>>>> = {
  agent: {
    agentId: otherAgent,
    sessionMode: (mode, { sessionKey }, { defaultSessionKey }) => {
      const isKept = !isBlank(sessionKey) || defaultSessionKey !== undefined
      if (mode === (isKept ? 'persistent' : 'isolated')) return undefined
      return isKept
        ? 'has no effect: requests of one `sessionKey` share a conversation; without one each has its own'
        : 'has no effect: without `sessionKey` each request has a conversation of its own'
    },
    accountId: () => 'has no effect: a channel has one account here',
    waitForCompletion: waiting,
    waitForResult: waiting,
    allowUnsafeExternalContent: (value) =>
      value === false ? undefined : 'has no effect: what is sent to /agent always has the boundary around it',
    text: insteadOf('message'),
    prompt: insteadOf('message'),
    messageTemplate: insteadOf('message'),
  },
  wake: {
    agentId: otherAgent,
    sessionKey: (value) =>
      isMain(value) ? undefined : 'has no effect: events go to the main session; /agent takes a `sessionKey`',
    message: insteadOf('text'),
    prompt: insteadOf('text'),
    textTemplate: insteadOf('text'),
  },
}

function isMain(value: unknown): boolean {
  return typeof value === 'string' && value.trim().toLowerCase() === 'main'
}

/** The limit for a name that a sender invented, in UTF-16 units. */
const maxNameLength = 60

/** Escapes characters that could move a cursor or reverse the reading order. */
function shownName(name: string): string {
  const short = name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name
  const spelt = (sign: string) => `\\u{${sign.codePointAt(0)?.toString(16)}}`
  return short.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, spelt)
}
