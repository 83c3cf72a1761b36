/** A button that sends a request to the gateway, after a confirmation if it cannot be undone, and reports the result. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { type ApiError, callApi, type Method, mayDo } from '../data/api.ts'
import { asApiError } from '../data/load.ts'
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
  const [state, setState] = useState<'ready' | 'asking' | 'sending'>('ready')
  const [error, setError] = useState<ApiError>()
  const [answer, setAnswer] = useState<unknown>()
  const confirmButton = useRef<HTMLButtonElement>(null)
  const isAsking = state === 'asking'
  useEffect(() => {
    if (isAsking) confirmButton.current?.focus()
  }, [isAsking])

  async function send() {
    setState('sending')
    setError(undefined)
    try {
      setAnswer(await callApi(method, path, { body }))
      announce(doneMessage)
      onDone?.()
    } catch (cause) {
      const problem = asApiError(cause)
      setError(problem)
      announce(problem.message)
    }
    setState('ready')
  }

  if (!mayDo('operate')) return null
  if (isAsking) {
    return (
      <span class="line">
        <span>{confirmation}</span>
        <Button class="primary" ref={confirmButton} onClick={() => void send()}>
          {label}
        </Button>
        <Button class="ghost" onClick={() => setState('ready')}>
          No
        </Button>
      </span>
    )
  }
  return (
    <span class="line">
      <Button
        class={isPrimary ? 'primary' : ''}
        aria-disabled={state === 'sending'}
        onClick={() => {
          if (state === 'sending') return
          if (confirmation === undefined) void send()
          else setState('asking')
        }}
      >
        {label}
      </Button>
      {answer !== undefined && renderAnswer?.(answer)}
      {error !== undefined && (
        <span class="problem-text">
          <Marked text={error.message} />
        </span>
      )}
    </span>
  )
}
