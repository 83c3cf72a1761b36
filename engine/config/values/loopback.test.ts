import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopback } from './loopback.ts'

test('127.0.0.0/8, ::1 and localhost count as loopback', () => {
  const hosts = ['127.0.0.1', '127.255.0.9', '::1', '[::1]', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1']
  for (const host of [...hosts, 'localhost', 'LOCALHOST']) assert.ok(isLoopback(host), host)
})

test('no other host counts as loopback, however similar it looks', () => {
  const hosts = ['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '127.0.0.1.example.com', 'localhost.example.com']
  for (const host of [...hosts, '127.1', '', 'fe80::1', '::ffff:10.0.0.1']) assert.ok(!isLoopback(host), host)
})
