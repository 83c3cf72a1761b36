import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddressRange } from './address-range.ts'

test('a range is an address, with or without the number of its leading bits', () => {
  const known = {
    '10.0.0.7': { address: '10.0.0.7', prefix: 32, family: 'ipv4' },
    '10.0.0.0/8': { address: '10.0.0.0', prefix: 8, family: 'ipv4' },
    '0.0.0.0/0': { address: '0.0.0.0', prefix: 0, family: 'ipv4' },
    '::1': { address: '::1', prefix: 128, family: 'ipv6' },
    'FD00::/8': { address: 'FD00::', prefix: 8, family: 'ipv6' },
  }
  for (const [text, range] of Object.entries(known)) assert.deepEqual(parseAddressRange(text), [range])
})

test('three names stand for the ranges of local networks', () => {
  const textsOf = (name: string) =>
    parseAddressRange(name).map(({ address, prefix }) => `${address}/${prefix}`)
  assert.deepEqual(textsOf('loopback'), ['127.0.0.0/8', '::1/128'])
  assert.deepEqual(textsOf('linklocal'), ['169.254.0.0/16', 'fe80::/10'])
  assert.ok(textsOf('uniquelocal').includes('172.16.0.0/12'))
})

test('anything else is refused', () => {
  const texts = ` 10 10.0.0 10.0.0.0/33 ::/129 10.0.0.0/ 10.0.0.0/-1 010.0.0.1 10.0.0.0/255.0.0.0 fe80::1%eth0
    proxy.example toString`.split(/\s+/)
  for (const text of [...texts, '10.0.0.0/8 ']) assert.throws(() => parseAddressRange(text), RangeError, text)
})
