/** What docs/transforms.md and transforms/README.md show type-checks. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')
const settings = 'hooks: { enabled: true, token: hook-token }\n'

interface Block {
  readonly language: string
  readonly text: string
  /** As its first line says: `// transforms/review.ts`. */
  readonly file: string | undefined
}

async function blocksOf(page: string): Promise<readonly Block[]> {
  const text = await readFile(path.join(root, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
    file: /^(?:\/\/|#) (\S+\/\S+)$/m.exec(block.split('\n', 1)[0] ?? '')?.[1],
  }))
}

/** A folder with every file that the page shows. */
async function writePage(t: TestContext, page: string) {
  const blocks = await blocksOf(page)
  const files = blocks.flatMap(({ file, text }) => (file === undefined ? [] : [[file, text] as const]))
  const line = await createCommandLine(t, { 'reveille.yaml': settings, ...Object.fromEntries(files) })
  return { ...line, blocks, files: files.map(([file]) => file) }
}

test('the code of the page type-checks as an editor checks it, and its test passes', async (t) => {
  const { cwd, files, blocks, ...line } = await writePage(t, 'docs/transforms.md')
  assert.deepEqual(
    blocks.filter(({ language, file }) => language === 'ts' && file === undefined),
    [],
    'code that no file holds',
  )
  assert.ok(files.includes('transforms/orders.ts'))
  await line.run('init', 'transform', 'another')
  await mkdir(path.join(cwd, 'node_modules/@types'), { recursive: true })
  await symlink(
    path.join(root, 'node_modules/@types/node'),
    path.join(cwd, 'node_modules/@types/node'),
    'junction',
  )
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = await run(process.execPath, [compiler, '-p', 'transforms'], { cwd })
  assert.equal(stdout, '')
  // Not the variables by which a test runner would take the new process for a part of itself.
  const env = { PATH: process.env['PATH'] }
  const tested = await run(process.execPath, ['--test', 'transforms/review.test.ts'], { cwd, env })
  assert.match(tested.stdout, /^. pass 1$/m)
})
