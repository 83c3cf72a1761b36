/** Tests what an author reads after a mistake in a copied preset: the place, the mistake and the fix. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Answer, createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { presetsFolder } from '../../runtime/presets-folder.ts'

test('an unchanged copy passes', async (t) => {
  const { code, out, err } = await testCopy(t, 'github', (text) => text)
  assert.equal(code, 0, err)
  assert.match(out, /✓ an opened pull request is reviewed/)
})

test('a misspelt key is reported with its line and the key that was meant', async (t) => {
  const { code, err, place } = await testCopy(t, 'github', replaceOnce('    sessionKey:', '    sesionKey:'))
  assert.equal(code, 1)
  assert.match(err, place('    sesionKey:'))
  assert.match(err, /`mappings\[0\]\.sesionKey` is not a known key/)
  assert.match(err, /Did you mean `sessionKey`\?/)
  assert.match(err, /No test was run/)
})

test('a misspelt operator is read as a key of the payload, and the failed test says so', async (t) => {
  const mistake = replaceOnce('{ anything-but: Bot }', '{ anythin-but: Bot }')
  const { code, out } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(out, /✗ an opened pull request is reviewed/)
  assert.match(out, /match\.body\.sender\.type/)
})

test('an operator of another tool is refused with the equivalent operator', async (t) => {
  const mistake = replaceOnce('{ anything-but: Bot }', '{ anything_but: Bot }')
  const { code, err, place } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(err, place('Bot }'))
  assert.match(err, /hint: It is written `anything-but`\./)
})

test('an unknown helper is reported with the nearest known one', async (t) => {
  const mistake = replaceOnce('{{plural pull_request.changed_files', '{{plurals pull_request.changed_files')
  const { code, err, place } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(err, place('{{plurals'))
  assert.match(err, /there is no helper "plurals"/)
  assert.match(err, /Did you mean plural\?/)
})

test('a wrong expectation is reported with both values', async (t) => {
  const mistake = replaceOnce(
    'sessionKey: hook:github:harbour/signal-box#42',
    'sessionKey: hook:github:harbour/signal-box#43',
  )
  const { code, out, place } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(out, /✗ an opened pull request is reviewed/)
  assert.match(out, place('hook:github:harbour/signal-box#43'))
  assert.match(out, /hook:github:harbour\/signal-box#42/)
  assert.match(out, /hook:github:harbour\/signal-box#43/)
  assert.match(out, /✓ a draft waits until it is ready/)
})

test('a condition on a misspelt field reports the expected value and that the field is absent', async (t) => {
  const mistake = replaceOnce('pull_request: { merged: true }', 'pull_request: { was_merged: true }')
  const { code, out } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(out, /✗ a merged pull request is reported/)
  assert.match(out, /github-pull-request-merged/)
  assert.match(out, /match\.body\.pull_request\.was_merged/)
})

test('a template with a misspelt field fails the test that expects its value', async (t) => {
  const mistake = replaceOnce('Review pull request #{{number}}', 'Review pull request #{{numbr}}')
  const { code, out } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(out, /✗ an opened pull request is reviewed/)
  assert.match(out, /Review pull request # of harbour\/signal-box/)
})

test("a session key with a misspelt field is reported with the field's name", async (t) => {
  const mistake = replaceOnce('#{{issue.number}}"', '#{{issue.nr}}"')
  const { code, out } = await testCopy(t, 'github', mistake)
  assert.equal(code, 1)
  assert.match(out, /✗ an issue without a description is triaged/)
  assert.match(out, /sessionKey: needs issue\.nr, which is absent or blank/)
})

interface TestedCopy extends Answer {
  /** Returns the place of the copy's line with these words: `mappings/github.yaml:12:`. */
  place(words: string): RegExp
}

/** Returns what `reveille test` prints for a preset that was copied beside a configuration and changed. */
async function testCopy(
  t: TestContext,
  preset: string,
  change: (text: string) => string,
): Promise<TestedCopy> {
  const text = change(await readFile(join(presetsFolder(), `${preset}.yaml`), 'utf8'))
  const { run } = await createCommandLine(t, {
    'reveille.yaml': 'hooks: { enabled: true, token: hook-token }\n',
    [`mappings/${preset}.yaml`]: text,
  })
  const answer = await run('test')
  const place = (words: string) => {
    const line = text.split('\n').findIndex((each) => each.includes(words)) + 1
    assert.ok(line > 0, `the copy holds ${words}`)
    return new RegExp(`mappings/${preset}\\.yaml:${line}:`)
  }
  return { ...answer, place }
}

function replaceOnce(words: string, others: string): (text: string) => string {
  return (text) => {
    assert.ok(text.includes(words), `the preset holds ${words}`)
    return text.replace(words, others)
  }
}
