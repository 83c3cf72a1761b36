import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressOf, clientKey, clientOf } from './client.ts'

test('an address is found in every notation of sockets and forwarders', () => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    '203.0.113.7': [
      '203.0.113.7',
      ' 203.0.113.7\t',
      '203.0.113.7:4711',
      '"203.0.113.7:4711"',
      '::ffff:203.0.113.7',
      '::FFFF:cb00:7107',
      '0:0:0:0:0:ffff:203.0.113.7',
      '[::ffff:203.0.113.7]:443',
    ],
    '2001:db8::1': [
      '2001:db8::1',
      '[2001:db8::1]',
      '[2001:db8::1]:443',
      '"[2001:db8::1]:443"',
      '2001:db8::1%7',
    ],
    'fe80::1': ['fe80::1%eth0', '[fe80::1%25eth0]:80'],
  }
  for (const [address, texts] of Object.entries(spellings))
    for (const text of texts) assert.equal(addressOf(text), address, text)
})

const nowhere = [
  '',
  'unknown',
  '_hidden',
  'localhost',
  '203.0.113',
  '203.0.113.256',
  '203.0.113.7:port',
  '203.0.113.7:123456',
  '0x7f.0.0.1',
  '2001:db8::1::2',
  '[2001:db8::1',
  '2001:db8::1]:443',
  '::ffff:203.0.113.7:443',
  '1:2:3:4:5:6:7:8:9',
  '%',
  '[]',
  '[]:80',
  '"',
  '__proto__',
  '203.0.113.7, 10.0.0.1',
  `::1%${'z'.repeat(20_000)}`,
  '['.repeat(20_000),
]

test('text that holds no address is one client together with all such text', () => {
  for (const text of nowhere) {
    assert.equal(addressOf(text), undefined, text.slice(0, 40))
    assert.equal(clientKey(text), 'unknown', text.slice(0, 40))
  }
})

test('a client is an address of IPv4, or a /64 of IPv6', () => {
  const clients = [
    ['203.0.113.7', '203.0.113.7:1', '::ffff:203.0.113.7', '::ffff:cb00:7107'],
    ['203.0.113.8'],
    [
      '2001:db8:1:2::1',
      '2001:db8:1:2:ffff:ffff:ffff:ffff',
      '2001:0DB8:0001:0002:0:0:0:0',
      '2001:db8:1:2::%eth0',
    ],
    ['2001:db8:1:3::1'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1::'],
    ['::1', '::', '::203.0.113.7', '::fffe:203.0.113.7', '::ffff:0:203.0.113.7'],
    ['64:ff9b::203.0.113.7', '64:ff9b::1'],
  ]
  const keys = clients.map((addresses) => new Set(addresses.map(clientKey)))
  for (const [index, each] of keys.entries()) assert.equal(each.size, 1, `${clients[index]}: ${[...each]}`)
  assert.equal(new Set(keys.flatMap((each) => [...each])).size, clients.length, 'and no two are one')
})

test('the client is the furthest listed address, and a word counts for the forwarder that passed it on', () => {
  assert.equal(clientOf({ ips: ['10.0.0.1'] }), '10.0.0.1')
  assert.equal(clientOf({ ips: ['::ffff:10.0.0.1', '10.0.0.2:80', '[2001:db8::1]:443'] }), '2001:db8::1')
  assert.equal(clientOf({ ips: ['10.0.0.1', '10.0.0.2', 'unknown'] }), '10.0.0.2')
  assert.equal(clientOf({ ips: [undefined] }), '')
  assert.equal(clientOf({}), '')
})
