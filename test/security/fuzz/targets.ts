/** Makes the first line of a request, with valid and invalid methods and addresses. */

import { endpoints, hookToken } from './gateway.ts'
import { chosen, piece, type Random, sizeOf, textOf } from './words.ts'

const methods = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH']

export function methodOf(random: Random): string {
  return random.chance(0.95) ? 'POST' : random.pick(methods)
}

export function targetOf(random: Random): string {
  const path = random.chance(0.8) ? `/hooks/${random.pick(endpoints)}` : chosen(random, paths)
  const target = `${path}${queryOf(random)}`
  // Parsers refuse other bytes, which a few requests confirm.
  return random.chance(0.02)
    ? target.replaceAll(/[^\x21-\xff]/g, '')
    : target.replaceAll(/[^\x21-\x7e]/g, '%C3%A9')
}

const paths: readonly ((random: Random) => string)[] = [
  (random) => `/hooks/${textOf(random)}`,
  (random) => `/hooks/${random.pick(endpoints)}/${textOf(random)}`,
  (random) => `/${textOf(random, 6)}`,
  (random) => `//hooks//${random.pick(endpoints)}//`,
  (random) => `/hooks/./${random.pick(endpoints)}/../${piece(random)}`,
  (random) => `/hooks/${percentEncoded(random.pick(endpoints))}`,
  (random) => `/hooks/${percentEncoded(percentEncoded(random.pick(endpoints)))}`,
  (random) => `http://${textOf(random)}/hooks/${random.pick(endpoints)}`,
  (random) => `https://user:pass@x:99999/hooks/${textOf(random)}`,
  (random) => `/hooks/repos/${textOf(random)}/${textOf(random)}`,
  (random) => `/hooks/${'a/'.repeat(sizeOf(random, 5000))}`,
  (random) => `/hooks/${'%41'.repeat(sizeOf(random, 4000))}`,
  (random) =>
    `/api/${random.pick(['requests', 'runs', 'events', 'status', 'generations'])}/${textOf(random)}`,
  () => '*',
  () => '/healthz',
  () => '/hooks',
]

function queryOf(random: Random): string {
  if (random.chance(0.6)) return ''
  const fields = Array.from({ length: 1 + sizeOf(random, 400) }, () => chosen(random, fieldMakers))
  return `?${fields.join(random.chance(0.9) ? '&' : piece(random))}`
}

const fieldMakers: readonly ((random: Random) => string)[] = [
  (random) => `${textOf(random)}=${textOf(random)}`,
  (random) => `token=${textOf(random)}`,
  () => `token=${hookToken}`,
  () => 'token[]=a&token[0]=b',
  (random) => `${random.pick(['__proto__', 'constructor', 'prototype'])}[a]=${piece(random)}`,
  (random) => `hub.mode=subscribe&hub.challenge=${textOf(random)}&hub.verify_token=${textOf(random)}`,
  (random) => `bodySHA256=${textOf(random)}`,
  (random) => `validationToken=${textOf(random)}`,
  (random) => '+'.repeat(sizeOf(random, 3000)),
]

function percentEncoded(text: string): string {
  return text.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
