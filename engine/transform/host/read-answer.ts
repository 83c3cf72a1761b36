/** Reads the result of a call that a worker has written. */

import { isRecord } from '../../config/values/is-record.ts'
import type { AnsweredAction, TransformAnswer } from '../port.ts'

/** Undefined for a text that no worker writes. */
export function readAnswer(text: string): TransformAnswer | undefined {
  const written = parse(text)
  if (!isRecord(written)) return undefined
  const { kind, action, actions } = written
  if (kind === 'one' && isAction(action)) return { kind, action: actionOf(action) }
  if (kind === 'list' && Array.isArray(actions) && actions.every(isAction)) {
    return { kind, actions: actions.map(actionOf) }
  }
  return undefined
}

type WrittenAction = Exclude<AnsweredAction, undefined> | 0

/** `0` stands for undefined, which JSON lacks; see `write-answer.ts`. */
function actionOf(written: WrittenAction): AnsweredAction {
  return written === 0 ? undefined : written
}

function isAction(value: unknown): value is WrittenAction {
  if (value === null || value === 0) return true
  return isRecord(value) && Object.values(value).every(isField)
}

function isField(value: unknown): boolean {
  if (!isRecord(value)) return false
  return 'value' in value || (Array.isArray(value['prompt']) && value['prompt'].every(isSegment))
}

function isSegment(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { literal, value: text, path } = value
  return typeof literal === 'string' || (typeof text === 'string' && typeof path === 'string')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
