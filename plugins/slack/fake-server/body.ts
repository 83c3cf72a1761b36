/** Owns reading what a call says, as JSON or as a form, as Slack does. */

import type { FakeServerRequest } from '@reveille/kit/fake-server'

export type Fields = Readonly<Record<string, unknown>>

export type ReadBody = { readonly fields: Fields; readonly warning?: object } | { readonly error: string }

export function fieldsOf({ headers, text, json }: FakeServerRequest): ReadBody {
  const type = headers['content-type'] ?? ''
  if (type === '' && text === '') return { fields: {} }
  if (/^application\/json\b/i.test(type)) {
    if (json === undefined) return { error: 'invalid_json' }
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return { error: 'json_not_object' }
    return { fields: json as Fields, ...(!/;\s*charset=utf-8/i.test(type) && { warning: missingCharset }) }
  }
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return { fields: fieldsOfForm(text) }
  return { error: type === '' ? 'missing_post_type' : 'invalid_post_type' }
}

const missingCharset = { warning: 'missing_charset', response_metadata: { warnings: ['missing_charset'] } }

/** A form knows texts alone: switches are words in it. */
function fieldsOfForm(text: string): Fields {
  const switches = new Map<string, boolean>([
    ['true', true],
    ['false', false],
  ])
  const entries = Array.from(new URLSearchParams(text), ([name, value]) => [
    name,
    switches.get(value) ?? value,
  ])
  return Object.fromEntries(entries)
}
