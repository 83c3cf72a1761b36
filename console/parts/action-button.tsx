/** A button that sends a request to the gateway, after a confirmation if it cannot be undone, and reports the result. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { callApi, type Method, mayDo } from '../data/api.ts'
import { useSending } from '../data/load.ts'
import { Button } from './button.tsx'
import { Marked } from './marked.tsx'

export interface ActionProps {
  readonly path: string
  readonly method?: Method
  readonly body?: unknown
  readonly label: string
  /** The question to confirm. Default: the request is sent without one. */
  readonly confirmation?: string
  /** Announced on success. */
  readonly doneMessage: string
  readonly onDone?: () => void
  /** Renders the answer next to the button. */
  readonly renderAnswer?: (answer: unknown) => ComponentChildren
  readonly isPrimary?: boolean
}

export function ActionButton({
  path,
  method = 'POST',
  body,
  label,
  confirmation,
  doneMessage,
  onDone,
  renderAnswer,
  isPrimary,
}: ActionProps) {
  const { isBusy, answer, error, send } = useSending<unknown>()
  const [isAsking, setAsking] = useState(false)
  const confirmButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isAsking) confirmButton.current?.focus()
  }, [isAsking])

  async function act(): Promise<unknown> {
    setAsking(false)
    const answered = await callApi(method, path, { body })
    announce(doneMessage)
    onDone?.()
    return answered
  }

  if (!mayDo('operate')) return null
  if (isAsking) {
    return (
      <span class="line">
        <span>{confirmation}</span>
        <Button class="primary" ref={confirmButton} onClick={() => void send(act())}>
          {label}
        </Button>
        <Button class="ghost" onClick={() => setAsking(false)}>
          No
        </Button>
      </span>
    )
  }
  return (
    <span class="line">
      <Button
        class={isPrimary ? 'primary' : ''}
        aria-disabled={isBusy}
        onClick={() => {
          if (isBusy) return
          if (confirmation === undefined) void send(act())
          else setAsking(true)
        }}
      >
        {label}
      </Button>
      {answer !== undefined && renderAnswer?.(answer)}
      {error !== undefined && (
        <span class="problem-text" role="alert">
          <Marked text={error.message} />
        </span>
      )}
    </span>
  )
}
