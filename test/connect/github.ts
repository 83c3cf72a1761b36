/**
 * A fake of GitHub's API about webhooks, with its limits. Its answers have the types that GitHub publishes of its API, ids of
 * deliveries are as long as GitHub's, and what it sends goes over HTTP, signed.
 */

import { randomUUID } from 'node:crypto'
import type { components, operations } from '@octokit/openapi-types'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
} from '../../plugins/kit/fake-server/index.ts'
import { signedByGitHub } from '../signed.ts'

type Schemas = components['schemas']
type NewHook = NonNullable<operations['repos/create-webhook']['requestBody']>['content']['application/json']

const hourMs = 3_600_000
/** https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api */
const callsInHour = 5000
const pointsInMinute = 900
/** https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries */
const keptMs = 3 * 24 * hourMs

export interface FakeGitHubOptions {
  now(): number
  /** Where what is sent to a public address really goes; undefined: nothing is there. */
  reach(url: string): string | undefined
  /** Calls in an hour. Default: GitHub's 5,000. */
  readonly callsInHour?: number
}

interface Hook {
  readonly id: number
  /** `repos/octo-org/harbour`. */
  readonly place: string
  config: { url: string; content_type: string; insecure_ssl: string; secret?: string }
  events: readonly string[]
  active: boolean
}

interface Delivery {
  readonly hook: number
  readonly item: Schemas['hook-delivery-item']
  readonly headers: Readonly<Record<string, string>>
  readonly payload: Readonly<Record<string, unknown>>
  readonly at: number
}

const token = 'github_pat_11FAKE0000000000000000'
const repo = 'octo-org/harbour'
const org = 'octo-org'

export type FakeGitHub = Awaited<ReturnType<typeof openFakeGitHub>>

