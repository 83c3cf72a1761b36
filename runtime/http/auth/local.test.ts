import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfThisMachine } from './local.ts'

const host = '127.0.0.1:8787'

test('a program on this machine is taken for one, whichever name it calls the gateway by', () => {
  for (const name of [
    host,
    '127.0.0.1',
    'localhost:8787',
    'LOCALHOST',
    '[::1]:8787',
    '127.8.8.8:1',
    '[::1]',
  ]) {
    assert.equal(isOfThisMachine({ host: name }, '127.0.0.1'), true, name)
  }
  for (const client of ['::1', '::ffff:127.0.0.1', '127.0.0.2']) {
    assert.equal(isOfThisMachine({ host }, client), true, client)
  }
})

test('a web page is not, whether it says where it is from or hides behind a name of its own', () => {
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
    assert.equal(isOfThisMachine(headers, '127.0.0.1'), false, JSON.stringify(headers))
  }
  for (const site of ['none', 'same-origin']) {
    assert.equal(isOfThisMachine({ host, 'sec-fetch-site': site }, '127.0.0.1'), true, site)
  }
})

test('nor is whoever comes through a proxy or a tunnel', () => {
  for (const client of ['203.0.113.7', '10.0.0.1', '', 'unknown']) {
    assert.equal(isOfThisMachine({ host }, client), false, client)
  }
  for (const name of ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']) {
    assert.equal(isOfThisMachine({ host, [name]: '127.0.0.1' }, '127.0.0.1'), false, name)
  }
})
