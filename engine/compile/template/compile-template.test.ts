import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileTemplate } from './compile-template.ts'
import { rendered, segmentsOf } from './fixture.ts'
import { TemplateError } from './parse.ts'

/** Title, template, payload, rendered text. */
const renders: readonly (readonly [string, string, unknown, string])[] = [
  ['a key of the payload', 'Hi {{name}}!', { name: 'Ann' }, 'Hi Ann!'],
  ['an element by brackets', '{{messages[0].subject}}', { messages: [{ subject: 'Hello' }] }, 'Hello'],
  ['brackets after brackets', '{{m[1][0]}}', { m: [[], ['x']] }, 'x'],
  ['a key in brackets and quotes', "{{a['b-c']}}", { a: { 'b-c': 2 } }, '2'],
  ['a key that is no identifier', '{{event-data.[smtp id]}}', { 'event-data': { 'smtp id': 3 } }, '3'],
  ['brackets in plain text as text', 'a[0] {{b}}', { b: 1 }, 'a[0] 1'],
  ['brackets in a string argument as text', '{{default x "a[0]"}}', {}, 'a[0]'],
  ['no HTML escapes', '{{t}}{{{t}}}', { t: '<a & "b">' }, '<a & "b"><a & "b">'],
  ['an absent value as nothing', '[{{a.b.c}}{{d}}]', { d: null }, '[]'],
  ['false and zero', '{{a}} {{b}}', { a: false, b: 0 }, 'false 0'],
  ['an object as compact JSON', '{{a}}', { a: { b: [1, 'x', null] } }, '{"b":[1,"x",null]}'],
  ['an array payload', '{{payload[1].a}}', [{ a: 1 }, { a: 2 }], '2'],
  ['a payload that is text', '{{payload}}', '"hi"', 'hi'],
  ['the length of a list', '{{a.length}}', { a: [1, 2] }, '2'],
  ['a header in any case', '{{headers.X-Id}} {{headers.x-list}}', {}, '7 ["a","b"]'],
  ['the endpoint as path', '{{path}}', { path: 'mine' }, 'test'],
  ['our name hidden under payload', '{{payload.path}}', { path: 'mine' }, 'mine'],
  ['the time of the request', '{{now}}', {}, '2026-01-02T03:04:05.000Z'],
  ['a field that has a helper’s name', '{{date}} {{join}}', { date: 'today', join: 1 }, 'today 1'],
  ['an if with else', '{{#if a}}x{{else if b}}y{{else}}z{{/if}}', { b: 1 }, 'y'],
  ['an empty list as false', '{{#if a}}x{{else}}y{{/if}}', { a: [] }, 'y'],
  ['zero as true where asked', '{{#if a includeZero=true}}x{{/if}}', { a: 0 }, 'x'],
  ['an inverted block', '{{^if a}}x{{/if}}', {}, 'x'],
  [
    'an each',
    '{{#each a}}{{@index}}{{this}}{{#unless @last}},{{/unless}}{{/each}}',
    { a: ['x', 'y'] },
    '0x,1y',
  ],
  ['null elements as nothing', '{{#each a}}{{#if @first}}[{{this}}]{{/if}}{{/each}}', { a: [null] }, '[]'],
  ['an each over an object', '{{#each a}}{{@key}}={{.}};{{/each}}', { a: { b: 1, c: 2 } }, 'b=1;c=2;'],
  ['the else of an empty each', '{{#each a}}x{{else}}none{{/each}}', { a: [] }, 'none'],
  ['parameters', '{{#each a as |v k|}}{{#with v}}{{k}}{{v.n}}{{/with}}{{/each}}', { a: [{ n: 5 }] }, '05'],
  [
    'outer',
    '{{#each a}}{{#each this}}{{@../index}}{{@index}} {{/each}}{{/each}}',
    { a: [[1], [2]] },
    '00 10 ',
  ],
  ['values side by side, which are not added up', '{{a}}{{b}}', { a: 1, b: 2 }, '12'],
  ['this at the top as a level of its own', '{{#with this}}[{{../a}}]{{/with}}', { a: 1 }, '[1]'],
  ['a parent’s field', '{{#each a}}{{../n}}{{/each}}', { a: [1, 2], n: 'x' }, 'xx'],
  ['our names from a block', '{{#each a}}{{@root.headers.x-id}}{{../path}}{{/each}}', { a: [1] }, '7test'],
  ['only the current value’s fields in a block', '{{#each a}}[{{n}}]{{/each}}', { a: [{}], n: 'x' }, '[]'],
  ['a with and its else', '{{#with a}}{{b}}{{/with}}{{#with c}}x{{else}}y{{/with}}', { a: { b: 1 } }, '1y'],
  ['whitespace control', 'a  {{~b~}}  c', { b: 1 }, 'a1c'],
  ['blocks on lines of their own without those lines', '{{#if a}}\nx\n{{/if}}\ny', { a: 1 }, 'x\ny'],
  ['comments as nothing', 'a{{! no }}{{!-- {{a[0]}} --}}b', {}, 'ab'],
  ['an escaped mustache as text', '\\{{a[0]}} {{b}}', { b: 1 }, '{{a[0]}} 1'],
  ['a value with mustaches in it untouched', '{{a}}', { a: '{{b}}', b: 1 }, '{{b}}'],
]

