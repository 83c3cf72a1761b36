/** The names of an action's fields: which there are, which action has them, what else they may be called, and levels of thinking. */

/** The fields that are rendered for each request, in the order in which they are. */
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

/** The fields that say something for an action; `mode` and `wakeMode` may stand for each other. */
export const fieldsOf: Readonly<Record<'wake' | 'agent', readonly FieldName[]>> = Object.freeze({
  wake: ['text', 'mode', 'wakeMode'],
  agent: fieldNames.filter((name) => name !== 'text'),
})

/** Field -> the other name it may be written under. */
export const otherNames = [
  ['text', 'textTemplate'],
  ['message', 'messageTemplate'],
] as const

export const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]
