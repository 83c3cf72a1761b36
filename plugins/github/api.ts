/**
 * Calls GitHub's API about webhooks of repositories and organisations, and what they sent.
 * https://docs.github.com/en/rest/repos/webhooks and https://docs.github.com/en/rest/orgs/webhooks
 */

import {
  asList,
  asNumber,
  asRecord,
  asString,
  createProviderApi,
  idOf,
  type MissedRequest,
  type ProviderAnswer,
  type ProviderApiOptions,
  type ProviderDialect,
  type RegisteredWebhook,
  type WantedWebhook,
} from '@reveille/kit'

/** The repository, as `OWNER/NAME`, or the organisation that a webhook belongs to. */
interface Owner {
  readonly repo?: string
  readonly org?: string
}

interface WantedHook extends WantedWebhook {
  readonly secret: string
}

/** One attempt to deliver. */
export interface Delivery {
  /** The id of the attempt. */
  readonly id: string
  /** The id of the event, which all attempts share, and which it sends as `X-GitHub-Delivery`. */
  readonly guid: string
  readonly event: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
  /** Status of the receiver's answer; 0 without one. */
  readonly status: number
  /** In GitHub's words, such as `failed to connect to host`. */
  readonly statusText: string
}

const dialect: ProviderDialect = {
  title: 'GitHub',
  api: 'https://api.github.com',
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
  scope:
    'the permission "Webhooks: read and write" of a fine-grained token, or the scope admin:repo_hook (admin:org_hook for an organisation) of a classic one',
  // After a secondary limit without a time GitHub asks for a minute at least, and for longer waits if it comes again.
  firstWaitMs: 60_000,
}

export type GitHubApi = ReturnType<typeof createGitHubApi>

export function createGitHubApi({ repo, org }: Owner, options: ProviderApiOptions) {
  const call = createProviderApi(dialect, options)
  const owner = repo ?? org ?? ''
  const hooks = `${repo === undefined ? '/orgs' : '/repos'}/${owner.split('/').map(encodeURIComponent).join('/')}/hooks`
  const of = `of ${owner}`

  async function* pagesOf(path: string, what: string, parameter: 'page' | 'cursor') {
    let next: string | undefined
    do {
      const from: string = next === undefined ? '' : `&${parameter}=${encodeURIComponent(next)}`
      const answer: ProviderAnswer = await call({ path: `${path}?per_page=100${from}`, what })
      yield asList(answer.json)
      next = nextIn(answer.headers.get('link'), parameter)
    } while (next !== undefined)
  }

  const configOf = ({ url, secret, events }: WantedHook) => ({
    active: true,
    events,
    config: { url, secret, content_type: 'json', insecure_ssl: '0' },
  })

  return {
    async listHooks(): Promise<readonly RegisteredWebhook[]> {
      const found: RegisteredWebhook[] = []
      for await (const page of pagesOf(hooks, `the webhooks ${of}`, 'page'))
        found.push(...page.flatMap(hookOf))
      return found
    },
    /** GitHub pings a new webhook by itself. */
    async createHook(wanted: WantedHook): Promise<string> {
      const body = { name: 'web', ...configOf(wanted) }
      const { json } = await call({ method: 'POST', path: hooks, body, what: `a new webhook ${of}` })
      return idOf(asRecord(json)?.['id']) ?? ''
    },
    async updateHook(id: string, wanted: WantedHook): Promise<void> {
      const what = `a change of the webhook ${id} ${of}`
      await call({ method: 'PATCH', path: `${hooks}/${id}`, body: configOf(wanted), what })
    },
    async deleteHook(id: string): Promise<void> {
      await call({ method: 'DELETE', path: `${hooks}/${id}`, what: `the removal of the webhook ${id} ${of}` })
    },
    async ping(id: string): Promise<void> {
      await call({ method: 'POST', path: `${hooks}/${id}/pings`, what: `a ping of the webhook ${id} ${of}` })
    },
    /** Lists attempts to deliver, the newest first, page by page. */
    async *deliveries(id: string): AsyncGenerator<readonly Delivery[]> {
      const what = `the deliveries of the webhook ${id} ${of}`
      for await (const page of pagesOf(`${hooks}/${id}/deliveries`, what, 'cursor'))
        yield page.flatMap(deliveryOf)
    },
    async readDelivery(id: string, delivery: string): Promise<MissedRequest | undefined> {
      const what = `a delivery of the webhook ${id} ${of}`
      const { json } = await call({ path: `${hooks}/${id}/deliveries/${delivery}`, what })
      const { headers, payload } = asRecord(asRecord(json)?.['request']) ?? {}
      return asRecord(payload) && { headers: headersOf(headers), body: payload }
    },
  }
}

function hookOf(value: unknown): RegisteredWebhook[] {
  const { id, config } = asRecord(value) ?? {}
  const url = asString(asRecord(config)?.['url'])
  const hookId = idOf(id)
  return hookId === undefined || url === undefined ? [] : [{ id: hookId, url }]
}

function deliveryOf(value: unknown): Delivery[] {
  const facts = asRecord(value) ?? {}
  const id = idOf(facts['id'])
  const guid = asString(facts['guid'])
  const at = Date.parse(asString(facts['delivered_at']) ?? '')
  if (id === undefined || guid === undefined || Number.isNaN(at)) return []
  return [
    {
      id,
      guid,
      event: asString(facts['event']) ?? '',
      at,
      status: asNumber(facts['status_code']) ?? 0,
      statusText: asString(facts['status']) ?? '',
    },
  ]
}

/** The headers that mappings read. Signatures are left out, because nothing is verified by them here. */
function headersOf(headers: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(asRecord(headers) ?? {}).flatMap(([name, value]) => {
      const lower = name.toLowerCase()
      return lower.startsWith('x-github-') && typeof value === 'string' ? [[lower, value]] : []
    }),
  )
}

/** The parameter of the next page in a `Link` header. Its address is not followed, since the token would go wherever it leads. */
function nextIn(link: string | null, parameter: string): string | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(link ?? '')?.[1]
  return (next === undefined ? null : URL.parse(next))?.searchParams.get(parameter) ?? undefined
}
