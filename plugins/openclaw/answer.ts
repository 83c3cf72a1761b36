/** Owns reading what OpenClaw answers: JSON from its hooks, plain text from what stands before them, HTML from others. */

import { type Facts, parseJson, recordOf } from '@reveille/kit'

export interface Answer {
  readonly status: number
  /** The body as JSON, if it is an object. */
  readonly object: Facts
  /** OpenClaw's own words about what is wrong, or about nothing. */
  readonly said: string | undefined
  /** Whether it is a page, or something else that OpenClaw's hooks never answer. */
  readonly isForeign: boolean
}

/** Of a body that is read at all. What OpenClaw answers has some hundred. Bytes. */
const longestBody = 65_536

/** @throws what the body throws, unless the status says that all is well */
export async function readAnswer(response: Response, signal: AbortSignal): Promise<Answer> {
  const { status, ok } = response
  const text = await readText(response).catch((error: unknown) => {
    // Taken is taken: what it would have said besides is the run's id at most.
    if (ok && !signal.aborted) return ''
    throw error
  })
  const object = recordOf(parseJson(text))
  const isPage = /^\s*</.test(text) || (response.headers.get('content-type') ?? '').includes('html')
  const isForeign = ok ? object === undefined && text.trim() !== '' : isPage
  return {
    status,
    object: object ?? {},
    said: isPage ? undefined : saidIn(object?.['error'], text),
    isForeign,
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    bytes += chunk.length
    if (bytes > longestBody) break
  }
  return text
}

/** `{ok: false, error: "…"}` from the hooks; `Unauthorized` and the like from before them. */
function saidIn(error: unknown, text: string): string | undefined {
  const nested = recordOf(error)?.['message'] ?? error
  if (typeof nested === 'string') return nested
  return text.length <= 200 && !text.startsWith('{') && text.trim() !== '' ? text : undefined
}
