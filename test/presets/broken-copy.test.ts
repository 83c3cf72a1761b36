/** Tests what an author reads after a mistake in a copied preset: the place, the mistake and the fix. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { presetsFolder } from '../../runtime/presets-folder.ts'

interface Mistake {
  /** Words of the preset, and what is written in their place. */
  readonly change: readonly [words: string, others: string]
  /** Words of the line that is named. */
  readonly place?: string
  readonly says: readonly RegExp[]
}

const mistakes: Readonly<Record<string, Mistake>> = {
  'a misspelt key is reported with its line and the key that was meant': {
    change: ['    sessionKey:', '    sesionKey:'],
    place: '    sesionKey:',
    says: [/`mappings\[0\]\.sesionKey` is not a known key/, /Did you mean `sessionKey`\?/, /No test was run/],
  },
  'a misspelt operator is read as a key of the payload, and the failed test says so': {
    change: ['{ anything-but: Bot }', '{ anythin-but: Bot }'],
    says: [/✗ an opened pull request is reviewed/, /match\.body\.sender\.type/],
  },
  'an operator of another tool is refused with the equivalent operator': {
    change: ['{ anything-but: Bot }', '{ anything_but: Bot }'],
    place: 'Bot }',
    says: [/hint: It is written `anything-but`\./],
  },
  'an unknown helper is reported with the nearest known one': {
    change: ['{{plural pull_request.changed_files', '{{plurals pull_request.changed_files'],
    place: '{{plurals',
    says: [/there is no helper "plurals"/, /Did you mean plural\?/],
  },
  'a wrong expectation is reported with both values': {
    change: [
      'sessionKey: hook:github:harbour/signal-box#42',
      'sessionKey: hook:github:harbour/signal-box#43',
    ],
    place: 'hook:github:harbour/signal-box#43',
    says: [
      /✗ an opened pull request is reviewed/,
      /hook:github:harbour\/signal-box#42/,
      /hook:github:harbour\/signal-box#43/,
      /✓ a draft waits until it is ready/,
    ],
  },
  'a condition on a misspelt field reports the expected value and that the field is absent': {
    change: ['pull_request: { merged: true }', 'pull_request: { was_merged: true }'],
    says: [
      /✗ a merged pull request is reported/,
      /github-pull-request-merged/,
      /match\.body\.pull_request\.was_merged/,
    ],
  },
  'a template with a misspelt field fails the test that expects its value': {
    change: ['Review pull request #{{number}}', 'Review pull request #{{numbr}}'],
    says: [/✗ an opened pull request is reviewed/, /Review pull request # of harbour\/signal-box/],
  },
  "a session key with a misspelt field is reported with the field's name": {
    change: ['#{{issue.number}}"', '#{{issue.nr}}"'],
    says: [
      /✗ an issue without a description is triaged/,
      /sessionKey: needs issue\.nr, which is absent or blank/,
    ],
  },
}

/** Runs `reveille test` on the preset as it was copied beside a configuration. */
async function testCopy(t: TestContext, text: string) {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { enabled: true, token: hook-token }\n',
    'mappings/github.yaml': text,
  })
  const { code, out, err } = await run('test')
  return { code, shown: `${out}\n${err}` }
}

const preset = await readFile(join(presetsFolder(), 'github.yaml'), 'utf8')

test('an unchanged copy passes', async (t) => {
  const { code, shown } = await testCopy(t, preset)
  assert.equal(code, 0, shown)
  assert.match(shown, /✓ an opened pull request is reviewed/)
})

for (const [name, { change, place, says }] of Object.entries(mistakes))
  test(name, async (t) => {
    const [words, others] = change
    assert.ok(preset.includes(words), `the preset holds ${words}`)
    const text = preset.replace(words, others)
    const { code, shown } = await testCopy(t, text)
    assert.equal(code, 1)
    for (const each of says) assert.match(shown, each)
    if (place === undefined) return
    const line = text.split('\n').findIndex((each) => each.includes(place)) + 1
    assert.ok(shown.includes(`mappings/github.yaml:${line}:`), `line ${line} in\n${shown}`)
  })
