/** Describes `match.body` for editors. `compile/match/` reads it. */

const scalars = [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] as const

const operators = {
  exists: { type: 'boolean', description: 'Whether the field is there; a null is.' },
  prefix: { type: 'string', minLength: 1, description: 'The string begins with this one.' },
  suffix: { type: 'string', minLength: 1, description: 'The string ends with this one.' },
  'anything-but': {
    anyOf: [...scalars, { type: 'array', minItems: 1, items: { anyOf: scalars } }],
    description: 'The field is there and equals neither this nor any of these.',
  },
  numeric: {
    type: 'array',
    minItems: 2,
    items: { anyOf: [{ type: 'string', enum: ['=', '!=', '<', '<=', '>', '>='] }, { type: 'number' }] },
    description: 'Pairs that must all hold: [">", 10, "<=", 20]. A string is no number.',
  },
  pattern: {
    type: 'string',
    minLength: 1,
    description: 'This regular expression (RE2) is found somewhere in the string.',
  },
}

/** For the `definitions` of a schema. The note `editor` of a key refers to one of them. */
export const bodyPatternDefinitions = {
  bodyPattern: {
    type: 'object',
    minProperties: 1,
    additionalProperties: { $ref: '#/definitions/bodyValue' },
    description: 'Keys of the payload, all of which must match.',
  },
  bodyValue: {
    anyOf: [
      ...scalars,
      {
        type: 'array',
        minItems: 1,
        items: { $ref: '#/definitions/bodyValue' },
        description: 'Any of these.',
      },
      {
        type: 'object',
        minProperties: 1,
        // A payload may have keys with the names of operators, so they count as operators only if all keys are.
        if: { type: 'object', propertyNames: { enum: Object.keys(operators) } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits this.
        then: { type: 'object', properties: operators },
        else: { $ref: '#/definitions/bodyPattern' },
      },
    ],
    description: 'Equal to this; any of a list; operators, all of which must hold; or keys below.',
  },
}
