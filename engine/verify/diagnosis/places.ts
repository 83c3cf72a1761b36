/** Owns where signatures stand, as far as headers go: names to tell people, and to look for. */

import { rowOfHmac } from '../../providers/hmac-policy.ts'
import { providerRow } from '../../providers/index.ts'
import type { ProviderRow, Scheme } from '../../providers/scheme.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import { headerOf } from '../header.ts'
import { isInBody } from '../signed/signature-place.ts'
import type { Headers } from '../verifier.ts'

/** In the order in which they are looked for. */
export function schemesOf({ provider = '', hmac }: VerifyPolicy): readonly Scheme[] {
  const row = provider === 'hmac' ? hmac && rowOfHmac(hmac) : providerRow(provider)
  return row?.schemes ?? []
}

/** In lower case; of numbered ones the first. Empty where the signature stands in the body. */
export function signatureHeadersOf(scheme: Scheme): readonly string[] {
  switch (scheme.family) {
    case 'token':
      return [scheme.header]
    case 'oidc':
      return ['authorization']
    case 'sns':
      return []
    default:
      return isInBody(scheme.signature) ? [] : scheme.signature.headers.map((name) => name.replace('*', '1'))
  }
}

/** All that say something of a signature: its own, those of its time and id, and the weaker ones. */
export function headersOf(scheme: Scheme): readonly string[] {
  const names = [...signatureHeadersOf(scheme)]
  if (scheme.family === 'hmac' && Array.isArray(scheme.id)) names.push(...scheme.id)
  if (scheme.family === 'hmac') names.push(...(scheme.weaker ?? []))
  return [...names, ...timestampHeadersOf(scheme)]
}

export function timestampHeadersOf(scheme: Scheme): readonly string[] {
  const from = 'timestamp' in scheme ? scheme.timestamp?.from : undefined
  return from && 'header' in from ? from.header : []
}

/** Those that came, of all that any provider signs with. No other name is told: whoever sends chooses it. */
export function knownHeadersIn(
  headers: Headers,
  schemes: readonly Scheme[],
  providers: readonly ProviderRow[],
): readonly string[] {
  const known = [...schemes, ...providers.flatMap((row) => row.schemes)].flatMap(headersOf)
  return [...new Set(known)].filter((name) => headerOf(headers, name) !== undefined)
}

/** Providers whose signature came, though it is not asked for, each with the header. */
export function* strangersIn(
  headers: Headers,
  schemes: readonly Scheme[],
  providers: readonly ProviderRow[],
): Iterable<{ readonly header: string; readonly title: string }> {
  const own = new Set(schemes.flatMap(headersOf))
  for (const { title, schemes: theirs } of providers) {
    for (const header of new Set(theirs.flatMap(signatureHeadersOf))) {
      const isTold = header !== 'authorization' && !own.has(header)
      if (isTold && headerOf(headers, header) !== undefined) yield { header, title }
    }
  }
}
