/** Tries the draft at the gateway whenever typing pauses, one question at a time. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, callApi } from '../../data/api.ts'
import { asApiError } from '../../data/load.ts'
import type { Replayed } from '../../data/types.ts'
import type { Diagnostic } from '../../parts/code-frame.tsx'
import { type Draft, parseHeaders, parseQuery } from './draft.ts'

/** The answer of `POST /try`. */
export type Tried = Partial<Pick<Replayed, 'decision' | 'status' | 'explanation' | 'stops'>> & {
  /** Problems of the mapping. */
  readonly diagnostics?: readonly Diagnostic[]
  /** A mapping file with a test that expects this. */
  readonly test?: string
}

export interface DryRun {
  readonly tried?: Tried
  readonly error?: ApiError
  readonly isBusy: boolean
  /** Tries once with transforms that may reach out. */
  readonly callOut: () => void
}

const pauseMs = 350

export function useDryRun(draft: Draft): DryRun {
  const [state, setState] = useState<Omit<DryRun, 'callOut'>>({ isBusy: false })
  const leaving = useRef<AbortController | undefined>(undefined)
  const { endpoint, headers, query, payload, mapping } = draft

  function start(callOut: boolean): void {
    leaving.current?.abort()
    const own = new AbortController()
    leaving.current = own
    setState((last) => ({ ...last, isBusy: true }))
    const body = {
      endpoint: endpoint.trim().replace(/^\/+|\/+$/g, ''),
      headers: parseHeaders(headers),
      query: parseQuery(query),
      payload,
      withTest: true,
      ...(mapping.trim() !== '' && { mapping }),
      ...(callOut && { callOut }),
    }
    callApi<Tried>('POST', '/try', { body, signal: own.signal }).then(
      (tried) => setState({ tried, isBusy: false }),
      (error: unknown) => {
        if (own.signal.aborted) return
        const failed = asApiError(error)
        const found = diagnosticsOf(failed)
        setState(found ? { tried: { diagnostics: found }, isBusy: false } : { error: failed, isBusy: false })
      },
    )
  }

  useEffect(() => {
    if (endpoint.trim() === '') {
      leaving.current?.abort()
      setState({ isBusy: false })
      return
    }
    const timer = setTimeout(() => start(false), pauseMs)
    return () => clearTimeout(timer)
  }, [endpoint, headers, query, payload, mapping])
  useEffect(() => () => leaving.current?.abort(), [])

  return { ...state, callOut: () => start(true) }
}

/** A mapping that does not compile is refused with its diagnostics. */
function diagnosticsOf({ body }: ApiError): readonly Diagnostic[] | undefined {
  if (typeof body !== 'object' || body === null || !('diagnostics' in body)) return undefined
  return Array.isArray(body.diagnostics) ? body.diagnostics : undefined
}
