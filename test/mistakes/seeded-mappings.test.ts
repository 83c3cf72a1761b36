/** Runs the brief table of mistakes: nothing that is written by mistake stays silent, but for what is explained. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'
import { sample, seeded, silent } from './seeded-mappings.ts'
import { inTransforms, testTransforms } from './seeded-transforms.ts'

const config = 'hooks: { enabled: true, token: 6c1f0a52d98b4e7f93a1c6d0be5a4f27 }\n'

function mappingFile(lines: string): string {
  const whole = /(^|\n)match:/.test(lines) ? lines : `match: { path: a }\n${lines}`
  const indented = whole.split('\n').map((line) => `    ${line}\n`)
  return `mappings:\n  - id: a\n${indented.join('')}tests:
  - { name: t, request: { endpoint: a, body: ${sample} }, expect: { mapping: a } }\n`
}

/** The codes that lint, check and test print, asked in this order until one says anything; TEST_FAILED is the last. */
async function findings(t: { after(end: () => void): void }, files: Readonly<Record<string, string>>) {
  const { run } = await createCommandLine(t as never, { 'reveille.yaml': config, ...files })
  for (const command of ['lint', 'check'] as const) {
    const { err } = await run(command)
    const codes = [...err.matchAll(/\[([A-Z_]+)\]$/gm)].map(([, code = '']) => code)
    if (codes.length > 0) return codes
  }
  const { code } = await run('test')
  return code === 0 ? [] : ['TEST_FAILED']
}

test('the table itself is written without a mistake', async (t) => {
  assert.deepEqual(
    await findings(t, { 'mappings/a.yaml': mappingFile('message: "{{title}} by {{sender.login}}"') }),
    [],
  )
})

for (const [lines, code] of seeded) {
  test(`a mistake is found: ${lines.replaceAll('\n', ' ⏎ ')}`, async (t) => {
    const codes = await findings(t, { 'mappings/a.yaml': mappingFile(lines) })
    assert.ok(codes.includes(code), `${code} is not among ${codes.join(', ') || 'nothing'}`)
  })
}

for (const [lines, why] of silent) {
  test(`a mistake stays silent, because ${why}: ${lines.replaceAll('\n', ' ⏎ ')}`, async (t) => {
    assert.deepEqual(await findings(t, { 'mappings/a.yaml': mappingFile(lines) }), [])
  })
}

// The run of all rows is in seeded-transforms.soak.ts: each module that answers wrongly costs a thread, and two wait for their limit.
const answersWrongly = inTransforms.filter(([, code]) => code === 'TEST_FAILED')
testTransforms([
  ...inTransforms.filter(([, code]) => code !== 'TEST_FAILED'),
  ...answersWrongly.filter((_row, index) => index % 8 === 0),
])
