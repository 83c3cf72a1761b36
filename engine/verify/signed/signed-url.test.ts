import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUrlWriter } from './signed-url.ts'

test('the address is the configured one, with the query as it was received', () => {
  const write = createUrlWriter('https://a.example/in?configured=1#rc=2', undefined)
  assert.deepEqual(write('/hooks/x?a=%2f&&b=+'), ['https://a.example/in?a=%2f&&b=+'])
  assert.deepEqual(write('/hooks/x'), ['https://a.example/in'])
  assert.deepEqual(write('/hooks/x?'), ['https://a.example/in?'])
  assert.deepEqual(write('/hooks/x?a=?b'), ['https://a.example/in?a=?b'])
})

test('an address of scheme and host gets the path as it was received too', () => {
  for (const each of ['https://a.example:8443', 'https://a.example:8443?x', 'https://a.example:8443#x']) {
    assert.deepEqual(createUrlWriter(each, undefined)('/hooks/x?y'), ['https://a.example:8443/hooks/x?y'])
  }
  assert.deepEqual(createUrlWriter('https://a.example/', undefined)('/hooks/x'), ['https://a.example/'])
})

test('Twilio: the address is signed with and without the port, whatever else it contains', () => {
  const write = (url: string) => createUrlWriter(url, 'twilio')('/x?q')
  assert.deepEqual(write('https://a.example/in'), ['https://a.example/in?q', 'https://a.example:443/in?q'])
  assert.deepEqual(write('http://a.example'), ['http://a.example/x?q', 'http://a.example:80/x?q'])
  assert.deepEqual(write('https://u:p@a.example:8443/in'), [
    'https://u:p@a.example/in?q',
    'https://u:p@a.example:8443/in?q',
  ])
  assert.deepEqual(write('https://[::1]/in'), ['https://[::1]/in?q', 'https://[::1]:443/in?q'])
})

test('HubSpot: the listed escapes are decoded, in either case, and nothing else; then the unchanged address is tried', () => {
  const write = createUrlWriter('https://a.example/in', 'hubspot')
  const listed = '%3A%2f%3F%40%21%24%27%28%29%2A%2C%3B'
  assert.deepEqual(write(`/in?${listed}%20%2B%26%25`), [
    `https://a.example/in?:/?@!$'()*,;%20%2B%26%25`,
    `https://a.example/in?${listed}%20%2B%26%25`,
  ])
})
