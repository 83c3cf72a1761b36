/** Lists the fields of actions: their names and alternative names, the action of each, and the levels of thinking. */

/** The fields that are rendered for each request, in the order of rendering. */
export const fieldNames = [
  'text',
  'mode',
  'message',
  'name',
  'sessionKey',
  'wakeMode',
  'deliver',
  'channel',
  'to',
  'model',
  'thinking',
  'timeoutSeconds',
] as const
export type FieldName = (typeof fieldNames)[number]

/** The fields with an effect on an action. `mode` and `wakeMode` are interchangeable. */
export const fieldsOf: Readonly<Record<'wake' | 'agent', readonly FieldName[]>> = Object.freeze({
  wake: ['text', 'mode', 'wakeMode'],
  agent: fieldNames.filter((name) => name !== 'text'),
})

/** Pairs each field with its alternative name. */
export const otherNames = [
  ['text', 'textTemplate'],
  ['message', 'messageTemplate'],
] as const

export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]
