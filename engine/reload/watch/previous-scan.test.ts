import assert from 'node:assert/strict'
import test from 'node:test'
import { createKnownStats } from './previous-scan.ts'

test('new paths and other stats are a change', () => {
  const stats = createKnownStats()
  stats.set('/a', 'one')
  assert.equal(stats.conclude(), true)
  stats.set('/a', 'one')
  assert.equal(stats.conclude(), false)
  stats.set('/a', 'two')
  assert.equal(stats.conclude(), true)
  assert.equal(stats.get('/a'), 'two')
})

test('a path that a scan did not find is forgotten, and is a change when it comes back', () => {
  const stats = createKnownStats()
  stats.set('/a', 'one')
  stats.conclude()
  assert.equal(stats.conclude(), false)
  assert.equal(stats.get('/a'), undefined)
  stats.set('/a', 'one')
  assert.equal(stats.conclude(), true)
})

test('a path that was checked between two scans is no change for the next one', () => {
  const stats = createKnownStats()
  stats.set('/a', 'one')
  stats.conclude()
  stats.replace('/a', 'two')
  stats.set('/a', 'two')
  assert.equal(stats.conclude(), false)
  stats.replace('/unknown', 'x')
  assert.equal(stats.get('/unknown'), undefined)
})

test('a change that a scan found before it was given up is kept for the next scan', () => {
  const stats = createKnownStats()
  stats.set('/a', 'one')
  stats.conclude()
  stats.set('/a', 'two')
  // The scan was given up here, and the next one begins.
  stats.set('/a', 'two')
  assert.equal(stats.conclude(), true)
})
