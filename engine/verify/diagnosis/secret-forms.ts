/** Owns what may have become of a secret between the sender's page and the configuration. */

export interface SecretForm {
  /** Behind “it fits the configured secret”. */
  readonly told: string
  readonly text: string
}

const prefix = 'whsec_'

/** The likelier ones come first, none that is empty or the secret itself. */
export function secretForms(secret: string): readonly SecretForm[] {
  const bare = unquoted(secret)
  return distinct(secret, [
    { told: 'without the blanks around it', text: secret.trim() },
    { told: 'without the quotation marks around it', text: bare },
    { told: 'without `whsec_`', text: bare.startsWith(prefix) ? bare.slice(prefix.length) : '' },
    { told: 'with `whsec_` before it', text: bare.startsWith(prefix) ? '' : prefix + bare },
    { told: 'with a line break at its end', text: `${bare}\n` },
    { told: 'decoded from base64', text: textFrom(bare, 'base64') },
    { told: 'decoded from hex', text: textFrom(bare, 'hex') },
    { told: 'in base64', text: Buffer.from(bare).toString('base64') },
    { told: 'in base64, with `whsec_` before it', text: prefix + Buffer.from(bare).toString('base64') },
    { told: 'in lower case', text: bare.toLowerCase() },
  ])
}

/** Of a public key: the same key, as other pages show it. */
export function publicKeyForms(key: string): readonly SecretForm[] {
  const bare = unquoted(key)
  const inner = bare.replace(/-----[A-Z ]{1,40}-----/g, '').replace(/\s+/g, '')
  const bytes = /^(?:[\da-fA-F]{2})+$/.test(inner) ? Buffer.from(inner, 'hex') : Buffer.from(inner, 'base64')
  // Of an Ed25519 key in a wrapping (SPKI) the last 32 bytes are the key.
  const raw = bytes.subarray(-32)
  return distinct(key, [
    { told: 'without the blanks around it', text: bare },
    { told: 'without the lines around it', text: inner },
    { told: 'in hex', text: bytes.toString('hex') },
    { told: 'in base64', text: bytes.toString('base64') },
    { told: 'as its 32 bytes in hex', text: raw.toString('hex') },
    { told: 'as its 32 bytes in base64', text: raw.toString('base64') },
  ])
}

function unquoted(text: string): string {
  const trimmed = text.trim()
  return /^(["'`]).*\1$/s.test(trimmed) && trimmed.length > 2 ? trimmed.slice(1, -1).trim() : trimmed
}

/** Empty where it is none, or no text. */
function textFrom(text: string, encoding: 'base64' | 'hex'): string {
  const bare = text.startsWith(prefix) ? text.slice(prefix.length) : text
  const isOne = encoding === 'hex' ? /^(?:[\da-fA-F]{2})+$/ : /^[\w+/-]+={0,2}$/
  if (!isOne.test(bare)) return ''
  const decoded = Buffer.from(bare, encoding)
  const read = decoded.toString()
  return Buffer.from(read).equals(decoded) ? read : ''
}

function distinct(original: string, forms: readonly SecretForm[]): readonly SecretForm[] {
  const seen = new Set(['', original])
  return forms.filter(({ text }) => !seen.has(text) && seen.add(text))
}
