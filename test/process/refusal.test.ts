/** Tests that a start that cannot work says why, exits with the right code, and leaves nothing behind. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { before, type TestContext, test } from 'node:test'
import { atEnd } from '../at-end.ts'
import { configuration, createFolder, gatewayToken, hookToken } from '../installation.ts'
import { build, limit, runReveille, startReveille } from './reveille-process.ts'

before(build)

/** Returns the output that is no log line. */
function linesOf(err: string): string[] {
  return err.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
}

async function startIn(t: TestContext, cwd: string) {
  const { code, out, err } = await runReveille(t, ['start'], { cwd })
  assert.equal(out, '', 'standard output stays empty')
  assert.doesNotMatch(err, new RegExp(`${gatewayToken}|${hookToken}`))
  assert.doesNotMatch(err, /^ {4}at /m, 'no stack')
  return { code, err, lines: linesOf(err) }
}

test(
  'a second gateway on one data folder prints one line and exits with 1, and the first goes on',
  limit,
  async (t) => {
    const folder = await createFolder(t, { 'reveille.yaml': configuration })
    const first = await startReveille(t, folder)
    const second = await startIn(t, folder)
    assert.equal(second.code, 1)
    assert.equal(second.lines.length, 1, second.err)
    assert.match(second.lines[0] ?? '', /^Another process uses the data folder .*data: stop it first\.$/)
    assert.doesNotMatch(second.err, /snapshot-swapped/, 'what never served is not called live')
    assert.equal((await fetch(`${first.address}/readyz`)).status, 200)
  },
)

test('a port in use is reported in one line, with exit code 1', limit, async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  atEnd(t, () => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const folder = await createFolder(t, { 'reveille.yaml': configuration.replace('port: 0', `port: ${port}`) })
  const { code, lines, err } = await startIn(t, folder)
  assert.equal(code, 1)
  assert.equal(lines.length, 1, err)
  assert.match(lines[0] ?? '', new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use`))
})

const mistakes: Record<string, [Record<string, string>, RegExp[]]> = {
  'a key that is not known': [
    { 'reveille.yaml': 'gateway: { port: 0 }\nhoks: { enabled: true }\n' },
    [/^reveille\.yaml:2:1: error: .*hoks.*\[UNKNOWN_KEY\]$/, /hint: .*hooks/],
  ],
  'two mistakes in two files': [
    { 'reveille.yaml': 'gateway: { port: many }\n', 'mappings/b.yaml': 'mappings:\n  - mesage: x\n' },
    [/^reveille\.yaml:1:\d+: error: /, /^mappings\/b\.yaml:2:\d+: error: /],
  ],
}

for (const [mistake, [files, expected]] of Object.entries(mistakes)) {
  test(
    `${mistake} is reported once with file, line and column on standard error, with exit code 1`,
    limit,
    async (t) => {
      const folder = await createFolder(t, files)
      const { code, err, lines } = await startIn(t, folder)
      assert.equal(code, 1)
      for (const pattern of expected) {
        assert.equal(lines.filter((line) => pattern.test(line.trim())).length, 1, `${pattern} in:\n${err}`)
      }
      assert.doesNotMatch(err, /"event":"(candidate-rejected|diagnostic|snapshot-swapped)"/)
      assert.deepEqual(
        (await readdir(folder)).toSorted(),
        [...new Set(Object.keys(files).map(top))].toSorted(),
      )
    },
  )
}

test(
  '`start` in an empty folder writes nothing, exits with 2 and names `reveille init`',
  limit,
  async (t) => {
    const folder = await createFolder(t, {})
    const { code, lines } = await startIn(t, folder)
    assert.equal(code, 2)
    assert.match(lines.join('\n'), /reveille init/)
    assert.deepEqual(await readdir(folder), [])
  },
)

function top(name: string): string {
  return name.split('/')[0] ?? name
}
