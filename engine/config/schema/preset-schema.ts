/** Defines the schema of `hooks.presets`: the presets in use, and their adjustments. */

import * as key from './keywords.ts'
import { type MappingValue, mappingSchema } from './mapping-schema.ts'
import { Type } from './type.ts'

/** The fields that can be adjusted in all mappings of a preset whose action has them. */
export const adjustableFields = {
  wake: ['mode'],
  agent: [
    'wakeMode',
    'deliver',
    'channel',
    'to',
    'deliverTo',
    'model',
    'thinking',
    'timeoutSeconds',
    'runner',
  ],
} as const satisfies Readonly<Record<MappingValue['action'], readonly (keyof MappingValue)[]>>

export type AdjustableField = (typeof adjustableFields)[MappingValue['action']][number]

/** A preset in use, with its name and adjustments. */
export interface PresetUse extends Readonly<Pick<MappingValue, AdjustableField>> {
  readonly name: string
  readonly path?: string
}

const fields = Object.fromEntries(
  Object.values(adjustableFields)
    .flat()
    .map((name) => [name, mappingSchema.properties[name]]),
)

export const presetList = key.list(
  'Built-in mappings: a name, or a name with keys that override those of its mappings.',
  Type.Unsafe<string | PresetUse>({
    type: ['string', 'object'],
    minLength: 1,
    pattern: '\\S',
    properties: {
      name: key.required(key.text('The preset.')),
      path: key.text('Endpoint, in place of the usual one.'),
      ...fields,
    },
    required: ['name'],
    additionalProperties: false,
    expects: "a preset's name, or a map of its `name` and what is different",
  }),
  { default: [] },
)
