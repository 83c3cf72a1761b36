/** Tries the draft at the gateway whenever typing pauses, one question at a time. */

import { useEffect, useRef } from 'preact/hooks'
import { type ApiError, callApi } from '../../data/api.ts'
import { useRead } from '../../data/load.ts'
import type { DryRun } from '../../data/types.ts'
import type { Diagnostic } from '../../parts/code-frame.tsx'
import { type Draft, parseHeaders, parseQuery } from './draft.ts'

interface Trial {
  readonly tried?: DryRun | undefined
  readonly error?: ApiError
  /** Tries once with transforms that may reach out. */
  readonly callOut: () => void
}

const pauseMs = 350

export function useDryRun({ endpoint, headers, query, payload, mapping }: Draft): Trial {
  const mayCallOut = useRef(false)
  const key = endpoint.trim() === '' ? undefined : 'try'
  const { data, error, reload } = useRead(key, (signal) => {
    const body = {
      endpoint: endpoint.trim().replace(/^\/+|\/+$/g, ''),
      headers: parseHeaders(headers),
      query: parseQuery(query),
      payload,
      withTest: true,
      ...(mapping.trim() !== '' && { mapping }),
      ...(mayCallOut.current && { callOut: true }),
    }
    mayCallOut.current = false
    return callApi<DryRun>('POST', '/try', { body, signal })
  })
  useEffect(() => {
    const timer = setTimeout(reload, pauseMs)
    return () => clearTimeout(timer)
  }, [endpoint, headers, query, payload, mapping])

  function callOut(): void {
    mayCallOut.current = true
    reload()
  }
  const diagnostics = error && diagnosticsOf(error)
  if (diagnostics !== undefined) return { tried: { diagnostics }, callOut }
  return error === undefined ? { tried: data, callOut } : { error, callOut }
}

/** A mapping that does not compile is refused with its diagnostics. */
function diagnosticsOf({ body }: ApiError): readonly Diagnostic[] | undefined {
  if (typeof body !== 'object' || body === null || !('diagnostics' in body)) return undefined
  return Array.isArray(body.diagnostics) ? body.diagnostics : undefined
}