export async function openFakeGitHub(options: FakeGitHubOptions) {
  const { now, reach } = options
  const hooks = new Map<number, Hook>()
  const deliveries: Delivery[] = []
  /** True if the token may administer webhooks. */
  let isAllowed = true
  let lastHook = 491_234_566
  /** Beyond 2^53, as those of GitHub are. */
  let lastDelivery = 219_001_234_567_890_000n
  let hour = { began: now(), calls: 0 }
  let minute = { began: now(), points: 0 }

  function answer(request: FakeServerRequest): FakeServerAnswer {
    const limited = limit(request)
    const { left } = limited
    const headers = {
      'x-ratelimit-limit': String(options.callsInHour ?? callsInHour),
      'x-ratelimit-remaining': String(Math.max(0, left)),
      'x-ratelimit-reset': String(Math.ceil((hour.began + hourMs) / 1000)),
    }
    const given = limited.answer ?? answerTo(request)
    return { ...given, headers: { ...headers, ...given.headers } }
  }

  function limit({ method }: FakeServerRequest): { left: number; answer?: FakeServerAnswer } {
    if (now() - hour.began >= hourMs) hour = { began: now(), calls: 0 }
    if (now() - minute.began >= 60_000) minute = { began: now(), points: 0 }
    hour.calls += 1
    const left = (options.callsInHour ?? callsInHour) - hour.calls
    if (left < 0) return { left, answer: refusal(403, 'API rate limit exceeded for user ID 1.') }
    minute.points += method === 'GET' ? 1 : 5
    if (minute.points > pointsInMinute) {
      const wait = String(Math.ceil((minute.began + 60_000 - now()) / 1000))
      const text = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
      return { left, answer: { ...refusal(403, text), headers: { 'retry-after': wait } } }
    }
    return { left }
  }

  function answerTo(request: FakeServerRequest): FakeServerAnswer {
    const { method, path, headers, query } = request
    if (!headers['user-agent']) return refusal(403, 'Request forbidden by administrative rules.')
    if (headers['authorization'] !== `Bearer ${token}`) return refusal(401, 'Bad credentials')
    const [, place = '', rest = ''] =
      /^\/(repos\/[^/]+\/[^/]+|orgs\/[^/]+)\/hooks(.*)$/.exec(path) ?? assertKnown(path)
    if (place !== `repos/${repo}` && place !== `orgs/${org}`) return refusal(404, 'Not Found')
    if (!isAllowed) return refusal(403, 'Resource not accessible by personal access token')
    if (rest === '' && method === 'GET') {
      const all = [...hooks.values()].filter((hook) => hook.place === place).map(shownHook)
      return paged(request, all, 'page')
    }
    if (rest === '' && method === 'POST') return create(place, request.json as NewHook)
    const [, id = '', sub = ''] = /^\/(\d+)(.*)$/.exec(rest) ?? []
    const hook = hooks.get(Number(id))
    if (hook === undefined || hook.place !== place) return refusal(404, 'Not Found')
    if (sub === '' && method === 'PATCH') return update(hook, request.json as NewHook)
    if (sub === '' && method === 'DELETE') {
      hooks.delete(hook.id)
      return { status: 204 }
    }
    if (sub === '/pings' && method === 'POST') {
      ping(hook)
      return { status: 204 }
    }
    const own = deliveries.filter((each) => each.hook === hook.id && now() - each.at < keptMs).reverse()
    if (sub === '/deliveries' && method === 'GET') {
      const cursor = query.get('cursor')
      const from = cursor === null ? 0 : own.findIndex(({ item }) => String(item.id) === cursor) + 1
      return paged(
        request,
        own.slice(from).map(({ item }) => item),
        'cursor',
      )
    }
    const found = own.find(({ item }) => sub === `/deliveries/${item.id}`)
    if (found === undefined || method !== 'GET') return refusal(404, 'Not Found')
    const { item, headers: sent, payload } = found
    const whole: Omit<Schemas['hook-delivery'], 'id'> & { id: number | bigint } = {
      ...(item as Schemas['hook-delivery']),
      id: item.id,
      url: hook.config.url,
      request: { headers: sent, payload },
      response: { headers: {}, payload: null },
    }
    return { body: textOf(whole), headers: json }
  }

  function create(place: string, body: NewHook): FakeServerAnswer {
    assertKeys({ ...body }, ['name', 'config', 'events', 'active'])
    assertKeys({ ...body?.config }, configKeys)
    const { name, config, events = ['push'], active = true } = body ?? {}
    if (name !== 'web') return invalid('name', 'Name is invalid')
    const { url = '', content_type = 'form', insecure_ssl = '0', secret } = config ?? {}
    if (!/^https?:\/\/(?!localhost|127\.)/.test(url))
      return invalid('url', "url is not supported because it isn't reachable over the public Internet")
    const same = [...hooks.values()].some(
      (hook) => hook.place === place && hook.config.url === url && hook.events.join() === events.join(),
    )
    if (same) return invalid('base', 'Hook already exists on this repository')
    const hook: Hook = {
      id: ++lastHook,
      place,
      config: { url, content_type, insecure_ssl: String(insecure_ssl), ...(secret && { secret }) },
      events,
      active,
    }
    hooks.set(hook.id, hook)
    ping(hook)
    return { status: 201, body: shownHook(hook) }
  }

  function update(hook: Hook, body: NewHook): FakeServerAnswer {
    assertKeys({ ...body }, ['config', 'events', 'add_events', 'remove_events', 'active'])
    assertKeys({ ...body?.config }, configKeys)
    const { config, events, active } = body ?? {}
    if (config) hook.config = { ...hook.config, ...(config as Hook['config']) }
    if (events) hook.events = events
    if (active !== undefined) hook.active = active
    return { body: shownHook(hook) }
  }

  function ping(hook: Hook): void {
    const payload = { zen: 'Keep it logically awesome.', hook_id: hook.id, hook: shownHook(hook) }
    void deliver(hook, 'ping', payload)
  }

  async function deliver(
    hook: Hook,
    event: string,
    payload: Readonly<Record<string, unknown>>,
    guid: string = randomUUID(),
  ): Promise<void> {
    const body = JSON.stringify(payload)
    const headers = {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/fake000',
      'x-github-delivery': guid,
      'x-github-event': event,
      'x-github-hook-id': String(hook.id),
      ...(hook.config.secret && signedByGitHub(body, hook.config.secret)),
    }
    const [status_code, status] = await post(hook.config.url, headers, body)
    const { action = null } = payload
    const item: Schemas['hook-delivery-item'] = {
      id: ++lastDelivery,
      guid,
      delivered_at: new Date(now()).toISOString(),
      redelivery: false,
      duration: 0.2,
      status,
      status_code,
      event,
      action: action as string | null,
      installation_id: null,
      repository_id: 1,
      throttled_at: null,
    }
    deliveries.push({ hook: hook.id, item, headers, payload, at: now() })
  }

  async function post(url: string, headers: Record<string, string>, body: string): Promise<[number, string]> {
    const there = reach(url)
    if (there === undefined) return [502, 'failed to connect to host']
    try {
      const response = await fetch(there, { method: 'POST', headers, body })
      await response.body?.cancel()
      return [response.status, response.ok ? 'OK' : 'Invalid HTTP Response']
    } catch {
      return [502, 'failed to connect to host']
    }
  }

  /** @throws for a path that GitHub's API has not, since that is a mistake of the caller */
  function assertKnown(path: string): never {
    throw new Error(`GitHub has no ${path}`)
  }

  function shownHook({ id, place, config, events, active }: Hook): Schemas['org-hook'] {
    const url = `https://api.github.com/${place}/hooks/${id}`
    return {
      id,
      type: 'Repository',
      name: 'web',
      active,
      events: [...events],
      config: { ...config, ...(config.secret && { secret: '********' }) },
      url,
      ping_url: `${url}/pings`,
      deliveries_url: `${url}/deliveries`,
      created_at: new Date(now()).toISOString(),
      updated_at: new Date(now()).toISOString(),
    }
  }

  const server = await openFakeServer({ answer })
  return {
    ...server,
    token,
    repo,
    hooks: () => [...hooks.values()],
    /** Sends an event to every webhook that wants it, whether it is taken or not. Returns its id. */
    async emit(event: string, payload: Readonly<Record<string, unknown>>): Promise<string> {
      const guid = randomUUID()
      for (const hook of hooks.values())
        if (hook.active && (hook.events.includes('*') || hook.events.includes(event)))
          await deliver(hook, event, payload, guid)
      return guid
    },
    /** Makes a webhook as a person does in the settings. */
    addHook(url: string, secret: string, events: readonly string[] = ['*'], place = `repos/${repo}`): number {
      const config = { url, secret, content_type: 'json', insecure_ssl: '0' }
      hooks.set(++lastHook, { id: lastHook, place, config, events, active: true })
      return lastHook
    },
    deliveries,
    allow(isIt: boolean): void {
      isAllowed = isIt
    },
  }
}

