/**
 * Puts every configured secret into every place that senders and agents fill, in every encoding, and searches all that the gateway
 * shows for them: each GET route of the API, the stream, the console, the metrics, the probes and the log.
 */

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { RouteDeclaration } from '../../../runtime/api/routes/declaration.ts'
import { routes } from '../../../runtime/api/routes/index.ts'
import type { Installation } from '../../installation.ts'
import { configured, encodings, searchFor } from './canaries.ts'
import { installCanaries, untilQuiet } from './installation.ts'

/** Values that no configuration refers to are not known to be secrets. */
const { 'unused-variable': _, 'file-target': __, ...secrets } = configured
const show = searchFor(secrets)
const headers = { authorization: `Bearer ${configured['gateway-token']}` }

/** Queries without which a route refuses. */
const needed: Readonly<Record<string, readonly string[]>> = {
  '/generations/:number/file': ['path=reveille.yaml', 'path=mappings%2Fall.yaml'],
  '/generations/:number/compare': ['with=1'],
  '/find': [`q=${encodeURIComponent(`hook:${secrets['provider-key']}`)}`],
}

/** Routes that show what senders sent. */
const echoing =
  /^\/((requests|runs|events|deliveries|sessions)(\/:(id|key))?|requests\/:id\/(body|explain|as-test)|find)$/

/**
 * `isThorough` puts every secret in every encoding into the places that hold one text, such as session keys. Otherwise most secrets are
 * there in one encoding, each in another one.
 */
export async function holdEveryRoute(t: TestContext, isThorough: boolean): Promise<void> {
  const installed = await installCanaries(t)
  const address = await installed.gateway.listen()
  const stream = await follow(t, address)
  await sendSecrets(installed, isThorough)
  await untilQuiet(installed)
  const order = JSON.stringify({ filter: { outcome: 'failed' } })
  await installed.ask('/api/requests/replay', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    payload: order,
  })

  const leaks: string[] = []
  let shown = 0
  const look = (from: string, text: string) => {
    shown += text.includes('[redacted]') ? 1 : 0
    for (const what of show(text)) {
      const at = text.toLowerCase().indexOf(what.split(' as ')[1]?.toLowerCase() ?? '')
      leaks.push(`${what} in ${from}: ${text.slice(Math.max(0, at - 80), at + 80)}`)
    }
  }
  const ask = async (path: string) => {
    const { status, text, headers: given } = await installed.ask(path, { headers })
    look(`GET ${path}`, text)
    look(`headers of ${path}`, JSON.stringify(given))
    return { status, text }
  }

  for (const { method, path, query = {}, answers } of Object.values<RouteDeclaration>(routes)) {
    if (method !== 'GET' || path === '/stream') continue
    await t.test(`GET /api${path}`, async () => {
      leaks.length = 0
      shown = 0
      const statuses = new Set<number>()
      const paths = await pathsOf(path)
      assert.ok(paths.length > 0, 'there is something to ask for')
      for (const each of paths)
        for (const asked of needed[path] ?? ['limit' in query ? 'limit=500' : ''])
          statuses.add((await ask(`/api${each}?${asked}`)).status)
      // An error may repeat what was asked for.
      for (const name of Object.keys(query))
        for (const form of formsOf(secrets['provider-key']))
          await ask(`/api${paths[0]}?${name}=${encodeURIComponent(form)}`)
      if (path.includes(':'))
        for (const form of formsOf(secrets['provider-key']))
          await ask(`/api${path.replace(/:\w+/, encodeURIComponent(form))}?${needed[path]?.[0] ?? ''}`)
      assert.ok(
        Object.keys(answers).some((status) => statuses.has(Number(status))),
        `it answered ${[...statuses]}`,
      )
      assert.deepEqual(leaks, [])
      if (echoing.test(path)) assert.ok(shown > 0, 'secrets were redacted')
    })
  }
  await t.test('the stream, the console, the metrics, the probes and the log', async () => {
    leaks.length = 0
    for (const path of ['/metrics', '/healthz', '/readyz', '/console', '/console/runs']) await ask(path)
    look('the stream', stream())
    look('the log', installed.log())
    assert.match(stream(), /event: frame/)
    assert.ok(shown >= 2, 'both showed that something was redacted')
    assert.deepEqual(leaks, [])
  })

  /** Fills a parameter from the list that the path begins with. */
  async function pathsOf(path: string): Promise<string[]> {
    const [, list, rest] = /^(\/\w+)\/:\w+(.*)$/.exec(path) ?? []
    if (list === undefined) return [path]
    const { text } = await installed.ask(`/api${list}?limit=500`, { headers })
    const { items } = JSON.parse(text) as { items: Readonly<Record<string, unknown>>[] }
    const names = items.map(({ id, key, generation, name }) => String(id ?? key ?? generation ?? name))
    return names.map((name) => `${list}/${encodeURIComponent(name)}${rest}`)
  }
}

