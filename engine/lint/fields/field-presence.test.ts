import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as idle } from 'node:timers/promises'
import { configurationOf } from '../../compile/fixture.ts'
import { mappingOf } from '../fixture.ts'
import { compileFieldPresence } from './field-presence.ts'

const { mappings: entries } = configurationOf([
  mappingOf('one', {
    match: { path: 'test', body: { action: 'opened', merged_by: { exists: false } } },
    message: '{{pull_request.title}} {{#each commits}}{{author.name}}{{/each}} {{headers.x-any}}',
  }),
  mappingOf('two', { message: '{{action}} {{labels.length}} {{user.name}}' }),
])

const presence = await compileFieldPresence(entries)

/** Names the fields that are there, that are not there (`-`), and that cannot be known (`?`). */
function marks(payload: unknown): string {
  const found = presence.presentIn(payload)
  return presence.fields
    .map(({ path }, index) => `${found[index] === undefined ? '?' : found[index] ? '' : '-'}${path}`)
    .join(' ')
}

test('the fields that mappings read are found in a payload, each once', () => {
  const fields = presence.fields.map(({ mapping, path }) => `${mapping} ${path}`)
  const ofOne = ['action', 'pull_request.title', 'commits', 'commits.author.name'].map(
    (path) => `one ${path}`,
  )
  assert.deepEqual(fields, [...ofOne, 'two labels', 'two user.name'])
  const payload = { action: 'x', pull_request: { title: '' }, commits: [{}, { author: { name: 'Ada' } }] }
  assert.equal(marks(payload), 'action pull_request.title commits commits.author.name -labels -user.name')
})

test('the fields below a null, an empty list or an empty object are unknown', () => {
  const payload = { pull_request: null, commits: [], user: {}, labels: null }
  assert.equal(marks(payload), '-action ?pull_request.title commits ?commits.author.name labels ?user.name')
  assert.equal(marks([]), '?action ?pull_request.title ?commits ?commits.author.name ?labels ?user.name')
  assert.match(marks('text'), /^-action /)
})

test('a payload cannot make it slow', () => {
  const wide = Array.from({ length: 100_000 }, () => ({ author: {} }))
  let nested: unknown = []
  for (let depth = 0; depth < 5000; depth++) nested = [nested, nested]
  const began = process.cpuUsage().user / 1000
  for (const commits of [wide, nested, [wide, wide]]) presence.presentIn({ commits, user: nested })
  assert.ok(process.cpuUsage().user / 1000 - began < 1000)
})

test('the mappings of an endpoint are read without holding the event loop', async () => {
  const match = (index: number) => ({ path: 'test', when: `$count(items[price > ${index}]) > 1` })
  const many = Array.from({ length: 1_000 }, (_, index) => mappingOf(`m${index}`, { match: match(index) }))
  const compiled = compileFieldPresence(configurationOf(many).mappings)
  let isCompiled = false
  void compiled.then(() => {
    isCompiled = true
  })
  await idle()
  assert.equal(isCompiled, false)
  assert.deepEqual((await compiled).fields, [{ mapping: 'm0', path: 'items' }])
})
