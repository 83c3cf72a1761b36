/** Reads the configured secrets: which of them a scheme uses, and how a text is decoded into a key. */

import { createSecretKey, type KeyObject } from 'node:crypto'
import { decode, withoutPadding } from './encoding.ts'
import type { HmacScheme, Scheme } from './scheme.ts'

export interface Secret {
  /** The index among all secrets that are configured and not blank, from 0. */
  readonly index: number
  readonly text: string
}

/** A blank secret counts as absent, because its variable may not be set yet. */
export function secretsOf(configured: string | readonly string[] = []): readonly Secret[] {
  const texts = typeof configured === 'string' ? [configured] : configured
  return texts.filter((text) => text.trim() !== '').map((text, index) => ({ index, text }))
}

const whsec = 'whsec_'

export function secretsFor(
  scheme: Scheme,
  configured: string | readonly string[] | undefined,
): readonly Secret[] {
  const secrets = secretsOf(configured)
  if (scheme.secrets === undefined) return secrets
  return secrets.filter(({ text }) => text.startsWith(whsec) === (scheme.secrets === 'whsec'))
}

/** Returns undefined where the text is not of that form, or is empty, because anybody could sign with an empty key. */
export function readKey(text: string, form: HmacScheme['key']): KeyObject | undefined {
  const bytes = keyBytes(text, form)
  return bytes && createSecretKey(bytes)
}

function keyBytes(text: string, form: HmacScheme['key']): Buffer | undefined {
  if (form === 'text') return Buffer.from(text)
  if (form === 'hex') return decode(text, 'hex')
  const base64 = form === 'whsec' && text.startsWith(whsec) ? text.slice(whsec.length) : text
  return decode(padded(base64), 'base64')
}

/** Some providers show their secrets without the padding. */
function padded(base64: string): string {
  const digits = withoutPadding(base64)
  return digits + '='.repeat((4 - (digits.length % 4)) % 4)
}
