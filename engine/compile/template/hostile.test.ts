import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RefusalError } from '../../resolve/model/refusal.ts'
import { rendered } from './fixture.ts'
import { foreignTemplate } from './foreign-template.ts'
import { TemplateError } from './parse.ts'

const inherited =
  `__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ __lookupGetter__ map
  push charAt toFixed call`.split(/\s+/)
const bases = ['', 'payload.', 'o.', 'l.', 's.', 'n.', 't.', 'headers.', 'query.', '@root.', 'o.o.', 'l.[0].']
const payload = { o: { o: {} }, l: [[1]], s: 'text', n: 1, t: true }

for (const base of bases)
  test(`no path under "${base}" reaches a prototype`, () => {
    for (const path of inherited.map((name) => base + name)) {
      const blocks = [
        `{{#with ${path}}}{{this}}x{{/with}}`,
        `{{#each ${path}}}x{{/each}}`,
        `{{json ${path}}}`,
      ]
      const tails = ['', '.constructor', '.name', '.length', '.call'].flatMap((tail) => [
        `{{${path}${tail}}}`,
        `{{${base}[${path.slice(base.length)}]${tail}}}`,
      ])
      for (const template of [...blocks, ...tails]) assert.equal(renderedOrRefused(template), '', template)
    }
  })

/** Returns an empty text for a template that is refused at load. */
function renderedOrRefused(template: string): string {
  try {
    return rendered(template, payload)
  } catch (error) {
    if (error instanceof TemplateError) return ''
    throw error
  }
}

test('own keys with the names of prototype properties are ordinary data', () => {
  const body = '{"a":{"toString":"x","__proto__":{"b":1}}}'
  assert.equal(rendered('{{a.toString}} {{a}}', body), 'x {"toString":"x","__proto__":{"b":1}}')
  assert.equal(({} as { b?: unknown }).b, undefined)
})

const templates = [
  '{{payload}}{{a}}{{a.b.c}}{{a[0][1]}}{{a.length}}',
  '{{#each payload}}{{@key}}{{@index}}{{this}}{{#each this}}{{.}}{{../length}}{{/each}}{{else}}-{{/each}}',
  '{{#with a}}{{b}}{{../a}}{{else}}-{{/with}}',
  '{{#if a}}{{a}}{{else}}{{#unless b}}{{b}}{{/unless}}{{/if}}',
  '{{json a 2}}{{default a b "x"}}{{truncate a 5}}{{truncate b a}}{{join a}}{{join a b}}',
  '{{date a}}{{date a b}}{{date a "YYYY" tz=b}}{{eq a b}}{{and a b}}{{or a b}}{{not a}}{{plural a b}}{{quote a}}',
]

test('rendering throws nothing but refusals, whatever the payload', () => {
  const key = fc.constantFrom(...' a b __proto__ constructor length toString toJSON rawJSON'.split(' '))
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom(0, -0, 1e308, 9007199254740992, 1e21, -1e300, null, true, false, '', 'YYYY', 'UTC'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))
  fc.assert(
    fc.property(value, fc.constantFrom(...templates), (payload, template) => {
      try {
        assert.equal(typeof rendered(template, JSON.stringify(payload)), 'string')
      } catch (error) {
        assert.ok(error instanceof RefusalError, String(error))
      }
    }),
    { seed: 11, numRuns: 2000 },
  )
})

test('a placeholder of another language is found after one without an end', () =>
  assert.equal(foreignTemplate('{{a {{commits.size()}}')?.offset, 6))

test('a long text of placeholders without an end is searched only once', { timeout: 5000 }, () => {
  for (const text of ['{{', '{{a', '{', '{{{']) assert.equal(foreignTemplate(text.repeat(50_000)), undefined)
})
