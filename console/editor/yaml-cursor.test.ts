import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCursor } from './yaml-cursor.ts'

/** Where the cursor `|` is: the path, the kind of place, and what was typed. */
function at(text: string): string {
  const [before = ''] = text.split('|¦')
  const { path, at: kind, typed } = readCursor(before)
  return `${path.join('.')} ${kind} ${JSON.stringify(typed)}`
}

const places: readonly (readonly [text: string, expected: string])[] = [
  ['|¦', ' key ""'],
  ['ma|¦', ' key "ma"'],
  ['match:\n  bo|¦', 'match key "bo"'],
  ['match:\n  body:\n    action: op|¦', 'match.body.action value "op"'],
  ['mappings:\n  - id: a\n    match:\n      path: |¦', 'mappings.[].match.path value ""'],
  ['mappings:\n- id: a\n  ma|¦', 'mappings.[] key "ma"'],
  ['mappings:\n- id: a\n- ma|¦', 'mappings.[] key "ma"'],
  ['mappings:\n  - match:\n      he|¦', 'mappings.[].match key "he"'],
  ['- id: a\n  action: |¦', '[].action value ""'],
  ['match: { body: { act|¦', 'match.body key "act"'],
  ['match: { body: { action: op|¦', 'match.body.action value "op"'],
  ['match: { path: github, bo|¦', 'match key "bo"'],
  ['match: { path: github, body: { a: 1 }, he|¦', 'match key "he"'],
  ['body:\n  action: [opened, re|¦', 'body.action.[] value "re"'],
  ['message: "Review {{ti|¦', 'message template "ti"'],
  ['message: "{{#if (eq pull_request.st|¦', 'message template "pull_request.st"'],
  ['message: |-\n  Review {{pull|¦', 'message template "pull"'],
  ['message: |-\n  Review it|¦', 'message text ""'],
  ['a: 1\n# match:\nb|¦', ' key "b"'],
  ['deliverTo:\n  - channel: slack\n    t|¦', 'deliverTo.[] key "t"'],
  ['vars:\n  who: use|¦', 'vars.who value "use"'],
  ['"match":\n  bo|¦', 'match key "bo"'],
]

for (const [text, expected] of places) {
  test(`the cursor of ${JSON.stringify(text)} is in ${expected}`, () => assert.equal(at(text), expected))
}
