/** Decides which secrets can be guessed: those that are short, and those that were typed by hand. */

export type Weakness = 'guessable' | 'short'

/** A random token is longer: 24 hex digits are 96 bits. */
export const minTokenLength = 24
/** Some providers generate their secrets, of which the shortest has 16 characters. */
export const minSecretLength = 16

const typedWords =
  /change|replace|token|secret|password|passwort|passwd|pass|admin|default|example|sample|test|demo|dummy|placeholder|hook|web|gateway|reveille|bearer|insert|your|here|this|the|key|foo|bar|baz|qwerty|letmein|todo|me|my|xxx/g

/** Returns `guessable` before `short`, because more characters of the same kind would not help. */
export function weaknessOf(secret: string, minLength: number): Weakness | undefined {
  if (isGuessable(secret)) return 'guessable'
  return secret.length < minLength ? 'short' : undefined
}

/** Longer secrets have enough other characters. */
const maxTypedLength = 64

function isGuessable(secret: string): boolean {
  if (new Set(secret).size <= 3) return true
  if (secret.length > maxTypedLength) return false
  const plain = secret.toLowerCase().replace(/[^a-z0-9]+/g, '')
  return (
    isCounting(plain) || (/[a-z]/.test(plain) && plain.replace(typedWords, '').replace(/\d+/g, '') === '')
  )
}

/** Whether each character follows the one before it, cyclically: `0123456789`, `abcdef`, `987`. */
function isCounting(text: string): boolean {
  const steps = new Set<number>()
  for (let index = 1; index < text.length; index++) {
    const step = text.charCodeAt(index) - text.charCodeAt(index - 1)
    // Steps from the last digit to the first one, and back, count too.
    steps.add(Math.abs(step) === 9 ? -Math.sign(step) : step)
    if (steps.size > 1) return false
  }
  return steps.has(1) || steps.has(-1)
}
