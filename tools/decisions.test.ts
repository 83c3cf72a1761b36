import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { findDecisions, renderIndex } from './decisions.ts'

const root = path.join(import.meta.dirname, '..')

test('docs/decisions.md is what `npm run decisions` writes', async () => {
  const written = await readFile(path.join(root, 'docs/decisions.md'), 'utf8')
  assert.ok(written === renderIndex(root), 'The decision notes have changed: npm run decisions')
})

test('decisions are found as sections, and as bold leads in a section of decisions', () => {
  const readme = [
    '# A room',
    '**No decision.** It stands outside.',
    '## Decision: one writer',
    '*Context.* There were two.',
    '## Decisions',
    '**Two threads,',
    'one for each side.** *Context:* one was not enough. **Not a lead.**',
    '',
    '- **A list item**, too.',
    '```',
    '**Code is skipped.**',
    '```',
    '## Files',
    '**No decision either.**',
    '### Decisions',
    '**A second section.**',
  ].join('\n')
  assert.deepEqual(findDecisions(readme), [
    { title: 'One writer', anchor: 'decision-one-writer' },
    { title: 'Two threads, one for each side', anchor: 'decisions' },
    { title: 'A list item', anchor: 'decisions' },
    { title: 'A second section', anchor: 'decisions-1' },
  ])
})
