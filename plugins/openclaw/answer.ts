/** Reads the answers of OpenClaw: JSON from its hooks, plain text from its other routes, and HTML from proxies. */

import { asRecord, parseJson, readBody } from '@reveille/kit'

export type Answer = Awaited<ReturnType<typeof readAnswer>>

/** Maximum size of a body that is read, in bytes. OpenClaw's own responses have a few hundred. */
const maxBodyBytes = 65_536

/** Reads an answer. @throws the error of the body, unless the status is a success */
export async function readAnswer(response: Response, signal: AbortSignal) {
  const { status, ok } = response
  const text = await readBody(response, maxBodyBytes).catch((error: unknown) => {
    // A success counts without its body, which would only hold the id of the run.
    if (ok && !signal.aborted) return ''
    throw error
  })
  const object = asRecord(parseJson(text ?? ''))
  const isPage = /^\s*</.test(text ?? '') || (response.headers.get('content-type') ?? '').includes('html')
  return {
    status,
    /** The body if it is a JSON object; otherwise empty. */
    object: object ?? {},
    /** OpenClaw's own words, if there are any. */
    said: isPage || text === undefined ? undefined : saidIn(object?.['error'], text),
    /** True if a success cannot be an answer of OpenClaw's hooks, such as an HTML page. */
    isForeign: object === undefined && text?.trim() !== '',
  }
}

/** Returns the words of an answer: `{ok: false, error: "…"}` from the hooks, `Unauthorized` and the like from other routes. */
function saidIn(error: unknown, text: string): string | undefined {
  const nested = asRecord(error)?.['message'] ?? error
  if (typeof nested === 'string') return nested
  return text.length <= 200 && !text.startsWith('{') && text.trim() !== '' ? text : undefined
}
