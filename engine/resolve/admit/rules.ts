/** Checks the fields of an action against the settings, for requests as well as for literals at load. */

import type { Settings } from '../../config/settings.ts'
import { channelName } from '../../config/values/channel-name.ts'
import { type ThinkingLevel, thinkingLevels } from '../../config/values/fields.ts'
import type { WakeMode } from '../model/decision.ts'
import type { RefusalCode } from '../model/refusal.ts'

export interface Rules {
  /** Every channel that exists. */
  readonly channels: ReadonlySet<string>
  /**
   * The channels that can deliver a reply: the configured ones, in their order, or all if the reply is delivered
   * elsewhere.
   */
  readonly configured: ReadonlySet<string>
  readonly models: Settings['agents']['defaults']['models']
  readonly sessionKeyPrefixes: readonly string[] | undefined
  /** The session key of runs whose request and mapping give none. */
  readonly defaultSessionKey: string | undefined
  /** True if a request to `/agent` may choose its session. */
  readonly allowRequestSessionKey: boolean
  /** The values that `agentId` of a request may have. Absent: any value. */
  readonly agentIds: readonly string[] | undefined
  readonly defaults: {
    readonly runner: string
    readonly model: string | undefined
    readonly thinking: ThinkingLevel | undefined
    readonly timeoutSeconds: number
  }
}

export type Checked<Value> = { readonly value: Value } | Problem

/** `message` completes a sentence that begins with the field's name. It never quotes the value. */
export interface Problem {
  readonly code: RefusalCode
  readonly message: string
}

export function isProblem<Value>(checked: Checked<Value>): checked is Problem {
  return 'code' in checked
}

/** A blank field counts as absent, as in OpenClaw. */
export function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

const maxTimeoutSeconds = 86_400
/** Keys name lanes in memory, rows on disk and addresses of the admin API. In UTF-16 units. */
const maxSessionKeyLength = 1024
export const wakeModes: readonly WakeMode[] = ['now', 'next-heartbeat']

export function compileRules(
  settings: Settings,
  channels: readonly string[],
  relays: readonly string[] = [],
): Rules {
  const { defaults } = settings.agents
  const models = defaults.models
  const elsewhere = relays.includes(defaults.runner) ? channels : []
  return {
    channels: new Set(channels),
    configured: new Set([...Object.keys(settings.channels), ...elsewhere]),
    models,
    sessionKeyPrefixes: settings.hooks.allowedSessionKeyPrefixes,
    defaultSessionKey: settings.hooks.defaultSessionKey,
    allowRequestSessionKey: settings.hooks.allowRequestSessionKey,
    agentIds: settings.hooks.allowedAgentIds,
    defaults: {
      runner: defaults.runner,
      model: defaults.model === undefined ? undefined : (aliased(defaults.model, models) ?? defaults.model),
      thinking: defaults.thinking,
      timeoutSeconds: defaults.timeoutSeconds,
    },
  }
}

export function checkContent(value: unknown): Checked<string> {
  if (value === undefined || value === null) return { code: 'BLANK_TEXT', message: 'is required' }
  if (typeof value !== 'string') return invalid('must be a string')
  return value.trim() === '' ? { code: 'BLANK_TEXT', message: 'must not be blank' } : { value }
}

export function checkText(value: unknown): Checked<string> {
  if (typeof value !== 'string') return invalid('must be a string')
  return value.trim() === '' ? invalid('must not be empty; leave it out instead') : { value }
}

export function checkMode(value: unknown): Checked<WakeMode> {
  const mode = wakeModes.find((known) => known === value)
  return mode === undefined
    ? invalid(`must be ${wakeModes.map((known) => `"${known}"`).join(' or ')}`)
    : { value: mode }
}

export function checkDeliver(value: unknown): Checked<boolean> {
  return typeof value === 'boolean' ? { value } : invalid('must be true or false')
}

export function checkTimeout(value: unknown): Checked<number> {
  const whole = typeof value === 'number' && Number.isInteger(value)
  return whole && value >= 1 && value <= maxTimeoutSeconds
    ? { value }
    : invalid(`must be a whole number of seconds from 1 to ${maxTimeoutSeconds}`)
}

export function checkThinking(value: unknown): Checked<ThinkingLevel> {
  const level = thinkingLevels.find((known) => known === value)
  if (level !== undefined) return { value: level }
  return { code: 'UNKNOWN_THINKING', message: `must be one of ${thinkingLevels.join(', ')}` }
}

