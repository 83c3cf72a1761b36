/** Checks the tokens and secrets of the configuration. No finding shows one. */

import type { KeyFault } from '../diagnostic/key-fault.ts'
import type { Path } from '../path.ts'
import { leastSecretLength, leastTokenLength, type Weakness, weaknessOf } from './secret-strength.ts'

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
  return weaknessFaults(token, leastTokenLength, { short: 'TOKEN_SHORT', guessable: 'TOKEN_WEAK' }, make)
}

/** Of what a provider signs with. An empty one counts as absent. */
export function secretFaults(secret: string): TextFault[] {
  if (secret === '') return []
  const codes = { short: 'SECRET_SHORT', guessable: 'SECRET_WEAK' }
  const hint =
    'Have the provider make a new one, or give it what `openssl rand -hex 24` makes; a list takes both meanwhile.'
  const weak = weaknessFaults(secret, leastSecretLength, codes, hint)
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
  leastLength: number,
  codes: Readonly<Record<Weakness, string>>,
  hint: string,
): TextFault[] {
  const weakness = weaknessOf(text, leastLength)
  if (weakness === undefined) return []
  const problem = weakness === 'short' ? `is shorter than ${leastLength} characters` : 'can be guessed'
  return [{ severity: 'warning', code: codes[weakness], problem, hint }]
}
