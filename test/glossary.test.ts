/** Tests that the words of docs/glossary.md are in use, and that words which they have replaced do not come back. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '..')
const exclude = (name: string) => name === 'node_modules'
const folders = ['engine', 'runtime', 'plugins', 'tools', 'test', 'console']
const files = folders
  .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx,js}`, { cwd: root, exclude }))
  .filter((file) => file !== 'test/glossary.test.ts')
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].filter(
  (page) => page !== 'docs/glossary.md',
)

const retired: Readonly<Record<string, string>> = parse(
  readFileSync(join(root, 'test/glossary.yaml'), 'utf8'),
)

/** Names of stored data and answers, with the files that know them. */
const interfaces: Readonly<Record<string, RegExp>> = {
  standIn: /^runtime\/(api|cli)\//,
  told: /^(engine\/verify|runtime\/cli\/doctor)\//,
  untold: /^runtime\/sources\//,
}

/** Texts, lines of comment, and regular expressions where one may stand. */
const textsAndComments =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|(?<=[(,=>:[!&|?]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g

const identifiersByFile = new Map<string, ReadonlySet<string>>()

test('each word of the glossary is used on the pages or in the code', () => {
  const glossary = readFileSync(join(root, 'docs/glossary.md'), 'utf8')
  const words = [...glossary.matchAll(/^- \*\*([a-z ]+)\*\*: /gm)].map(([, word = '']) => word)
  assert.ok(words.length > 30)
  assert.equal(new Set(words).size, words.length, 'a word has two entries')
  const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n')
  const identifiers = new Set(files.flatMap((file) => [...identifiersOf(file)].flatMap(partsOf)))
  const isUsed = (word: string) => identifiers.has(word) || new RegExp(`\\b${word}s?\\b`, 'i').test(text)
  assert.deepEqual(
    words.filter((word) => !isUsed(word)),
    [],
  )
})

test('no name of a type, a function, a variable or a file holds a retired word', () => {
  assert.ok(files.length > 500)
  const found = files.flatMap((file) => {
    const names = [...identifiersOf(file), ...file.split(/[/.]/)]
    return names.flatMap((name) => {
      const word = retiredWordIn(name)
      if (word === undefined || interfaces[name]?.test(file)) return []
      return [`${file}: ${name} (write: ${retired[word]})`]
    })
  })
  assert.deepEqual(found, [])
})

test('a retired word is found in any part of a name, and in no other word', () => {
  assert.equal(retiredWordIn('readStandIn'), 'stand in')
  assert.equal(retiredWordIn('TOLD_TWICE'), 'told')
  assert.equal(retiredWordIn('door-bell'), 'door')
  assert.equal(retiredWordIn('outdoors'), undefined)
  assert.equal(retiredWordIn('understandIndex'), undefined)
})

function retiredWordIn(name: string): string | undefined {
  const parts = ` ${partsOf(name).join(' ')} `
  return Object.keys(retired).find((word) => parts.includes(` ${word} `))
}

/** Returns the words of a name in lower case: `readStoreSummary` -> `read`, `store`, `summary`. */
function partsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[ _$-]+/)
    .filter(Boolean)
}

/** Returns the names in a file, without comments and texts. Keys of objects and names of libraries are among them. */
function identifiersOf(file: string): ReadonlySet<string> {
  const known = identifiersByFile.get(file)
  if (known !== undefined) return known
  const code = readFileSync(join(root, file), 'utf8')
    .replace(/\/\*.*?\*\//gs, ' ')
    .replace(textsAndComments, ' ')
  const names = new Set(code.match(/[A-Za-z_$][\w$]*/g))
  identifiersByFile.set(file, names)
  return names
}
