/** Sends the canaries in requests with every outcome. */

import { gzipSync } from 'node:zlib'
import { hmacOf, signedByGitHub } from '../../signed.ts'
import { sendRaw } from '../raw/dial.ts'
import { bodies, configured, credentials, echoed, heads, ids } from './canaries.ts'

export interface Sent {
  readonly name: string
  readonly status: number
  /** The code of the answer, or the outcome if there is none. */
  readonly code: string
  /** The status line, headers and body as they came. */
  readonly text: string
}

type Heads = Readonly<Record<string, string>>

/** These headers go with every request. */
const always: Heads = {
  'x-custom': heads.header,
  'user-agent': heads['user-agent'],
  cookie: `session=${credentials.cookie}`,
  'proxy-authorization': `Basic ${btoa(`me:${credentials['proxy-authorization']}`)}`,
}
const right: Heads = { authorization: `Bearer ${configured['hook-token']}` }
const query = `?note=${heads['query-note']}&${heads['query-name']}=1`
const fields = {
  text: bodies.text,
  number: Number(bodies.number),
  [bodies.key]: 1,
  password: bodies.hidden,
  deep: [{ a: bodies.nested }],
}
export const payload = JSON.stringify(fields)
const other = (changed: object) => JSON.stringify({ ...fields, ...changed })

