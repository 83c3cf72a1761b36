/** Checks the tokens and secrets of the configuration. No finding shows one. */

import type { Finding } from '../file/diagnostic.ts'
import type { ConfigurationValue, Right } from '../schema/configuration-schema.ts'
import { type Path, writePath } from '../values/path.ts'

const make = 'Make one with `openssl rand -hex 24`.'

/** A problem of a token or secret, wherever it is written. */
export type TokenFault = Omit<Finding, 'path'>

/** Returns one token or several, each with its place. */
export function tokensAt(
  path: Path,
  tokens: string | readonly string[] | undefined,
): { readonly path: Path; readonly token: string }[] {
  if (tokens === undefined) return []
  if (typeof tokens === 'string') return [{ path, token: tokens }]
  return tokens.map((token, index) => ({ path: [...path, index], token }))
}

/** A token that opens a part of the gateway. */
interface Opener {
  readonly path: Path
  readonly token: string
  /** The path of its key, without the position in a list. */
  readonly key: Path
}

const openersAt = (key: Path, token: string | readonly string[] | undefined): Opener[] =>
  tokensAt(key, token).map((each) => ({ ...each, key }))

/** The holder of `gateway.auth.token`. */
const owner = 'owner'

/** Users of the admin surface, by token: first `gateway.auth.token`, which may do everything. */
export function gatewayTokens({ token, tokens = [] }: ConfigurationValue['gateway']['auth']) {
  const path = ['gateway', 'auth']
  return [
    ...openersAt([...path, 'token'], token).map((each) => ({
      ...each,
      name: owner,
      may: 'configure' as Right,
    })),
    ...tokens.flatMap(({ token, ...holder }, index) =>
      openersAt([...path, 'tokens', index, 'token'], token).map((each) => ({ ...each, ...holder })),
    ),
  ]
}

/** The tokens that open more than one endpoint, by their keys, and why each must differ from those before it. */
const openers = {
  'gateway.auth': {
    tokens: ({ gateway }: ConfigurationValue): Opener[] => gatewayTokens(gateway.auth),
    hint: 'nobody could tell who did what.',
  },
  'hooks.token': {
    tokens: ({ hooks }: ConfigurationValue) => openersAt(['hooks', 'token'], hooks.token),
    hint: 'a sender of hooks must not be an admin.',
  },
  'gateway.metrics.token': {
    tokens: ({ gateway }: ConfigurationValue) =>
      openersAt(['gateway', 'metrics', 'token'], gateway.metrics.token),
    hint: 'who reads the metrics must open nothing else.',
  },
}

export type TokenKey = keyof typeof openers
export const tokenKeys = Object.keys(openers) as TokenKey[]

/** Every token that opens more than one endpoint. A value that is there twice counts as the first one. */
export function* openersOf(value: ConfigurationValue): Iterable<Opener & { readonly hint: string }> {
  for (const { tokens, hint } of Object.values(openers))
    for (const each of tokens(value)) yield { ...each, hint: `Give them different values: ${hint}` }
}

/** Several tokens of one key may be equal. */
export function* sharedTokens(value: ConfigurationValue): Iterable<Finding> {
  const keys = new Map<string, string>()
  for (const { path, token, key, hint } of openersOf(value)) {
    const [own, other] = [writePath(key), keys.get(token)]
    if (other === undefined) keys.set(token, own)
    else if (other !== own && /\S/.test(token))
      yield { path, named: key, code: 'TOKEN_SHARED', problem: `equals \`${other}\``, hint }
  }
}

export function* checkTokens(value: ConfigurationValue, key: TokenKey): Iterable<Finding> {
  for (const { path, token, key: named } of openers[key].tokens(value))
    for (const fault of tokenFaults(token)) yield { ...fault, path, named }
  if (key === 'gateway.auth') yield* sharedNames(value.gateway.auth)
}

