/** Reads the requests that two servers may read differently. */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** `statuses` are those of all answers, in order. `seen` requests are recorded; the hidden one is never among them. */
type Row = readonly [name: string, bytes: string, statuses: readonly number[], seen?: number]

/** The text of the visible request. The hidden one has another. */
export const seenText = 'smuggling-seen'

export function shapesOf(token: string) {
  const rows: readonly Row[] = parse(readFileSync(new URL('shapes.yaml', import.meta.url), 'utf8'))
  const head = `POST /hooks/wake HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
  const bodyOf = (text: string) => JSON.stringify({ text, mode: 'next-heartbeat' })
  const sizedOf = (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`
  const chunksOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
  const body = bodyOf(seenText)
  const hidden = head + sizedOf(bodyOf('smuggling-hidden'))
  const parts: Readonly<Record<string, string>> = {
    ...{ head, body, token, hidden },
    sized: sizedOf(body),
    chunks: chunksOf(body),
    hiddenChunks: chunksOf(hidden),
  }
  return rows.map(([name, written, statuses, seen = 0]) => {
    const bytes = written.replace(/\{(\w+)\}/g, (whole, part: string) => parts[part] ?? whole)
    const rest = bytes.length - bytes.indexOf('\r\n\r\n') - 4
    return { name, bytes: bytes.replace('{rest}', String(rest)), statuses, seen }
  })
}
