/** Tests that the words of docs/glossary.md are in use, and that the linter refuses those that they have replaced. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ensureInstalled } from '../tools/install.js'

const root = join(import.meta.dirname, '..')
const exclude = (name: string) => name === 'node_modules'

test('each word of the glossary has one entry, and is used on the pages or in the code', () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const words = [...read('docs/glossary.md').matchAll(/^- \*\*([a-z ]+)\*\*: /gm)].map(
    ([, word = '']) => word,
  )
  assert.ok(words.length > 30)
  assert.equal(new Set(words).size, words.length, 'a word has two entries')
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })]
  const code = globSync('{engine,runtime,plugins,console}/**/*.{ts,tsx}', { cwd: root, exclude })
  const files = [...pages.filter((page) => page !== 'docs/glossary.md'), ...code]
  const text = files
    .map(read)
    .join('\n')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
  assert.deepEqual(
    words.filter((word) => !new RegExp(`\\b${word}s?\\b`, 'i').test(text)),
    [],
  )
})

test('a word that was replaced is refused in any part of a name, with the word to write', async () => {
  const home = join(root, 'tools/words')
  await ensureInstalled(home)
  const lint = (input: string) => {
    const options = [
      'lint',
      '--config=tools/words/cspell.json',
      '--no-progress',
      '--no-summary',
      'stdin://a.ts',
    ]
    const program = join(home, 'node_modules/cspell/bin.mjs')
    const { status, stdout } = spawnSync(process.execPath, [program, ...options], {
      cwd: root,
      input,
      encoding: 'utf8',
    })
    return { status, found: [...stdout.matchAll(/\((\w+)\) fix: \((.+?)\)/g)].map(([, ...words]) => words) }
  }
  assert.deepEqual(lint("const isTold = 'a stranger' // anew\n"), {
    status: 1,
    found: [
      ['Told', 'Logged, Reported, Notified'],
      ['stranger', 'unauthenticated client'],
      ['anew', 'again, from scratch'],
    ],
  })
  assert.deepEqual(lint("const isReported = 'an unauthenticated client' // again\n"), {
    status: 0,
    found: [],
  })
})
