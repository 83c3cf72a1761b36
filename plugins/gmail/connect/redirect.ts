/** Reads Google's answer to a request for consent, from a redirect or from what a person pasted. https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2 */

import { hash } from 'node:crypto'

export type Redirect =
  | { readonly code: string }
  /** The word with which Google says why there is no consent: `access_denied`. */
  | { readonly error: string }
  /** The request is not an answer of Google's to this setup. The word says what is wrong with it. */
  | { readonly mistake: 'other-state' | 'no-answer' }

/** Reads a redirect. `state` must be there and equal ours; unless `needsState` is set, it may also be absent. */
export function readRedirect(query: URLSearchParams, state: string, needsState: boolean): Redirect {
  const states = query.getAll('state')
  const isForeign = states.length === 0 ? needsState : states.length > 1 || !isSame(states[0], state)
  if (isForeign) return { mistake: 'other-state' }
  const errors = query.getAll('error')
  const codes = query.getAll('code')
  if (errors.length === 1 && codes.length === 0) return { error: safeWord(errors[0]) }
  if (codes.length === 1 && errors.length === 0 && isCode(codes[0])) return { code: codes[0] }
  return { mistake: 'no-answer' }
}

/** Google's are about 80 characters, and may have up to 256 bytes. https://developers.google.com/identity/protocols/oauth2#size */
function isCode(text: string | undefined): text is string {
  return text !== undefined && /^[\w.~/+=-]{10,1024}$/.test(text)
}

/** Compares the hashes, so that the time of the comparison says nothing about the state. */
function isSame(text: string | undefined, state: string): boolean {
  return hash('sha256', text ?? '') === hash('sha256', state)
}

function safeWord(error: string | undefined): string {
  return error !== undefined && /^[a-z_]{1,60}$/.test(error) ? error : 'unknown'
}

/** Tolerates whatever a terminal, a chat or a mail put around the pasted text. */
export function readPasted(text: string, state: string): Redirect {
  const bare = text
    .replaceAll(/\s+/g, '')
    .replaceAll(/^["'`<(\u201c\u2018\xab]+|["'`>)\u201d\u2019\xbb,;]+$/g, '')
  if (!/[?&]|:\/\/|^\w+=/.test(bare)) return readCode(bare)
  const query = bare.replace(/^[^?]*\?/, '').replace(/#.*$/, '')
  return readRedirect(new URLSearchParams(query), state, false)
}

/** Accepts the code as it is in the address, and the code with its escapes decoded. */
function readCode(text: string): Redirect {
  const code = text.includes('%') ? new URLSearchParams(`code=${text}`).get('code') : text
  return isCode(code ?? undefined) ? { code: code as string } : { mistake: 'no-answer' }
}
