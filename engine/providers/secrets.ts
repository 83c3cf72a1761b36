/** Owns the configured secrets: which of them a scheme takes, and how a text becomes the bytes of a key. */

import { createSecretKey, type KeyObject } from 'node:crypto'
import { decode, withoutPadding } from './encoding.ts'
import type { HmacScheme, Scheme } from './scheme.ts'

export interface Secret {
  /** Among all that are configured and not blank, from 0. */
  readonly index: number
  readonly text: string
}

/** A blank one counts as absent: a variable that is not set yet. */
export function secretsOf(said: string | readonly string[] = []): readonly Secret[] {
  const texts = typeof said === 'string' ? [said] : said
  return texts.filter((text) => text.trim() !== '').map((text, index) => ({ index, text }))
}

const whsec = 'whsec_'

export function secretsFor(scheme: Scheme, said: string | readonly string[] | undefined): readonly Secret[] {
  const secrets = secretsOf(said)
  if (scheme.secrets === undefined) return secrets
  return secrets.filter(({ text }) => text.startsWith(whsec) === (scheme.secrets === 'whsec'))
}

/** Undefined where the text is not written so, or stands for no bytes at all: with an empty key anybody can sign. */
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

/** Some show their secrets without the padding. */
function padded(base64: string): string {
  const digits = withoutPadding(base64)
  return digits + '='.repeat((4 - (digits.length % 4)) % 4)
}
