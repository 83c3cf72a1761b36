/** Owns the ways in which one digest may be written into a header. */

import type { Encoding, HeaderPlace } from '../../providers/scheme.ts'

export interface SignatureForm {
  /** Behind “it fits”. */
  readonly told: string
  readonly value: string
}

/** For a header that holds one signature. At most ten. */
export function signatureForms(
  value: string,
  { prefix = '', element, divider }: HeaderPlace,
  encoding: Encoding,
): readonly SignatureForm[] {
  if (element !== undefined || value.length > 1024) return []
  const given = value.trim().replace(/^(["'])(.*)\1$/, '$2')
  if (divider !== undefined && given.includes(divider)) return []
  const core = given.startsWith(prefix)
    ? given.slice(prefix.length)
    : given.replace(/^[\w-]{1,16}[=,]\s*(?=.)/, '')
  const forms: SignatureForm[] = [
    { told: `it begins with \`${prefix}\``, value: prefix + given },
    { told: `it begins with \`${prefix}\` and nothing else`, value: prefix + core },
    ...otherEncodings(core, encoding).map((each) => ({
      told: `it is written in ${encoding}`,
      value: prefix + each,
    })),
  ]
  const seen = new Set([value])
  return forms.filter((form) => !seen.has(form.value) && seen.add(form.value))
}

function otherEncodings(text: string, wanted: Encoding): readonly string[] {
  const from: ('hex' | 'base64')[] = /^(?:[\da-fA-F]{2}){16,64}$/.test(text) ? ['hex', 'base64'] : ['base64']
  return from.map((each) => Buffer.from(text, each).toString(wanted))
}
