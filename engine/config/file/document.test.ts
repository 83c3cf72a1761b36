import assert from 'node:assert/strict'
import test from 'node:test'
import { type Document, isScalar, parseDocument, stringify, visit } from 'yaml'
import { atOnce, inTurns } from '../../turn.ts'
import { createRandom, editText, type Random } from '../sample-edits.ts'
import { documentOptions, readDocument } from './document.ts'
import { valueOfDocument } from './document-value.ts'

function valueFor(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 0 : random.below(3)
  if (kind === 0) return random.pick([1, true, null, '', 'a', 'x: y', '# c', 'a long text '.repeat(20)])
  const items = Array.from({ length: random.below(6) }, () => valueFor(random, depth - 1))
  return kind === 1 ? items : Object.fromEntries(items.map((item, index) => [`key${index}`, item]))
}

function nodesOf(document: Document): unknown[] {
  const nodes: unknown[] = []
  visit(document, {
    Node(_, node) {
      const [start, end] = node.range ?? []
      const { anchor, tag } = node as { anchor?: string; tag?: string }
      nodes.push([node.constructor.name, start, anchor, tag, isScalar(node) && [end, node.value, node.type]])
    },
  })
  return nodes
}

/** The errors without those that are told twice. */
function errorsOf({ errors, warnings }: Document): string[] {
  return [...new Set([...errors, ...warnings].map(({ code, pos }) => `${code} ${pos[0]}`))].toSorted()
}

test('a long document that is put together in steps is the one that the library gives', async () => {
  const random = createRandom(7)
  const seen = { good: 0, bad: 0 }
  for (let round = 0; round < 16; round++) {
    const value = {
      mappings: Array.from({ length: 60 }, () => valueFor(random, 4)),
      more: valueFor(random, 4),
    }
    let text = random.chance(0.4)
      ? JSON.stringify(value, null, random.below(3))
      : stringify(value, { lineWidth: 0, collectionStyle: random.pick(['any', 'flow'] as const) })
    for (let edits = random.below(3); edits > 0; edits--) text = editText(random, text)
    const known = parseDocument(text, documentOptions)
    const { document, hasProperties } = await inTurns(readDocument(text))
    assert.deepEqual(errorsOf(document), errorsOf(known), `round ${round}`)
    seen[errorsOf(known).length === 0 ? 'good' : 'bad']++
    if (errorsOf(known).length > 0) continue
    assert.deepEqual(nodesOf(document), nodesOf(known), `round ${round}`)
    const js = (): unknown => known.toJS()
    if (!hasProperties) assert.deepEqual(await valueOfDocument(document, false), js(), `round ${round}`)
  }
  assert.ok(seen.good > 5 && seen.bad > 2, JSON.stringify(seen))
})

test('a document after the first is an error', () => {
  const { document } = atOnce(readDocument('a: 1\n---\nb: 2\n'))
  assert.deepEqual(errorsOf(document), ['MULTIPLE_DOCS 5'])
})

for (const [text, has] of [
  ['a: "&x *y !z"\nb: a & b\n', false],
  ['a: &x 1\n', true],
  ['a: *x\n', true],
  ['a: !!str 1\n', true],
  ['a: |\n  &x *y\n', false],
] as const) {
  test(`${JSON.stringify(text)} ${has ? 'has' : 'has no'} anchor, alias or tag`, () => {
    assert.equal(atOnce(readDocument(text)).hasProperties, has)
  })
}