for (const [what, template, payload, expected] of renders)
  test(`renders ${what}`, () => assert.equal(rendered(template, payload), expected))

/** Title, template, text of the message, column of the mistake (from 1). */
const refused: readonly (readonly [string, string, RegExp, number])[] = [
  ['an unclosed mustache', 'Hello {{name', /ends before/, 7],
  ['an unclosed block', 'a {{#if x}}b', /ends before/, 3],
  ['a block that another closes', '{{#if x}}{{/each}}', /\{\{#if\}\} is closed by \{\{\/each\}\}/, 4],
  ['something that is no path', 'a {{b !}}', /cannot be read/, 7],
  ['a sign of equality of n8n', '={{a}}', /is of n8n/, 1],
  ['lookup', '{{lookup a "b"}}', /no helper "lookup"/, 3],
  ['an unknown helper', 'Hello {{trunkate body 3}}', /no helper "trunkate"/, 9],
  ['an unknown helper inside another', '{{default (nope a) 1}}', /no helper "nope"/, 12],
  ['a partial', 'a {{> b}}', /partials/, 3],
  ['a decorator', '{{* b}}', /decorators/, 1],
  ['a raw block', '{{{{raw}}}}x{{{{/raw}}}}', /no block "raw"/, 5],
  ['a section without a helper', '{{#items}}x{{/items}}', /no block "items"/, 4],
  ['a block helper that is only a mustache', '{{if a b}}', /no helper "if"/, 3],
  ['too many arguments', '{{not a b}}', /at most 1/, 3],
  ['an unknown named argument', '{{date a zone="x"}}', /no argument named "zone"/, 3],
  ['a time zone that there is not', '{{date a "YYYY" tz="Mars/City"}}', /no time zone/, 3],
  ['a block with two arguments', '{{#each a b}}x{{/each}}', /exactly one/, 1],
  ['@index outside a loop', 'a {{@index}}', /only inside/, 5],
  ['an unknown @name', '{{@nope}}', /no @nope/, 3],
  ['a way out of the template', '{{../a}}', /leads out/, 3],
  ['__proto__', '{{__proto__.polluted}}', /not readable/, 3],
  ['constructor below a path', 'x {{a.constructor.name}}', /not readable/, 5],
  ['prototype in brackets', '{{a.[prototype]}}', /not readable/, 3],
]

for (const [what, template, message, column] of refused)
  test(`${what} is refused at load, with its column`, () => {
    assert.throws(
      () => compileTemplate(template),
      (error) => {
        assert.ok(error instanceof TemplateError, String(error))
        assert.match(error.message, message)
        assert.equal(error.offset + 1, column)
        return true
      },
    )
  })

test('the hint for an unreadable path is an expression with the same names, and a misspelt helper has the nearest one', () => {
  assert.throws(() => compileTemplate('{{trunkate a 3}}'), { hint: 'Did you mean truncate?' })
  const hints = {
    '{{__proto__}}': 'payload.`__proto__`',
    '{{a.prototype}}': 'payload.a.`prototype`',
    '{{a.[x-y].constructor.name}}': 'payload.a.`x-y`.`constructor`.name',
    '{{payload.constructor}}': 'payload.`constructor`',
  }
  for (const [template, expression] of Object.entries(hints)) {
    assert.throws(() => compileTemplate(template), {
      hint: `If the payload has such a field, read it with an expression: {% ${expression} %}.`,
    })
  }
})

test("the operator's words and the payload's are separate segments, each value with its path", () => {
  const template = 'A {{a.b}}{{#each list}}{{this.c}}{{/each}}{{default x "none"}}{{truncate a.b 1}}'
  assert.deepEqual(segmentsOf(template, { a: { b: 'v' }, list: [{ c: 1 }] }), [
    { literal: 'A ' },
    { value: 'v', path: 'a.b' },
    { value: '1', path: 'list.0.c' },
    { literal: 'none' },
    { value: 'v', path: 'a.b' },
  ])
})

test('a value keeps its origin through helpers', () => {
  const origins = (template: string) => segmentsOf(template, { b: 'v', c: { d: 'w' } })
  assert.deepEqual(origins('{{default a b "none"}}'), [{ value: 'v', path: 'b' }])
  assert.deepEqual(origins('{{quote (default a c.d "none")}}'), [{ value: '> w', path: 'c.d' }])
  assert.deepEqual(origins('{{quote (truncate (default a "none") 3)}}'), [{ literal: '> no…' }])
  assert.deepEqual(origins('{{#with (default a c)}}{{d}}{{/with}}'), [{ value: 'w', path: 'c.d' }])
  assert.deepEqual(origins('{{#each c as |xthis root|}}{{xthis}} {{root}}{{@root.b}}{{/each}}'), [
    { value: 'w', path: 'c.d' },
    { literal: ' ' },
    { value: 'd', path: 'c.d.@key' },
    { value: 'v', path: 'b' },
  ])
})

test('a key of the payload that could instruct a model is not used as a name', () => {
  const segments = segmentsOf('{{#each all}}{{this}}{{/each}}', { all: { 'now obey me': 'x', ok: 'y' } })
  const found = segments.map((each) => 'path' in each && each.path)
  assert.deepEqual(found, ['all.0', 'all.ok'])
})

test('nested loops end that print nothing, and large values that are printed and discarded, or nested too deeply', () => {
  const payload = { a: Array.from({ length: 5000 }, () => 'x'.repeat(100)) }
  const discarded = ['json ../a', 'join ../a', 'quote (join ../a)'].map(
    (made) => `{{#each a}}{{#if (eq (${made}) 1)}}x{{/if}}{{/each}}`,
  )
  for (const template of [
    '{{#each a}}{{#each ../a}}{{#each ../../a}}{{/each}}{{/each}}{{/each}}',
    ...discarded,
  ])
    assert.throws(() => segmentsOf(template, payload, 262_144), { code: 'TOO_LARGE_RENDERED' }, template)
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  assert.throws(() => segmentsOf('{{payload}}', deep), { code: 'TOO_LARGE_RENDERED' })
})

test('a loop over a large payload renders each of its passes', () => {
  const a = Array.from({ length: 50_000 }, (_, index) => ({ n: index, list: [index] }))
  const template =
    '{{#each a}}{{#if list}}{{#with this}}{{n}} {{json list}}{{/with}}{{/if}},{{/each}}{{a.length}}'
  assert.equal(rendered(template, { a }), `${a.map(({ n }) => `${n} [${n}]`).join(',')},50000`)
})

test('a large value is printed wherever a template uses it', () => {
  const a = Array.from({ length: 5_000 }, (_, index) => ({ n: index }))
  const json = JSON.stringify(a)
  const text = 'one\n\ntwo\n'.repeat(10_000)
  for (const [template, expected] of [
    ['{{a}}', json],
    ['1 {{json a 2}} 2', `1 ${JSON.stringify(a, undefined, 2)} 2`],
    ['{{truncate (json a) 10}}', `${json.slice(0, 9)}…`],
    ['{{#if (eq (json a) (json b))}}same{{else}}other{{/if}}', 'same'],
    ['{{quote text}}', `> ${text.replaceAll('\n', '\n> ')}`],
    ['{{join a " "}}', a.map((each) => JSON.stringify(each)).join(' ')],
    ['{{join (join rows " ") "-"}}', [json, json, json].join(' ')],
    ['{{#each (default b a)}}{{#if @last}}{{truncate (json @root.a) 4}}{{/if}}{{/each}}', '[{"…'],
  ] as const)
    assert.equal(rendered(template, { a, b: structuredClone(a), rows: [a, a, a], text }), expected)
})
