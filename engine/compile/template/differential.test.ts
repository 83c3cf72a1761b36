/** Lists every intended difference from Handlebars, with what each of the two renders. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import Handlebars from 'handlebars'
import { rendered } from './fixture.ts'

const nulls = { a: [null] }
const own = { constructor: 'x' }
const digits = '12345678901234567890'

/** The difference, the template, the payload, and the rendered text or the error: Handlebars', and ours. */
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
