/** Owns the keywords of Ajv's that we replace, and those that count what a check costs. */

import { _, type Ajv, type CodeKeywordDefinition, str } from 'ajv'
import type { SchemaMeter } from './meter.ts'
import { costKeyword, loopsKeyword } from './prepare.ts'
import { uniqueItemsKeyword } from './unique-items.ts'

/** Objects of so many keys are slow to walk through. */
const manyKeys = 1000
const costOfKey = 4
const costOfOneOfMany = 25

export function addKeywords(ajv: Ajv, meter: SchemaMeter): void {
  for (const keyword of ['uniqueItems', 'maxLength', 'minLength']) ajv.removeKeyword(keyword)
  ajv.addKeyword(uniqueItemsKeyword(meter))
  ajv.addKeyword(lengthKeyword('maxLength', meter))
  ajv.addKeyword(lengthKeyword('minLength', meter))
  ajv.addKeyword({
    keyword: costKeyword,
    schemaType: 'number',
    before: '$ref',
    code: ({ gen, schema }) => {
      gen.code(_`${gen.scopeValue('func', { ref: meter.spend })}(${schema})`)
    },
  })
  const spendKeys = keySpender(meter)
  ajv.addKeyword({
    keyword: loopsKeyword,
    type: 'object',
    schemaType: 'number',
    before: 'maxProperties',
    code: ({ gen, data, schema }) => {
      gen.code(_`${gen.scopeValue('func', { ref: spendKeys })}(${data}, ${schema})`)
    },
  })
}

/** Ajv's own count all characters of every text, though its size in UTF-16 units nearly always decides. */
function lengthKeyword(keyword: 'maxLength' | 'minLength', meter: SchemaMeter): CodeKeywordDefinition {
  const lengthOf = (text: string): number => {
    meter.spend(text.length >> 1)
    let length = 0
    for (const _character of text) length++
    return length
  }
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) =>
        str`must have at ${keyword === 'maxLength' ? 'most' : 'least'} ${schemaCode} characters`,
    },
    code: (context) => {
      const { gen, data, schema } = context
      const count = gen.scopeValue('func', { ref: lengthOf })
      const fails =
        keyword === 'maxLength'
          ? _`${data}.length > ${schema} && (${data}.length > ${2 * schema} || ${count}(${data}) > ${schema})`
          : _`${data}.length < ${schema} || (${data}.length < ${2 * schema} && ${count}(${data}) < ${schema})`
      context.fail(fails)
    },
  }
}

/** The branches of a choice ask for the same object, one after another. */
function keySpender(meter: SchemaMeter): (data: object, loops: number) => void {
  return (data, loops) => {
    if (meter.counted !== data) {
      meter.keys = Object.keys(data).length
      meter.counted = data
      if (meter.keys > manyKeys) meter.spend(meter.keys * costOfOneOfMany)
    }
    meter.spend(loops * meter.keys * (meter.keys > manyKeys ? costOfOneOfMany : costOfKey))
  }
}
