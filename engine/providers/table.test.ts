import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { durationPattern } from '../config/values/quantities.ts'
import { providerNames, providerRow, providerRows } from './index.ts'
import type { ProviderRow, Scheme } from './scheme.ts'

test('every provider is found by its name, and has one row', () => {
  for (const row of providerRows) assert.equal(providerRow(row.name), row)
  assert.equal(new Set(providerNames).size, providerRows.length + 1)
  assert.equal(providerRow('hmac'), undefined)
  assert.equal(providerRow('__proto__'), undefined)
})

test('every row names an https page, for how long deliveries are repeated, and headers in lower case, as requests have them', () => {
  for (const { name, doc, retryHorizon, deliveryId = [], tokenHeaders = [], schemes } of providerRows) {
    assert.equal(new URL(doc).protocol, 'https:', name)
    assert.match(retryHorizon, new RegExp(`${durationPattern}|^none$`), name)
    const ofIds = deliveryId.flatMap((place) => ('headers' in place ? place.headers : []))
    for (const header of [...tokenHeaders, ...ofIds, ...schemes.flatMap(headersOf)])
      assert.match(header, /^[a-z0-9-]+\*?$/, name)
  }
})

function headersOf(scheme: Scheme): readonly string[] {
  if (scheme.family === 'token') return [scheme.header]
  if (!('signature' in scheme) || !('headers' in scheme.signature)) return []
  const from = scheme.timestamp?.from
  const times = from && 'header' in from ? from.header : []
  return [...scheme.signature.headers, ...times, ...((scheme.family === 'hmac' && scheme.weaker) || [])]
}

test('docs/reference/providers.md shows the table as it is', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/providers.md'), 'utf8')
  const lines = page.split('\n').filter((line) => line.includes('](https://'))
  assert.deepEqual(lines, providerRows.map(lineOf))
})

function lineOf({ name, title, doc, schemes, retryHorizon }: ProviderRow): string {
  const how = schemes.map(describe).join('; ') || 'nothing'
  const window = schemes.map(windowOf).find((each) => each !== '') ?? ''
  return `| \`${name}\` | [${title}](${doc}) | ${how} | ${window} | ${retryHorizon} |`
}

function describe(scheme: Scheme): string {
  switch (scheme.family) {
    case 'hmac':
      return `${scheme.hash.toUpperCase().replace('SHA', 'HMAC-SHA-')} of \`${scheme.signed}\``
    case 'token':
      return `the secret itself in \`${scheme.header}\``
    case 'ed25519':
      return `Ed25519 of \`${scheme.signed}\``
    case 'ecdsa':
      return `ECDSA P-256 of \`${scheme.signed}\``
    case 'oidc':
      return 'a token of OpenID Connect'
    case 'sns':
      return 'RSA of fields of the body'
  }
}

function windowOf(scheme: Scheme): string {
  const tolerance = 'timestamp' in scheme ? scheme.timestamp?.tolerance : undefined
  return tolerance === undefined ? '' : `${tolerance} s`
}
