import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { isOfThisMachine } from './authenticate.ts'

const host = '127.0.0.1:8787'

function isLocal(headers: IncomingHttpHeaders, client: string, httpVersion = '1.1'): boolean {
  return isOfThisMachine({ headers, httpVersion }, client)
}

test('a program on this machine is recognised, whichever name it uses for the gateway', () => {
  for (const name of [
    host,
    ...'127.0.0.1 localhost:8787 LOCALHOST [::1]:8787 127.8.8.8:1 [::1]'.split(' '),
  ]) {
    assert.equal(isLocal({ host: name }, '127.0.0.1'), true, name)
  }
  for (const client of ['::1', '::ffff:127.0.0.1', '127.0.0.2']) {
    assert.equal(isLocal({ host }, client), true, client)
  }
})

test('a web page is no local program, whether it names its origin or uses a host name of its own', () => {
  for (const headers of [
    { host, origin: 'https://evil.example' },
    { host, origin: 'http://127.0.0.1:8787' },
    { host, origin: 'null' },
    { host, origin: '' },
    { host, 'sec-fetch-site': 'cross-site' },
    { host, 'sec-fetch-site': 'same-site' },
    { host, 'sec-fetch-site': '' },
    { host: 'evil.example:8787' },
    { host: 'localhost.evil.example' },
    { host: '127.0.0.1.evil.example' },
    { host: 'localhost@evil.example' },
    { host: 'evil.example@127.0.0.1' },
    { host: '2130706433' },
    { host: '' },
    {},
  ]) {
    assert.equal(isLocal(headers, '127.0.0.1'), false, JSON.stringify(headers))
  }
  for (const site of ['none', 'same-origin']) {
    assert.equal(isLocal({ host, 'sec-fetch-site': site }, '127.0.0.1'), true, site)
  }
})

test('a request through a proxy or a tunnel is not from a local program', () => {
  for (const client of ['203.0.113.7', '10.0.0.1', '', 'unknown']) {
    assert.equal(isLocal({ host }, client), false, client)
  }
  for (const name of [
    ...'x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded forwarded x-real-ip'.split(' '),
    ...'x-client-ip true-client-ip cf-connecting-ip cf-ray x-azure-clientip x-original-host'.split(' '),
    ...'tailscale-user-login cdn-loop via'.split(' '),
  ]) {
    assert.equal(isLocal({ host, [name]: '127.0.0.1' }, '127.0.0.1'), false, name)
  }
  assert.equal(isLocal({ host, 'x-shipped-via': 'a' }, '127.0.0.1'), true)
  assert.equal(isLocal({ host }, '127.0.0.1', '1.0'), false, 'nginx says nothing else')
})
