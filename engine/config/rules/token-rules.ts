/** Checks the tokens and secrets of the configuration; no finding shows one. */

import type { Finding } from '../diagnostic/diagnostic.ts'
import type { Path } from '../path.ts'
import { leastSecretLength, leastTokenLength, weaknessOf } from './secret-strength.ts'

const make = 'Make one with `openssl rand -hex 24`.'

/** One token or several, each with its place. */
export function tokensAt(
  path: Path,
  tokens: string | readonly string[] | undefined,
): { readonly path: Path; readonly token: string }[] {
  if (tokens === undefined) return []
  if (typeof tokens === 'string') return [{ path, token: tokens }]
  return tokens.map((token, index) => ({ path: [...path, index], token }))
}

/** `name`: the key's, as it is shown. */
export function* checkToken(path: Path, token: string, name: string): Iterable<Finding> {
  if (token.trim() === '') {
    yield { path, code: 'TOKEN_EMPTY', message: `${name} is empty`, hint: make }
  } else if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(token)) {
    const hint = 'A header can carry only printable ASCII without spaces at its ends.'
    yield { path, code: 'TOKEN_INVALID', message: `${name} holds characters that no sender could send`, hint }
  } else {
    const weakness = weaknessOf(token, leastTokenLength)
    if (weakness === undefined) return
    const [code, why] =
      weakness === 'short'
        ? ['TOKEN_SHORT', `is shorter than ${leastTokenLength} characters`]
        : ['TOKEN_WEAK', 'can be guessed']
    yield { severity: 'warning', path, code, message: `${name} ${why}`, hint: make }
  }
}

/** What a provider signs with. An empty one counts as absent. */
export function* checkSecret(path: Path, secret: string, name: string): Iterable<Finding> {
  if (secret === '') return
  if (secret.trim() !== secret) {
    const message = `${name} begins or ends with a blank or a line break, and all of it is the secret`
    const hint = 'Remove that, unless the provider shows it so.'
    yield { severity: 'warning', path, code: 'SECRET_PADDED', message, hint }
  }
  const weakness = weaknessOf(secret, leastSecretLength)
  if (weakness === undefined) return
  const hint =
    'Have the provider make a new one, or give it what `openssl rand -hex 24` makes; a list takes both meanwhile.'
  const [code, why] =
    weakness === 'short'
      ? ['SECRET_SHORT', `is shorter than ${leastSecretLength} characters`]
      : ['SECRET_WEAK', 'can be guessed']
  yield { severity: 'warning', path, code, message: `${name} ${why}`, hint }
}
