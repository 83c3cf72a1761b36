import assert from 'node:assert/strict'
import test from 'node:test'
import { parseText, type SoundText } from './parse-text.ts'
import { ParsedFile } from './parsed-file.ts'

const parse = (text: string) => parseText({ kind: 'mappings', file: '/f.yaml', text })
const problemsOf = (text: string) => {
  const parsed = parse(text)
  return 'problems' in parsed ? parsed.problems : []
}

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