/** `tunnel` is the address of the listener for hooks alone. */
export async function sendAll(address: string, tunnel: string): Promise<Sent[]> {
  const all: Sent[] = []
  const send = async (
    name: string,
    endpoint: string,
    headers: Heads = right,
    body: string | Buffer<ArrayBuffer> = payload,
    method = 'POST',
    at = address,
  ) => {
    const answer = await fetch(`${at}/hooks/${endpoint}${endpoint.includes('?') ? '&' : query}`, {
      method,
      headers: { ...always, ...headers },
      ...(method !== 'GET' && { body }),
    })
    const text = await answer.text()
    const shown = `${answer.status} ${JSON.stringify([...answer.headers])}\n${text}`
    all.push({ name, status: answer.status, code: codeIn(text), text: shown })
  }

  for (const endpoint of ['plain', 'wake-up', 'blabbing', 'nobody']) await send('accepted', endpoint)
  await send('accepted', 'wake', right, other({ mode: 'now' }))
  await send('accepted', 'agent', right, other({ message: bodies.text }))
  await send(
    'a form',
    'plain',
    { ...right, 'content-type': 'application/x-www-form-urlencoded' },
    `text=${bodies.form}&${bodies.key}=1`,
  )
  await send('compressed', 'plain', { ...right, 'content-encoding': 'gzip' }, Buffer.from(gzipSync(payload)))
  await send('an old token', 'plain', { authorization: `Bearer ${configured['old-hook-token']}` })
  await send(
    'a token in the address',
    `plain?token=${configured['hook-token']}&note=${heads['query-note']}`,
    {},
  )
  await send('its own token', 'own', { 'x-gateway-token': configured['endpoint-token'] })
  await send('ignored', 'picky')
  await send('skipped', 'none')
  await sendEchoed()
  for (const _ of [1, 2]) await send('a duplicate', 'once')
  for (const text of [bodies.text, bodies.nested])
    await send(
      'one key, two bodies',
      'wake',
      { ...right, 'idempotency-key': heads.delivery },
      other({ text }),
    )

  const refusing =
    'expression absent session schema typed modelled channelled many transformed declined unknown'
  for (const endpoint of refusing.split(' ')) await send('refused', endpoint)
  await send('refused', 'large', right, other({ list: Array(400).fill(1) }))
  for (const _ of [1, 2]) await send('too often', 'rated')
  for (const name of 'channel model thinking sessionKey timeoutSeconds deliver wakeMode'.split(' '))
    await send('a wrong field', 'agent', right, other({ message: 'x', [name]: bodies.text }))
  await send('a wrong field', 'agent', right, other({ message: 'x', name: [bodies.text] }))
  await send('the reserved session', 'agent', right, other({ message: 'x', sessionKey: 'main' }))
  await send('a channel that is not configured', 'agent', right, other({ message: 'x', channel: 'slack' }))
  await send('a blank message', 'agent', right, other({ message: ' ' }))
  await send('a wrong mode', 'wake', right, other({ mode: bodies.text }))

  for (const body of [
    `{"text":"${bodies.malformed}"`,
    `"${bodies.malformed}"`,
    `{"${bodies.malformed}":${'['.repeat(1100)}${' '.repeat(70_000)}`,
    `{"text":"${bodies.malformed}","pad":"${'x'.repeat(101_000)}"}`,
    Buffer.from(`{"text":"${bodies.malformed}\xff"}`, 'latin1'),
  ])
    for (const endpoint of ['wake', 'plain']) await send('malformed', endpoint, right, body)
  await send(
    'malformed',
    'plain',
    { ...right, 'content-type': 'application/x-www-form-urlencoded' },
    `${bodies.malformed}=&`.repeat(200) + '&'.repeat(1200),
  )
  await send('wrongly compressed', 'plain', { ...right, 'content-encoding': 'gzip' })
  await send('unknown encoding', 'plain', { ...right, 'content-encoding': heads.header })
  await send(
    'the parts of a browser form',
    'plain',
    { ...right, 'content-type': `multipart/form-data; boundary=${heads.header}` },
    `--${heads.header}\r\nContent-Disposition: form-data; name="${bodies.key}"\r\n\r\n${bodies.form}\r\n`,
  )
  for (const where of [
    `plain?${heads['query-name']}=%ff${heads['query-note']}`,
    `plain/${heads['query-note']}%ff?a=1`,
  ])
    await send('an address that is not UTF-8', where)
  await send('another method', 'plain', right, payload, 'PUT')

  await send('through a tunnel', 'open', right, payload, 'POST', tunnel)

  await send('signed', 'github', {
    ...signedByGitHub(payload, configured['github-secret']),
    'x-github-delivery': ids['delivery-id'],
  })
  await send('signed', 'custom', { 'x-custom-signature': hmacOf(payload, configured['hmac-secret']) })
  await send('a token of the provider', 'gitlab', { 'x-gitlab-token': configured['gitlab-token'] })
  const verify = `hub.mode=subscribe&hub.verify_token=${configured['meta-verify-token']}`
  await send('a handshake', `meta?${verify}&hub.challenge=1234&note=${heads['query-note']}`, {}, '', 'GET')

  for (const headers of [
    { authorization: `Bearer ${credentials['wrong-token']}` },
    { authorization: `Basic ${btoa(credentials.basic)}` },
    { 'x-gateway-token': credentials['wrong-token'] },
    { 'x-openclaw-token': credentials['wrong-token'] },
    { 'x-gitlab-token': credentials['foreign-token'] },
  ] as Heads[])
    for (const endpoint of ['plain', 'gitlab']) await send('not believed', endpoint, headers)
  await send('not believed', `plain?token=${credentials['query-token']}`, {})
  await send(
    'a wrong handshake',
    `meta?hub.mode=subscribe&hub.verify_token=${credentials['query-token']}&hub.challenge=${heads['query-note']}`,
    {},
    '',
    'GET',
  )
  for (const [endpoint, headers] of Object.entries<Heads>({
    github: { 'x-hub-signature-256': `sha256=${heads.signature}`, 'x-hub-signature': heads.signature },
    stripe: { 'stripe-signature': `t=1,v1=${heads.signature}` },
    twilio: { 'x-twilio-signature': heads.signature },
    meta: { 'x-hub-signature-256': heads.signature },
    custom: { 'x-custom-signature': heads.signature },
  }))
    for (const _ of [1, 2, 3]) await send('wrongly signed', endpoint, headers)

  /** Not where a mapping puts it into a message, because the operator reads that. */
  async function sendEchoed(): Promise<void> {
    const secret = echoed['echoed-key']
    const headers = { ...right, 'x-note': secret }
    await send('a known secret', `plain?note=${secret}`, headers, other({ deep: [secret] }))
    for (const endpoint of ['picky', 'transformed'])
      await send('a known secret', endpoint, headers, other({ text: secret }))
  }

  for (const [name, bytes] of Object.entries(raw)) {
    const { text, statuses } = await sendRaw(Number(new URL(address).port), [Buffer.from(bytes)], {
      answers: 1,
    })
    all.push({ name, status: statuses[0] ?? 0, code: codeIn(text), text })
  }
  return all
}

const head = `POST /hooks/plain${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${configured['hook-token']}\r\n`
const raw: Heads = {
  'no HTTP': `${bodies.malformed}\r\n\r\n`,
  'a broken header': `${head}${heads.header}\r\n\r\n`,
  'headers without end': `${head}X-Custom: ${heads.header.repeat(2000)}\r\n\r\n`,
  'a broken chunk': `${head}Transfer-Encoding: chunked\r\n\r\n${bodies.malformed}\r\n`,
  'a body that never ends': `${head}Content-Length: 100\r\n\r\n${bodies.malformed}`,
}

export function codeIn(text: string): string {
  return /"(?:code|outcome)":"([^"]*)"/.exec(text)?.[1] ?? ''
}
