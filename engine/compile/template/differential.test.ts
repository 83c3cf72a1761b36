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

interface Difference {
  readonly template: string
  readonly payload: unknown
  /** The rendered text, or the message of the error. */
  readonly handlebars: string | RegExp
  readonly ours: string | RegExp
}

const intended: Readonly<Record<string, Difference>> = {
  'a sign of equality before the first placeholder is of n8n': {
    template: '={{a}}',
    payload: { a: 1 },
    handlebars: '=1',
    ours: /is of n8n/,
  },
  'an object is JSON': {
    template: '{{a}}',
    payload: { a: { b: 1 } },
    handlebars: '[object Object]',
    ours: '{"b":1}',
  },
  'a list is JSON': { template: '{{a}}', payload: { a: [1, [2]] }, handlebars: '1,2', ours: '[1,[2]]' },
  'values side by side are never added up': {
    template: '{{a}}{{b}}',
    payload: { a: 1, b: 2 },
    handlebars: '3',
    ours: '12',
  },
  'a null element is null in inner blocks too': {
    template: '{{#each a}}{{#if @first}}[{{this}}]{{/if}}{{/each}}',
    payload: { a: [null] },
    handlebars: '[[object Object]]',
    ours: '[]',
  },
  'brackets need no dot': { template: '{{a[0]}}', payload: { a: [1] }, handlebars: /Parse error/, ours: '1' },
  'quotes in brackets are not part of the key': {
    template: '{{a.["b"]}}',
    payload: { a: { b: 1 } },
    handlebars: '',
    ours: '1',
  },
  'our names win over the payload': {
    template: '{{path}}',
    payload: { path: 'mine' },
    handlebars: 'mine',
    ours: 'test',
  },
  'header names fold case': {
    template: '{{headers.X-ID}}',
    payload: { headers: { 'x-id': 1 } },
    handlebars: '',
    ours: '7',
  },
  'a helper’s name alone is a field': {
    template: '{{lookup}}',
    payload: { lookup: 2 },
    handlebars: /lookupProperty/,
    ours: '2',
  },
  'a section needs a helper': {
    template: '{{#a}}x{{/a}}',
    payload: { a: true },
    handlebars: 'x',
    ours: /no block "a"/,
  },
  'an unknown helper is an error at load, not at the first request that meets it': {
    template: '{{#if never}}{{nope 1}}{{/if}}x',
    payload: {},
    handlebars: 'x',
    ours: /no helper "nope"/,
  },
  'log and lookup are no helpers': {
    template: '{{lookup a "b"}}',
    payload: { a: { b: 1 } },
    handlebars: '1',
    ours: /no helper "lookup"/,
  },
  'partials are refused at load': {
    template: '{{#if never}}{{> nope}}{{/if}}',
    payload: {},
    handlebars: '',
    ours: /partials/,
  },
  '../ must lead somewhere': { template: '{{../a}}', payload: { a: 1 }, handlebars: '', ours: /leads out/ },
  'loop variables need a loop': {
    template: '[{{@index}}]',
    payload: {},
    handlebars: '[]',
    ours: /only inside/,
  },
  'this at the top is the payload, so a with of it opens a level': {
    template: '{{#with this}}[{{../a}}]{{/with}}',
    payload: { a: 1 },
    handlebars: '[]',
    ours: '[1]',
  },
  'an own key named constructor is out of reach too': {
    template: '{{constructor}}',
    payload: { constructor: 'x' },
    handlebars: 'x',
    ours: /not readable/,
  },
  'a large integer keeps its digits': {
    template: '{{a}}',
    payload: '{"a":12345678901234567890}',
    handlebars: '12345678901234567000',
    ours: '12345678901234567890',
  },
}

for (const [what, { template, payload, handlebars, ours }] of Object.entries(intended)) {
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