const configKeys = ['url', 'content_type', 'secret', 'insecure_ssl']

/** @throws for a key that GitHub's description does not have */
function assertKeys(body: object, known: readonly string[]): void {
  const unknown = Object.keys(body).filter((key) => !known.includes(key))
  if (unknown.length > 0) throw new Error(`GitHub knows no ${unknown.join(', ')}`)
}

const json = { 'content-type': 'application/json' }

function paged(
  { path, query }: FakeServerRequest,
  all: readonly object[],
  parameter: 'page' | 'cursor',
): FakeServerAnswer {
  const size = Math.min(100, Number(query.get('per_page') ?? 30))
  const page = parameter === 'page' ? Number(query.get('page') ?? 1) : 1
  const items = all.slice((page - 1) * size, page * size)
  const last = items.at(-1) as { readonly id: unknown } | undefined
  const hasMore = all.length > page * size
  const next = parameter === 'page' ? String(page + 1) : String(last?.id)
  const link = `<https://api.github.com${path}?per_page=${size}&${parameter}=${next}>; rel="next"`
  return { body: textOf(items), headers: { ...json, ...(hasMore && { link }) } }
}

/** JSON with integers beyond 2^53. */
function textOf(value: unknown): string {
  const raw = JSON as unknown as { rawJSON(text: string): unknown }
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'bigint' ? raw.rawJSON(String(inner)) : inner,
  )
}

function refusal(status: number, message: string): FakeServerAnswer {
  return {
    status,
    body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  }
}

function invalid(field: string, message: string): FakeServerAnswer {
  const errors = [{ resource: 'Hook', field, code: 'custom', message }]
  return {
    status: 422,
    body: { message: 'Validation Failed', errors, documentation_url: 'https://docs.github.com/rest' },
  }
}
