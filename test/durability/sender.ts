/** Posts as fast as answers come back, and remembers every 2xx. */

import { Agent, request } from 'node:http'

export interface Acknowledged {
  readonly requestId: string
  readonly runId?: string
  readonly eventId?: string
  /** Absent if the request was new. */
  readonly outcome?: string
  /** The status of the answer. */
  readonly status: number
  /** The body of the answer. */
  readonly post: Post
}

export interface Post {
  readonly path: string
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the body this long after its headers. Milliseconds. Default: together. */
  readonly bodyAfter?: number
}

/** Tolerates broken connections, which the test causes. Any answer but a 2xx or a 503 is a failure of the gateway. */
export function createSender(options: { url: string; token: string; connections: number; next: () => Post }) {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections })
  const acknowledged: Acknowledged[] = []
  const unexpected: string[] = []
  let broken = 0
  let stopped = false
  let onFirst: (() => void) | undefined

  const lines = Array.from({ length: options.connections }, async () => {
    while (!stopped) {
      const next = options.next()
      const answer = await post(next).catch(() => undefined)
      if (answer === undefined) {
        broken++
        // A starting gateway needs the processor more than the sender does.
        await new Promise((resolve) => setTimeout(resolve, 25))
      } else if (answer.status < 300) {
        acknowledged.push({ ...JSON.parse(answer.text), status: answer.status, post: next })
        onFirst?.()
      } else if (answer.status !== 503) unexpected.push(`${answer.status} ${answer.text}`)
    }
  })

  function post(post: Post): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        options.url + post.path,
        {
          method: 'POST',
          agent,
          headers: {
            authorization: `Bearer ${options.token}`,
            'content-type': 'application/json',
            ...post.headers,
          },
        },
        (incoming) => {
          let text = ''
          incoming.setEncoding('utf8')
          incoming.on('data', (chunk: string) => {
            text += chunk
          })
          incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }))
          incoming.on('error', reject)
        },
      )
      outgoing.on('error', reject)
      const send = () => outgoing.end(JSON.stringify(post.body))
      if (post.bodyAfter === undefined) return send()
      outgoing.flushHeaders()
      setTimeout(send, post.bodyAfter)
    })
  }

  return {
    acknowledged,
    unexpected,
    /** The number of posts without an answer. */
    broken: () => broken,
    /** Resolves with the next 2xx. */
    answered: () =>
      new Promise<void>((resolve) => {
        onFirst = () => {
          onFirst = undefined
          resolve()
        }
      }),
    async stop() {
      stopped = true
      await Promise.all(lines)
      agent.destroy()
    },
  }
}
