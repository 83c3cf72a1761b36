import assert from 'node:assert/strict'
import test from 'node:test'
import { inTurns } from '../../turn.ts'
import { createRecollections } from '../memory.ts'
import type { Path } from '../path.ts'
import { createRandom, editText, sampleFiles } from '../sample-edits.ts'
import { scanLines } from './lines.ts'
import { parseSource, type Source, type SourceOptions } from './source.ts'
import { parseWhole } from './whole-source.ts'

const lists: readonly Path[] = [['mappings'], ['tests'], ['hooks', 'mappings']]

function optionsFor(text: string): SourceOptions {
  return {
    kind: 'mappings',
    file: '/f.yaml',
    name: 'f.yaml',
    text,
    lists,
    holdsSecrets: (path) => path[0] === 'gateway',
  }
}

async function parseCut(text: string) {
  return parseSource(optionsFor(text), createRecollections()().memory)
}

async function parseUncut(text: string) {
  return parseWhole(optionsFor(text), await inTurns(scanLines(text)))
}

/** Every path of the value, and one below each that leads nowhere. */
function* pathsIn(value: unknown, path: Path = []): Iterable<Path> {
  yield path
  if (typeof value !== 'object' || value === null) return
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  for (const [key, item] of entries) yield* pathsIn(item, [...path, key])
  yield [...path, 'nowhere']
}

function told(source: Source) {
  return {
    value: source.value,
    items: lists.map((path) => source.items(path)?.map(({ value }) => value)),
    cuts: lists.flatMap(
      (path) => source.items(path)?.map((_, index) => source.cutTexts([...path, index])) ?? [],
    ),
    places: Array.from(pathsIn(source.value), (path) => [
      path,
      source.place(path),
      source.place(path, 'key'),
      source.position(path),
      source.placeInText(path, 3),
      source.digits(path),
    ]),
  }
}

/** Whether it was cut; nothing for a text that is refused. */
async function compare(text: string): Promise<boolean | undefined> {
  const [cut, uncut] = [await parseCut(text), await parseUncut(text)]
  assert.equal('problems' in cut, 'problems' in uncut, JSON.stringify([text, cut, uncut]))
  if ('problems' in cut || 'problems' in uncut) return undefined
  assert.deepEqual(told(cut.source), told(uncut.source), JSON.stringify(text))
  return cut.source.isCut
}

const plain: Readonly<Record<string, string>> = {
  'items as far left as their list': 'mappings:\n- id: a\n  message: x\n- id: b\n',
  'items far to the right':
    'mappings:\n        - id: a\n\n        -\n          id: b\n        -   - nested\n',
  'texts that look like items':
    'mappings:\n  - message: |\n      - id: a\n      mappings:\n    to: "a\n      - b"\n  - x\n',
  'brackets over several lines':
    'mappings:\n  - match: {\n      a: [1,\n# c\n      2]\n    }\n  - {\n    id: b\n  }\nendpoints: {\n  a: {}\n}\n',
  'comments everywhere':
    '# head\n\n# more\nmappings: # list\n# far left\n  - id: a # x\n      # deep\n\n  # before b\n  - id: b\n# end\ntests:\n',
  'a list within hooks':
    'gateway:\n  port: 1\nhooks:\n  mappings:\n  - id: a\n  - id: b\n  path: /x\nchannels: {}\n',
  'other line endings': 'mappings:\r\n  - message: |\r\n      a\r\n      b\r\n  - id: "x\r\n      y"\r\n',
  'no last line break': 'mappings:\n  - id: a\n  - message: |+\n      text\n\n',
  'items that are nothing': 'mappings:\n  -\n  - # c\n  - ~\n',
}

for (const [what, text] of Object.entries(plain)) {
  test(`${what}: a text means the same in pieces`, async () => {
    assert.equal(await compare(text), true)
  })
}

const whole: Readonly<Record<string, string>> = {
  'anchors across items': 'mappings:\n  - &a { id: a }\n  - *a\n',
  'an anchor in another section': 'x: &a 1\nmappings:\n  - id: *a\n',
  'a tag': 'mappings:\n  - id: !!str 5\n',
  'a document marker': '---\nmappings:\n  - id: a\n',
  'quoted keys': '"mappings":\n  - id: a\n',
  'a comment after which the parser forgets how far to go': 'mappings:\n  -\n#c\n    x\n  - y\n',
  'an indented file': '  mappings:\n    - id: a\n',
  JSON: '{ "mappings": [{ "id": "a" }] }\n',
}

for (const [what, text] of Object.entries(whole)) {
  test(`${what}: such a text is parsed whole`, async () => {
    assert.equal(await compare(text), false)
  })
}

const refused: Readonly<Record<string, [string, number[]]>> = {
  'a quote that is not closed': ['mappings:\n  - id: "a\n  - id: b\n  - id: c"\n', [2]],
  'a bracket that is not closed': ['mappings:\n  - match: { a: 1\n  - id: b\n', [2]],
  'keys that stand twice': ['mappings:\n  - id: a\n    id: b\n  - x: y: z\n', [3, 4]],
  'an item that stands askew': ['mappings:\n  - id: a\n - id: b\n', [3]],
  'a section that stands twice': ['mappings: []\ntests: []\nmappings: []\n', [3]],
}

for (const [what, [text, lines]] of Object.entries(refused)) {
  test(`${what}: told on the line to mend`, async () => {
    const parsed = await parseCut(text)
    assert.ok('problems' in parsed)
    assert.deepEqual(
      parsed.problems.map(({ place }) => place?.line),
      lines,
    )
    assert.ok('problems' in (await parseUncut(text)))
  })
}

test('whatever is typed, a text means the same in pieces, or is refused in both ways', async () => {
  const random = createRandom(20_260_102)
  const texts = [...Object.values(sampleFiles), ...Object.values(plain)]
  const seen = { cut: 0, whole: 0, refused: 0 }
  for (let round = 0; round < 300; round++) {
    let text = random.pick(texts)
    for (let edits = random.below(4); edits > 0; edits--) text = editText(random, text)
    const isCut = await compare(text)
    seen[isCut === undefined ? 'refused' : isCut ? 'cut' : 'whole']++
  }
  assert.ok(seen.cut > 60 && seen.whole > 20 && seen.refused > 20, JSON.stringify(seen))
})
