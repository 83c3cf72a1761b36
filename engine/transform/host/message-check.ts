/** Checks that a message has a form that workers post, because a thread that ran foreign code is not trusted. */

import { passedOver } from '../worker/openclaw.ts'
import type { FromWorker } from '../worker/protocol.ts'

type Check = (value: unknown) => boolean
type Fields = Readonly<Record<string, Check>>

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isMaybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const hasFields =
  (fields: Fields): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, check]) => check((value as Record<string, unknown>)[name]))

const isPlace = hasFields({
  file: isText,
  line: isNumber,
  column: isNumber,
  text: isText,
  caret: isMaybe(isNumber),
})
const isRefusal: Check = (value) => typeof value === 'number' && value >= 400 && value <= 499
const isPosition = hasFields({ line: isNumber, column: isNumber })
const isError = hasFields({
  name: isMaybe(isText),
  refused: isMaybe(isRefusal),
  text: isText,
  stoppedAt: isMaybe(isText),
  stack: isMaybe(isText),
  place: isMaybe(isPlace),
})
const isLevel: Check = (value) => ['debug', 'info', 'warn', 'error'].includes(value as string)

const checks: { readonly [Type in FromWorker['type']]: Check } = {
  loaded: hasFields({
    exports: hasFields({
      functions: isListOf(hasFields({ name: isText, position: isMaybe(isPosition) })),
      others: isListOf(hasFields({ name: isText, type: isText })),
    }),
    loadMs: isNumber,
    memory: isNumber,
  }),
  'load-failed': hasFields({ error: isError }),
  answered: hasFields({ call: isNumber, answer: isText, memory: isNumber }),
  failed: hasFields({ call: isNumber, error: isError, memory: isNumber }),
  escaped: hasFields({ call: isMaybe(isNumber), requestId: isMaybe(isText), error: isError }),
  advice: hasFields({ word: (value) => value === 'kind' || passedOver.some((word) => word === value) }),
  calls: hasFields({ call: isNumber, target: isText }),
  stopped: hasFields({ call: isNumber, target: isText, place: isMaybe(isPlace) }),
  exiting: hasFields({ call: isMaybe(isNumber), error: isError }),
  output: hasFields({ level: isLevel, requestId: isMaybe(isText), text: isText }),
}

export function isFromWorker(message: unknown): message is FromWorker {
  if (typeof message !== 'object' || message === null) return false
  const { type } = message as { type?: unknown }
  return (
    typeof type === 'string' && Object.hasOwn(checks, type) && checks[type as FromWorker['type']](message)
  )
}
