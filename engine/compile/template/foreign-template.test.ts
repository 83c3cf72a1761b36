import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignTemplate } from './foreign-template.ts'

test('a placeholder of another language is found after one without an end', () => {
  assert.equal(foreignTemplate('{{a {{commits.size()}}')?.place, 6)
})

test('a long text of placeholders without an end is searched only once', { timeout: 5000 }, () => {
  for (const text of ['{{', '{{a', '{', '{{{']) assert.equal(foreignTemplate(text.repeat(50_000)), undefined)
})
