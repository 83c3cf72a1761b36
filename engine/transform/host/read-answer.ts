/** Reads the result of a call as `write-answer.ts` writes it. */

import type { AnsweredAction, TransformAnswer } from '../port.ts'

/** `0` stands for undefined, which JSON lacks. */
type WrittenAction = Exclude<AnsweredAction, undefined> | 0
type Written =
  | { readonly kind: 'one'; readonly action: WrittenAction }
  | { readonly kind: 'list'; readonly actions: readonly WrittenAction[] }

/** @throws SyntaxError for a text that no worker writes */
export function readAnswer(text: string): TransformAnswer {
  const written: Written = JSON.parse(text)
  return written.kind === 'one'
    ? { kind: 'one', action: actionOf(written.action) }
    : { kind: 'list', actions: written.actions.map(actionOf) }
}

function actionOf(written: WrittenAction): AnsweredAction {
  return written === 0 ? undefined : written
}