function formsOf(secret: string): string[] {
  return [...new Set(Object.values(encodings).map((encode) => encode(secret)))]
}

/** Puts each secret into names, keys, values, headers and queries, and where runners and channels repeat it in errors. */
async function sendSecrets({ post }: Installation, isThorough: boolean): Promise<void> {
  const right = { authorization: `Bearer ${configured['hook-token']}` }
  const send = (path: string, body: object, headers = {}) =>
    post(`/hooks/${path}`, body, { ...right, ...headers })
  for (const [index, secret] of Object.values(secrets).entries()) {
    const forms = formsOf(secret)
    const isWhole = isThorough || inFull.includes(secret)
    for (const form of isWhole ? forms : forms.slice(index % forms.length).slice(0, 1)) {
      const query = encodeURIComponent(form)
      const filled = ['x-note', 'user-agent', 'x-github-delivery', 'idempotency-key', 'x-forwarded-for']
      const given = Object.fromEntries(filled.map((name) => [name, form]))
      const own = { name: form, sessionKey: `hook:${form}`, deliver: true, [form]: form }
      await send(`agent?note=${query}&${query}=1`, { message: `Say ${form}`, ...own }, given)
      await send(`${query}?a=${query}`, { text: form, [form]: { [form]: [form] } }, given)
      for (const field of ['model', 'thinking', 'channel', 'to', 'timeoutSeconds'])
        await send('agent', { message: 'x', [field]: form })
    }
    const text = forms.join(' ')
    const named = Object.fromEntries(forms.map((form) => [form, form]))
    const body = { text, number: text, nothing: text, list: forms, ...named }
    for (const endpoint of endpoints) await send(endpoint, body)
    await send('wake', { text, mode: 'now' })
    await send('wake', { text, mode: text })
    await post('/hooks/plain', `{"text": "${text}`, right)
    await post('/hooks/plain', new URLSearchParams({ text: secret, [secret]: '1' }).toString(), {
      ...right,
      'content-type': 'application/x-www-form-urlencoded',
    })
    await post('/hooks/plain', text, {
      ...right,
      'content-type': text.slice(0, 40),
      'content-encoding': forms[0] ?? '',
    })
  }
}

const inFull = [secrets['provider-key'], secrets['channel-key'], secrets['hook-token']]
const endpoints = [
  ...'plain wake-up blabbing nobody once picky expression absent session schema typed modelled'.split(' '),
  ...'channelled none large transformed declined own open'.split(' '),
]

/** Follows the stream, and returns a function that says what came so far. */
async function follow(t: TestContext, address: string): Promise<() => string> {
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  const { body } = await fetch(`${address}/api/stream`, { headers, signal: leaving.signal })
  let text = ''
  const read = async () => {
    for await (const bytes of body ?? []) text += Buffer.from(bytes).toString()
  }
  read().catch(() => undefined)
  return () => text
}
