import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { blankComments } from './json5-comments.ts'

const blanked = (text: string) => blankComments(text).text
const unchanged = (text: string) => assert.equal(blanked(text), text)

for (const [what, text, value] of [
  ['before the first element of a list', '{ token: [\n  // newest\n  "a", "b" ] }', { token: ['a', 'b'] }],
  ['after a comma', '{ a: 1, // one\n  b: 2, /* two */ c: 3 }', { a: 1, b: 2, c: 3 }],
  ['after a text in quotes', '{ a: "x" // c\n, b: \'y\'/* c */ }', { a: 'x', b: 'y' }],
  [
    'after a bare value',
    '{ a: true // c\n, b: -1.5e3 /* c */, c: null // c\n}',
    { a: true, b: -1500, c: null },
  ],
  ['on a line of its own within a text', '[gmail\n  // mail\n]', ['gmail']],
  ['around the whole file', '// ~/.openclaw/openclaw.json\n/* mine */ { a: 1 }\n// the end', { a: 1 }],
  ['with quotes and brackets in it', '{ a: [ // don\'t ] } "\n 1 ] }', { a: [1] }],
  ['over several lines', '{ /* one\n two */ a: 1 }', { a: 1 }],
  [
    'in a collection of block style',
    'a: [ // c\n 1]\nb:\n  - { c: 2, // d\n   d: 3 }\n',
    { a: [1], b: [{ c: 2, d: 3 }] },
  ],
  ['behind a key in quotes', '{ "a":// c\n 1 }', { a: 1 }],
  ['behind a key of an anchor', 'a: &x [ // c\n 1 ]\nb: *x\n', { a: [1], b: [1] }],
] as const) {
  test(`a comment of JSON5 ${what} is blanked, and everything else keeps its place`, () => {
    const result = blanked(text)
    assert.deepEqual(parse(result), value)
    assert.equal(result.length, text.length)
    for (const [index, sign] of [...result].entries())
      assert.ok(sign === text[index] || (sign === ' ' && !/[\r\n]/.test(text[index] ?? '')), result)
  })
}

for (const [what, text] of [
  ['in quotes', "{ a: \"x // y\", b: '/* z */', c: \"\\\"// d\", d: 'it''s // e' }"],
  ['in the middle of a text', '{ a: see // this, b: https://a.example//b, c: x/*y*/z }'],
  ['in block style', "a: see // this\nb: x [ // y\nc: don't { // z\n"],
  ['in a literal text', 'a: |\n  { // x\n  /* y\nb: >-\n\n  [ // z\n\n   // w\nc: 1\n'],
  ['in the literal text of an item', '- k: |\n    [ // x\n- |\n  { // y\n'],
  ['in a comment of YAML', '# { // x\n{ a: 1 # [ // y\n }'],
  ['on a line that goes on with a text', 'a: see\n  [ // this\nb: 1\n'],
] as const) {
  test(`text that looks like a comment ${what} stays text`, () => unchanged(text))
}

test('a comment without an end is reported at its place', () =>
  assert.deepEqual(blankComments('{ a: /* x'), { text: '{ a: /* x', unclosed: 5 }))

test('a long text of what may begin a comment is read in one pass', { timeout: 30_000 }, () => {
  for (const word of ['/ ', '1 1 ', '\'" ', ' #a\n']) {
    const text = `{ // x\n${word.repeat(500_000)}`
    assert.equal(blanked(text).length, text.length, word)
  }
})

test('the built-in presets contain no comments of JSON5', async () => {
  const folder = join(import.meta.dirname, '../../../mappings')
  const files = globSync('*.yaml', { cwd: folder })
  assert.ok(files.length > 10)
  for (const file of files) unchanged(await readFile(join(folder, file), 'utf8'))
})
