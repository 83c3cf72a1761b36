/** Compares our rendering with Handlebars' own, for random templates, and lists every intended difference. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Handlebars from 'handlebars'
import { rendered } from './fixture.ts'

function theirs(template: string, payload: unknown): string {
  return Handlebars.compile(template, { noEscape: true })(printable(structuredClone(payload)))
}

/** Handlebars prints an object by its `toString`. With JSON there, that common difference disappears. */
function printable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  Object.defineProperty(value, 'toString', { value: () => JSON.stringify(value), enumerable: false })
  for (const child of Object.values(value)) printable(child)
  return value
}

const names = fc.constantFrom('a', 'b', 'c', 'list')

const scalars = fc.oneof(
  fc.constantFrom('', 'x', 'two words', '<&">', ' ', 'l1\nl2'),
  fc.integer({ min: -3, max: 40 }),
  fc.boolean(),
)

const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, scalars, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
}))

/** Null appears only at the top, because a null element is a difference of its own, listed below. */
const payloads = fc.dictionary(names, fc.option(values), { maxKeys: 4 })

const texts = fc.constantFrom('text', ' ', '\n', '  \n', '\n  ', 'a\nb\n', '[', ']', 'x}', '\\n')

/** Makes a path that may stand inside this many `each` and `with` blocks. */
function paths(level: number): fc.Arbitrary<string> {
  const parents = fc.integer({ min: 0, max: level }).map((depth) => '../'.repeat(depth))
  const below = fc.array(fc.oneof(names, fc.constant('[0]')), { maxLength: 2 })
  const plain = fc.tuple(parents, names, below).map(([up, name, rest]) => [`${up}${name}`, ...rest].join('.'))
  const all = [
    plain,
    plain,
    plain.map((path) => path.replaceAll('.[0]', '[0]')),
    names.map((name) => `@root.${name}`),
  ]
  if (level > 0)
    all.push(
      fc.constant('this'),
      fc.constant('.'),
      names.map((name) => `this.${name}`),
      fc.constant('this.length'),
    )
  return fc.oneof(...all)
}

/** The sign before each value keeps the library from adding neighbours, a difference that is listed below. */
function templates(level: number, depth: number, loops: number): fc.Arbitrary<string> {
  const path = paths(level)
  const tilde = fc.constantFrom('', '', '', '~')
  const mustache = fc.tuple(tilde, path, tilde).map(([left, name, right]) => `={{${left}${name}${right}}}`)
  const data = fc.constantFrom('={{@index}}', '={{@key}}', '={{@first}}', '={{@last}}')
  const statements: fc.Arbitrary<string>[] = [texts, texts, mustache, mustache, fc.constant('{{! note }}')]
  if (loops > 0) statements.push(data)
  if (depth > 0) {
    const same = templates(level, depth - 1, loops)
    const block = (kind: string, inside: fc.Arbitrary<string>) =>
      fc
        .tuple(tilde, path, tilde, inside, fc.option(same), tilde)
        .map(([left, subject, right, body, inverse, close]) => {
          const otherwise = inverse === null ? '' : `{{${close}else}}${inverse}`
          return `{{${left}#${kind} ${subject}${right}}}${body}${otherwise}{{/${kind}${close}}}`
        })
    statements.push(
      block('if', same),
      block('unless', same),
      block('each', templates(level + 1, depth - 1, loops + 1)),
      block('with', templates(level + 1, depth - 1, loops)),
    )
  }
  return fc.array(fc.oneof(...statements), { maxLength: 4 }).map((parts) => parts.join(''))
}

test('random templates render as in Handlebars', () => {
  fc.assert(
    fc.property(templates(0, 3, 0), payloads, (template, payload) => {
      // Refused as a placeholder of n8n.
      fc.pre(!/^\s*=\s*\{\{/.test(template))
      const library = theirs(template.replace(/(?<=[\w\]])\[0\]/g, '.[0]'), payload)
      assert.equal(rendered(template, payload), library)
    }),
    { seed: 20260102, numRuns: 750 },
  )
})

const nulls = { a: [null] }
const own = { constructor: 'x' }
const digits = '12345678901234567890'

/** What differs, the template, the payload, and the rendered text or the error: Handlebars', and ours. */
const intended: readonly (readonly [string, string, unknown, string | RegExp, string | RegExp])[] = [
  ['a sign of equality before the first placeholder is of n8n', '={{a}}', { a: 1 }, '=1', /is of n8n/],
  ['an object is JSON', '{{a}}', { a: { b: 1 } }, '[object Object]', '{"b":1}'],
  ['a list is JSON', '{{a}}', { a: [1, [2]] }, '1,2', '[1,[2]]'],
  ['values side by side are never added up', '{{a}}{{b}}', { a: 1, b: 2 }, '3', '12'],
  [
    'a null element is null',
    '{{#each a}}{{#if @first}}[{{this}}]{{/if}}{{/each}}',
    nulls,
    '[[object Object]]',
    '[]',
  ],
  ['brackets need no dot', '{{a[0]}}', { a: [1] }, /Parse error/, '1'],
  ['quotes in brackets are not part of the key', '{{a.["b"]}}', { a: { b: 1 } }, '', '1'],
  ['our names win over the payload', '{{path}}', { path: 'mine' }, 'mine', 'test'],
  ['header names fold case', '{{headers.X-ID}}', { headers: { 'x-id': 1 } }, '', '7'],
  ['a helper’s name alone is a field', '{{lookup}}', { lookup: 2 }, /lookupProperty/, '2'],
  ['a section needs a helper', '{{#a}}x{{/a}}', { a: true }, 'x', /no block "a"/],
  ['an unknown helper is an error at load', '{{#if never}}{{nope 1}}{{/if}}x', {}, 'x', /no helper "nope"/],
  ['log and lookup are no helpers', '{{lookup a "b"}}', { a: { b: 1 } }, '1', /no helper "lookup"/],
  ['partials are refused at load', '{{#if never}}{{> nope}}{{/if}}', {}, '', /partials/],
  ['../ must lead somewhere', '{{../a}}', { a: 1 }, '', /leads out/],
  ['loop variables need a loop', '[{{@index}}]', {}, '[]', /only inside/],
  ['this at the top opens a level', '{{#with this}}[{{../a}}]{{/with}}', { a: 1 }, '[]', '[1]'],
  ['an own key named constructor is out of reach', '{{constructor}}', own, 'x', /not readable/],
  ['a large integer keeps its digits', '{{a}}', `{"a":${digits}}`, '12345678901234567000', digits],
]

for (const [what, template, payload, handlebars, ours] of intended) {
  test(`differs from Handlebars: ${what}`, () => {
    const parsed: unknown = typeof payload === 'string' ? JSON.parse(payload) : payload
    check(() => Handlebars.compile(template, { noEscape: true })(parsed), handlebars)
    check(() => rendered(template, payload), ours)
  })
}

function check(render: () => string, expected: string | RegExp): void {
  if (typeof expected === 'string') assert.equal(render(), expected)
  else assert.throws(render, expected)
}
