import assert from 'node:assert/strict'
import test from 'node:test'
import { type Document, type Node, parseDocument } from 'yaml'
import { createRandom, editText, sampleFiles } from '../sample-edits.ts'
import type { Path } from '../values/path.ts'
import { parseText, type SoundText } from './parse-text.ts'
import { ParsedFile } from './parsed-file.ts'

const parse = (text: string) => parseText({ kind: 'mappings', file: '/f.yaml', text })
const problemsOf = (text: string) => {
  const parsed = parse(text)
  return 'problems' in parsed ? parsed.problems : []
}

function read(text: string): Document {
  return parseDocument(text, { merge: true, stringKeys: true, prettyErrors: false, resolveKnownTags: false })
}

/** Yields every path of the value. */
function* pathsIn(value: unknown, path: Path = []): Iterable<Path> {
  yield path
  if (typeof value !== 'object' || value === null) return
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, item] of entries) yield* pathsIn(item, [...path, key])
}

/** Items far to the left, or nothing; texts that look like items; brackets over lines; comments; other line endings, keys and aliases. */
const texts =
  `mappings:\n- id: a\n  message: x\n- id: b\n ¦ mappings:\n  -\n  - # c\n  - ~\n ¦ a: &x { b: &y text }\nc: [*x, *y]\n ¦
  mappings:\n  - message: |\n      - id: a\n      mappings:\n    to: "a\n      - b"\n  - x\n ¦ a: { z: &x 1, 2: *x, 1: b }\n ¦
  mappings:\n  - match: {\n      a: [1,\n# c\n      2]\n    }\n  - {\n    id: b\n  }\n ¦ { "mappings": [{ "id": "a" }] }\n ¦
  # head\n\nmappings: # list\n# far left\n  - id: a # x\n      # deep\n\n  # before b\n  - id: b\n# end\ntests:\n ¦
  mappings:\r\n  - message: |\r\n      a\r\n      b\r\n  - id: "x\r\n      y"\r\n`.split(/ ¦\s+/)

test('a text has the same value and places as in the library, whatever is typed', () => {
  const random = createRandom(20_260_102)
  const samples = [...Object.values(sampleFiles), ...texts]
  const seen = { sound: 0, refused: 0 }
  for (let round = 0; round < 400; round++) {
    let text = random.pick(samples)
    for (let edits = random.below(4); edits > 0; edits--) text = editText(random, text)
    const [parsed, document] = [parse(text), read(text)]
    if (document.errors.length + document.warnings.length > 0) {
      assert.ok('problems' in parsed, JSON.stringify(text))
      seen.refused++
    }
    if ('problems' in parsed) continue
    seen.sound++
    assert.deepEqual(parsed.value, document.toJS(), JSON.stringify(text))
    const file = new ParsedFile('f.yaml', parsed)
    for (const path of pathsIn(parsed.value)) {
      const node = document.getIn(path, true) as Node | undefined
      const { line, column } = file.place(path)
      const at: number = (parsed.lineStarts[line - 1] ?? 0) + column - 1
      assert.equal(file.label(path), `f.yaml:${line}:${column}`)
      if (node?.range) assert.equal(at, node.range[0], JSON.stringify([text, path]))
    }
  }
  assert.ok(seen.sound > 150 && seen.refused > 60, JSON.stringify(seen))
})

test('a merged or aliased value is found at its own place, and its text where it is written', () => {
  const text = 'base: &base { to: &to "x y" }\nlist:\n  - <<: *base\n    name: *to\n  - *base\n'
  const file = new ParsedFile('f.yaml', parse(text) as SoundText)
  assert.equal(file.label(['list', 0, 'to']), 'f.yaml:1:23')
  assert.equal(file.label(['list', 0, 'name']), 'f.yaml:4:11')
  assert.equal(file.label(['list', 1]), 'f.yaml:5:5')
  assert.equal(file.placeInText(['list', 0, 'name'], 2).column, 26)
  assert.equal(file.label(['list', 1, 'to', 'nowhere']), 'f.yaml:1:23')
})

for (const [what, text, lines] of [
  ['a quote that is not closed', 'mappings:\n  - id: "a\n  - id: b\n  - id: c"\n', [2]],
  ['a bracket that is not closed', 'mappings:\n  - match: { a: 1\n  - id: b\n', [2]],
  ['keys that appear twice', 'mappings:\n  - id: a\n    id: b\n  - x: y: z\n', [3, 4]],
  ['an item that is indented wrongly', 'mappings:\n  - id: a\n - id: b\n', [3]],
  ['a section that appears twice', 'mappings: []\ntests: []\nmappings: []\n', [3]],
  ['a second document', 'mappings: []\n---\ntests: []\n', [2]],
  ['an alias without an anchor', 'a: 1\nb: *x\n', [2]],
  ['an anchor that holds itself', 'a: 1\nb: &x [*x]\n', [2]],
] as const) {
  test(`${what} is reported once, on the line with the mistake`, () =>
    assert.deepEqual(
      problemsOf(text).map(({ place }) => place?.line),
      lines,
    ))
}

const deep = 20_000
for (const [what, text] of [
  ['lists', `a:\n  ${'['.repeat(deep)}${']'.repeat(deep)}\n`],
  ['lists that are not closed', `a:\n  ${'['.repeat(deep)}`],
  ['maps', `a:\n  ${'{ a: '.repeat(deep)}${'}'.repeat(deep)}\n`],
  ['items in block style', `a:\n  ${'- '.repeat(deep)}x\n`],
] as const) {
  test(`nesting ${deep} ${what} is refused at the level where it becomes too deep`, () => {
    const [problem, ...more] = problemsOf(text)
    assert.equal(more.length, 0)
    assert.equal(problem?.message, 'The file is nested too deeply')
    assert.ok(problem.place && (problem.place.line === 2 || problem.place.column === 1))
  })
}

test('aliases that expand too far are refused at the first of them', () => {
  const line = (index: number) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`
  const [problem] = problemsOf(
    `a0: &a0 [x, x]\n${Array.from({ length: 20 }, (_, index) => line(index)).join('')}`,
  )
  assert.deepEqual([problem?.code, problem?.place?.line], ['TOO_MANY_ALIASES', 2])
})

test('many keys in one map are compared in one pass', () => {
  const text = Array.from({ length: 50_000 }, (_, index) => `key${index}: 1\n`).join('')
  const [problem] = problemsOf(`${text}key7: 2\n`)
  assert.deepEqual([problem?.code, problem?.place?.line], ['DUPLICATE_KEY', 50_001])
})