/** Returns the channel's name in place of an alias. With `deliver: false` the channel must still be a known one. */
export function checkChannel(value: unknown, deliver: boolean, rules: Rules): Checked<string> {
  const text = checkText(value)
  if (isProblem(text)) return text
  const isKnown = (known: string) => rules.channels.has(known) || rules.configured.has(known)
  const name = { value: channelName(text.value, isKnown) }
  if (name.value === 'last') return name
  if (!isKnown(name.value)) {
    return { code: 'UNKNOWN_CHANNEL', message: `must be "last" or one of ${list(rules.channels)}` }
  }
  if (deliver && !rules.configured.has(name.value)) {
    const configured = `configured: ${rules.configured.size === 0 ? 'none' : list(rules.configured)}`
    return { code: 'CHANNEL_NOT_CONFIGURED', message: `is not configured (${configured})` }
  }
  return name
}

const maxModelLength = 200

/** Returns the model in place of an alias. */
export function checkModel(value: unknown, rules: Rules): Checked<string> {
  const name = checkText(value)
  if (isProblem(name)) return name
  const model = aliased(name.value, rules.models)
  if (model !== undefined) return { value: model }
  if (!/^[^\s/]+\/\S+$/.test(name.value)) {
    return { code: 'MODEL_NOT_ALLOWED', message: `must be <provider>/<model>${orAlias(rules.models)}` }
  }
  // A sender may choose it, and it is shown where no boundary is.
  if (name.value.length > maxModelLength || !/^[!-~]+$/.test(name.value)) {
    const message = `must be at most ${maxModelLength} printable ASCII characters`
    return { code: 'MODEL_NOT_ALLOWED', message }
  }
  if (rules.models === undefined || rules.models.allowed.includes(name.value)) return name
  return {
    code: 'MODEL_NOT_ALLOWED',
    message: `must be one of ${rules.models.allowed.join(', ')}${orAlias(rules.models)}`,
  }
}

/** Returns the trimmed key. */
export function checkSessionKey(value: unknown, rules: Rules): Checked<string> {
  const text = checkText(value)
  if (isProblem(text)) return text
  const key = text.value.trim()
  if (key.length > maxSessionKeyLength) return invalid(`must have at most ${maxSessionKeyLength} characters`)
  // The store would write the same replacement character for each lone surrogate, so unrelated senders would share a session.
  if (!key.isWellFormed()) return invalid('must be well-formed Unicode text')
  if (key.toLowerCase() === 'main') {
    return { code: 'RESERVED_SESSION_KEY', message: 'must not be "main", the key of the main session' }
  }
  const prefixes = rules.sessionKeyPrefixes
  if (prefixes === undefined || prefixes.some((prefix) => key.startsWith(prefix))) return { value: key }
  return {
    code: 'SESSION_KEY_NOT_ALLOWED',
    message: `must begin with ${prefixes.map((prefix) => `"${prefix}"`).join(' or ')}`,
  }
}

/** Checks a key from a request to `/agent`. */
export function checkRequestKey(value: unknown, rules: Rules): Checked<string> {
  if (rules.allowRequestSessionKey) return checkSessionKey(value, rules)
  return {
    code: 'SESSION_KEY_NOT_ALLOWED',
    message: 'must be left out: `hooks.allowRequestSessionKey` is false',
  }
}

export function checkAgentId(value: unknown, { agentIds }: Rules): Checked<string> {
  const id = checkText(value)
  if (isProblem(id) || agentIds === undefined) return id
  const agentId = id.value.trim().toLowerCase()
  if (agentIds.some((one) => one === '*' || one.trim().toLowerCase() === agentId)) return id
  return invalid('must be one of those in `hooks.allowedAgentIds`')
}

function aliased(name: string, models: Rules['models']): string | undefined {
  return models !== undefined && Object.hasOwn(models.aliases, name) ? models.aliases[name] : undefined
}

function orAlias(models: Rules['models']): string {
  const aliases = models === undefined ? [] : Object.keys(models.aliases)
  if (aliases.length === 0) return ''
  return `, or ${aliases.length === 1 ? 'the alias' : 'one of the aliases'} ${aliases.join(', ')}`
}

function list(names: Iterable<string>): string {
  return [...names].sort().join(', ')
}

function invalid(message: string): Problem {
  return { code: 'INVALID_FIELD', message }
}
