import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileTemplate } from '../../compile/template/compile-template.ts'
import { rendered } from '../../compile/template/fixture.ts'
import { TemplateError } from '../../compile/template/parse.ts'
import { isKnown } from './known-fields.ts'

const name = fc.constantFrom('a', 'b', 'c', 'item')
const scalar = fc.constantFrom<unknown>('x', 'y', 1, true, null, '')
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}))
const payload = fc.dictionary(name, value, { minKeys: 1, maxKeys: 4 })

const start = fc.constantFrom('', '', '', '../', '../../', './', 'this.', '@root.', 'payload.')
const step = fc.oneof(name, name, fc.constantFrom('[0]', 'length', 'p', 'q'))
const path = fc
  .tuple(start, fc.array(step, { minLength: 1, maxLength: 3 }))
  .map(([start, names]) => `${start}${names.join('.')}`)
const subject = fc.oneof(path, path, fc.constantFrom('this', '..', '../this', 'payload'))
const kind = fc.constantFrom('each', 'each', 'with', 'if')
const block = fc.tuple(kind, subject, fc.constantFrom('', '', ' as |p|', ' as |q|'))

test('a field that counts as unknown never renders a value', () => {
  let unknown = 0
  const property = fc.property(
    payload,
    fc.array(block, { maxLength: 3 }),
    fc.oneof(path, fc.constant('this')),
    (body, blocks, leaf) => {
      const open = blocks.map(
        ([kind, of, parameters]) => `{{#${kind} ${of}${kind === 'if' ? '' : parameters}}}`,
      )
      const close = blocks.toReversed().map(([kind]) => `{{/${kind}}}`)
      const template = `${open.join('')}[{{${leaf}}}]${close.join('')}`
      const offset = template.indexOf(`{{${leaf}}}]`) + 2
      let shown: string
      try {
        shown = rendered(template, body)
      } catch (error) {
        if (error instanceof TemplateError) return
        throw error
      }
      const reference = compileTemplate(template).references.find((each) => each.offset === offset)
      if (reference?.root !== 'payload' || isKnown([body], reference.steps)) return
      unknown++
      assert.match(shown, /^(\[\])*$/, JSON.stringify({ template, body }))
    },
  )
  fc.assert(property, { numRuns: 2000, seed: 11 })
  assert.ok(unknown > 200, `${unknown} fields counted as unknown`)
})
