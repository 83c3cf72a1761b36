/** Checks the tokens and secrets of the configuration. No finding shows one. */

import type { Finding } from '../file/diagnostic.ts'
import { findingOf, type KeyFault } from '../file/key-fault.ts'
import type { ConfigurationValue, Right } from '../schema/configuration-schema.ts'
import { type Path, writePath } from '../values/path.ts'
import { minSecretLength, minTokenLength, type Weakness, weaknessOf } from './secret-strength.ts'

const make = 'Make one with `openssl rand -hex 24`.'

type TextFault = Omit<KeyFault, 'keys'>

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

export const tokenKeys = ['hooks.token', 'gateway.auth', 'gateway.metrics.token']

const openersAt = (key: Path, token: string | readonly string[] | undefined): Opener[] =>
  tokensAt(key, token).map((each) => ({ ...each, key }))

export const hookTokens = (token: ConfigurationValue['hooks']['token']) =>
  openersAt(['hooks', 'token'], token)

export const metricsTokens = (token: ConfigurationValue['gateway']['metrics']['token']) =>
  openersAt(['gateway', 'metrics', 'token'], token)

/** The holder of `gateway.auth.token`. */
const owner = 'owner'

/** Who may use the admin surface, by token: first `gateway.auth.token`, which may do everything. */
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

/** Every token that opens more than one endpoint. A value that is there twice counts as the first one. */
export function* openersOf({
  hooks,
  gateway,
}: ConfigurationValue): Iterable<Opener & { readonly hint: string }> {
  const differ = (hint: string) => (each: Opener) => ({
    ...each,
    hint: `Give them different values: ${hint}`,
  })
  yield* gatewayTokens(gateway.auth).map(differ('nobody could tell who did what.'))
  yield* hookTokens(hooks.token).map(differ('a sender of hooks must not be an admin.'))
  yield* metricsTokens(gateway.metrics.token).map(differ('who reads the metrics must open nothing else.'))
}

/** Several tokens of one key may be equal. */
export function* sharedTokens(value: ConfigurationValue): Iterable<Finding> {
  const keys = new Map<string, string>()
  for (const { path, token, key, hint } of openersOf(value)) {
    const [own, other] = [writePath(key), keys.get(token)]
    if (other === undefined) keys.set(token, own)
    else if (other !== own && /\S/.test(token))
      yield { path, code: 'TOKEN_SHARED', message: `\`${own}\` equals \`${other}\``, hint }
  }
}

/** A name is that of one holder. */
export function* sharedNames({ tokens = [] }: ConfigurationValue['gateway']['auth']): Iterable<Finding> {
  const names = new Map([[owner, 'gateway.auth.token']])
  for (const [index, { name }] of tokens.entries()) {
    const key = `gateway.auth.tokens[${index}]`
    const other = names.get(name)
    names.set(name, key)
    if (other === undefined) continue
    yield {
      path: ['gateway', 'auth', 'tokens', index, 'name'],
      code: 'TOKEN_NAME_SHARED',
      message: `\`${key}.name\` is the name of \`${other}\` too`,
      hint: 'Give each token a name of its own, or the records do not say who did what.',
    }
  }
}

export function weakTokens(tokens: readonly Opener[]): Finding[] {
  return tokens.flatMap(({ path, token, key }) =>
    tokenFaults(token).map((fault) => findingOf({ ...fault, keys: path, named: key }, [])),
  )
}

export function tokenFaults(token: string): TextFault[] {
  if (token.trim() === '') return [{ code: 'TOKEN_EMPTY', problem: 'is empty', hint: make }]
  if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(token)) {
    const hint = 'A header can carry only printable ASCII without spaces at its ends.'
    return [{ code: 'TOKEN_INVALID', problem: 'holds characters that no sender could send', hint }]
  }
  if (/^Bearer\s/i.test(token)) {
    const hint = 'Remove the word: the gateway compares the token alone.'
    return [{ code: 'TOKEN_INVALID', problem: 'begins with `Bearer`', hint }]
  }
  return weaknessFaults(token, minTokenLength, { short: 'TOKEN_SHORT', guessable: 'TOKEN_WEAK' }, make)
}

/** Of what a provider signs with. An empty one counts as absent. */
export function secretFaults(secret: string): TextFault[] {
  if (secret === '') return []
  const codes = { short: 'SECRET_SHORT', guessable: 'SECRET_WEAK' }
  const hint =
    'Have the provider make a new one, or give it what `openssl rand -hex 24` makes; a list takes both meanwhile.'
  const weak = weaknessFaults(secret, minSecretLength, codes, hint)
  const padded: TextFault = {
    severity: 'warning',
    code: 'SECRET_PADDED',
    problem: 'begins or ends with a blank or a line break, and all of it is the secret',
    hint: 'Remove that, unless the provider shows it so.',
  }
  return secret.trim() !== secret ? [padded, ...weak] : weak
}

function weaknessFaults(
  text: string,
  minLength: number,
  codes: Readonly<Record<Weakness, string>>,
  hint: string,
): TextFault[] {
  const weakness = weaknessOf(text, minLength)
  if (weakness === undefined) return []
  const problem = weakness === 'short' ? `is shorter than ${minLength} characters` : 'can be guessed'
  return [{ severity: 'warning', code: codes[weakness], problem, hint }]
}
