/** A button that orders something of the gateway, asks first where that cannot be taken back, and says how it went. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from '../browser/announce.tsx'
import { type ApiError, ask, type Method, mayDo } from '../data/api.ts'
import { asApiError } from '../data/load.ts'
import { Button } from './button.tsx'
import { Marked } from './marked.tsx'

export interface OrderProps {
  readonly path: string
  readonly method?: Method
  readonly body?: unknown
  readonly label: string
  /** Asked before; without it the order goes at once. */
  readonly question?: string
  /** Said after it went well. */
  readonly done: string
  readonly after?: () => void
  /** Shows beside the button what was answered. */
  readonly shows?: (answer: unknown) => ComponentChildren
  readonly isPrimary?: boolean
}

export function OrderButton({
  path,
  method = 'POST',
  body,
  label,
  question,
  done,
  after,
  shows,
  isPrimary,
}: OrderProps) {
  const [state, setState] = useState<'ready' | 'asking' | 'ordering'>('ready')
  const [error, setError] = useState<ApiError>()
  const [answer, setAnswer] = useState<unknown>()
  const yes = useRef<HTMLButtonElement>(null)
  const isAsking = state === 'asking'
  useEffect(() => {
    if (isAsking) yes.current?.focus()
  }, [isAsking])

  async function order() {
    setState('ordering')
    setError(undefined)
    try {
      setAnswer(await ask(method, path, { body }))
      announce(done)
      after?.()
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
        <span>{question}</span>
        <Button class="primary" ref={yes} onClick={() => void order()}>
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
        aria-disabled={state === 'ordering'}
        onClick={() => {
          if (state === 'ordering') return
          if (question === undefined) void order()
          else setState('asking')
        }}
      >
        {label}
      </Button>
      {answer !== undefined && shows?.(answer)}
      {error !== undefined && (
        <span class="problem-text">
          <Marked text={error.message} />
        </span>
      )}
    </span>
  )
}