/** A name is that of one holder. */
function* sharedNames({ tokens = [] }: ConfigurationValue['gateway']['auth']): Iterable<Finding> {
  const names = new Map([[owner, 'gateway.auth.token']])
  for (const [index, { name }] of tokens.entries()) {
    const other = names.get(name)
    names.set(name, `gateway.auth.tokens[${index}]`)
    if (other === undefined) continue
    const path = ['gateway', 'auth', 'tokens', index, 'name']
    const hint = 'Give each token a name of its own, or the records do not say who did what.'
    yield { path, code: 'TOKEN_NAME_SHARED', problem: `is the name of \`${other}\` too`, hint }
  }
}

export function tokenFaults(token: string): TokenFault[] {
  if (token.trim() === '') return [{ code: 'TOKEN_EMPTY', problem: 'is empty', hint: make }]
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(token)) {
    const hint = 'A header can carry only printable ASCII without spaces at its ends.'
    return [{ code: 'TOKEN_INVALID', problem: 'holds characters that no sender could send', hint }]
  }
  if (/^Bearer\s/i.test(token)) {
    const hint = 'Remove the word: the gateway compares the token alone.'
    return [{ code: 'TOKEN_INVALID', problem: 'begins with `Bearer`', hint }]
  }
  return weaknesses(token, 'TOKEN', make)
}

/** Problems of a provider's signing secret. An empty one counts as absent. */
export function secretFaults(secret: string): TokenFault[] {
  if (secret === '') return []
  const advice =
    'Have the provider make a new one, or give it what `openssl rand -hex 24` makes; a list takes both meanwhile.'
  const weak = weaknesses(secret, 'SECRET', advice)
  const problem = 'begins or ends with a blank or a line break, and all of it is the secret'
  const hint = 'Remove that, unless the provider shows it so.'
  const padded: TokenFault = { severity: 'warning', code: 'SECRET_PADDED', problem, hint }
  return secret.trim() !== secret ? [padded, ...weak] : weak
}

/** 24 hex digits are 96 bits. The shortest secret that a provider generates has 16 characters. */
const minLengths = { TOKEN: 24, SECRET: 16 }

/** A secret that can be guessed is not reported as short too, because more characters of the same kind would not help. */
function weaknesses(text: string, kind: keyof typeof minLengths, hint: string): TokenFault[] {
  const isWeak = isGuessable(text)
  const minLength = minLengths[kind]
  if (!isWeak && text.length >= minLength) return []
  const problem = isWeak ? 'can be guessed' : `is shorter than ${minLength} characters`
  return [{ severity: 'warning', code: `${kind}_${isWeak ? 'WEAK' : 'SHORT'}`, problem, hint }]
}

const typedWords =
  /change|replace|token|secret|password|passwort|passwd|pass|admin|default|example|sample|test|demo|dummy|placeholder|hook|web|gateway|reveille|bearer|insert|your|here|this|the|key|foo|bar|baz|qwerty|letmein|todo|me|my|xxx/g

/** Longer secrets have enough other characters. */
const maxTypedLength = 64

/** True if a secret was typed by hand. */
function isGuessable(secret: string): boolean {
  if (new Set(secret).size <= 3) return true
  if (secret.length > maxTypedLength) return false
  const plain = secret.toLowerCase().replace(/[^a-z0-9]+/g, '')
  return (
    isCounting(plain) || (/[a-z]/.test(plain) && plain.replace(typedWords, '').replace(/\d+/g, '') === '')
  )
}

const rows = ['0123456789'.repeat(maxTypedLength / 10 + 1), 'abcdefghijklmnopqrstuvwxyz']
const counts = rows.flatMap((row) => [row, [...row].reverse().join('')])

/** True if each character follows the one before it, and the first digit the last one: `0123456789`, `abcdef`, `987`. */
function isCounting(text: string): boolean {
  return text.length > 1 && counts.some((count) => count.includes(text))
}
