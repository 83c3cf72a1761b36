/** Tests that the examples on the pages for authors load, and that the tests among them pass. */

import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'

const root = join(import.meta.dirname, '..')
test('each YAML example of the pages is valid', async () => {
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'mappings/README.md',
    ...globSync('docs/**/*.md', { cwd: root }),
  ]
  const examples = (await Promise.all(pages.map(examplesOf))).flat()
  assert.ok(examples.length > 5)
  for (const example of examples) assert.doesNotThrow(() => parse(example), example)
})

for (const [file, passed] of [
  ['mappings/github.yaml', 2],
  ['mappings/pushes.yaml', 3],
  ['mappings/once.yaml', 3],
] as const)
  test(`the example ${file} of docs/mappings.md passes its own tests, and lint finds nothing`, async (t) => {
    const examples = await examplesOf('docs/mappings.md')
    const example = examples.find((one) => one.includes(file)) ?? assert.fail(`the page has no ${file}`)
    const { run } = await createCommandLine(t, {
      'reveille.yaml': 'hooks: { enabled: true, token: hook-4fK29sLq0ZpVx81mWnB7 }\n',
      [file]: example,
    })
    const tested = await run('test')
    assert.equal(tested.code, 0, tested.out + tested.err)
    assert.match(tested.out, new RegExp(`^${passed} passed`, 'm'))
    const linted = await run('lint')
    assert.equal(linted.code, 0, linted.out + linted.err)
  })

test('the commands of the workflow in docs/mappings.md pass without secrets, and fail where a mapping is wrong', async (t) => {
  const examples = await examplesOf('docs/mappings.md')
  const workflow = examples.find((one) => one.includes('.github/workflows/mappings.yaml'))
  const { jobs } = parse(workflow ?? '') as { jobs: { check: { steps: { run?: string }[] } } }
  const commands = jobs.check.steps.flatMap(({ run = '' }) => {
    const [, words] = /^npx --yes reveille@\S+ (.+)$/.exec(run) ?? []
    return words === undefined ? [] : [words.split(' ')]
  })
  assert.deepEqual(
    commands.map(([command]) => command),
    ['check', 'test', 'lint'],
  )
  const { run, write } = await createCommandLine(t, {
    'reveille.yaml':
      'gateway: { auth: { token: "${REVEILLE_GATEWAY_TOKEN}" } }\nhooks: { enabled: true, token: "${REVEILLE_HOOK_TOKEN}" }\n',
    'mappings/github.yaml': examples[0] ?? '',
  })
  for (const command of commands) {
    const { code, out, err } = await run(...command)
    assert.equal(code, 0, out + err)
  }
  await write('mappings/github.yaml', (examples[0] ?? '').replace('message: |-', 'mesage: |-'))
  for (const command of commands) assert.equal((await run(...command)).code, 1, command.join(' '))
})

async function examplesOf(page: string): Promise<string[]> {
  const text = await readFile(join(root, page), 'utf8')
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, example = '']) => example)
}
