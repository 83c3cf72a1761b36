/** Limits the length of a turn's answer, and remembers its content type for errors. */

import { permanentError } from '@reveille/kit'

/** Maximum size of an answer after decompression, in bytes: twice 128,000 tokens at 250 bytes of events each. */
const maxAnswerBytes = 67_108_864

export function createTraffic(fetch: typeof globalThis.fetch, limit = maxAnswerBytes) {
  let type: string | undefined
  return {
    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      const response = await fetch(input, init)
      if (response.ok) type = response.headers.get('content-type') ?? 'no type'
      if (response.body === null) return response
      const { status, statusText, headers } = response
      return new Response(response.body.pipeThrough(limited(limit)), { status, statusText, headers })
    },
    /** Returns the content type of the answer, once the vendor has begun to answer with success. */
    answerType: () => type,
  }
}

function limited(limit: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let room = limit
  return new TransformStream({
    transform(chunk, controller) {
      room -= chunk.byteLength
      if (room >= 0) return controller.enqueue(chunk)
      throw permanentError('oversized', `The answer is longer than ${limit} bytes.`)
    },
  })
}
