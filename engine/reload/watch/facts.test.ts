import assert from 'node:assert/strict'
import test from 'node:test'
import { createFacts } from './facts.ts'

test('news are new paths and other facts', () => {
  const facts = createFacts()
  facts.set('/a', 'one')
  assert.equal(facts.conclude(), true)
  facts.set('/a', 'one')
  assert.equal(facts.conclude(), false)
  facts.set('/a', 'two')
  assert.equal(facts.conclude(), true)
  assert.equal(facts.get('/a'), 'two')
})

test('a path that a survey did not meet is forgotten, and news when it comes back', () => {
  const facts = createFacts()
  facts.set('/a', 'one')
  facts.conclude()
  assert.equal(facts.conclude(), false)
  assert.equal(facts.get('/a'), undefined)
  facts.set('/a', 'one')
  assert.equal(facts.conclude(), true)
})

test('what was looked at between two surveys is no news to the next one', () => {
  const facts = createFacts()
  facts.set('/a', 'one')
  facts.conclude()
  facts.replace('/a', 'two')
  facts.set('/a', 'two')
  assert.equal(facts.conclude(), false)
  facts.replace('/unknown', 'x')
  assert.equal(facts.get('/unknown'), undefined)
})

test('news of a survey that was given up are kept for the next one', () => {
  const facts = createFacts()
  facts.set('/a', 'one')
  facts.conclude()
  facts.set('/a', 'two')
  // Here it was given up; the next one begins.
  facts.set('/a', 'two')
  assert.equal(facts.conclude(), true)
})
