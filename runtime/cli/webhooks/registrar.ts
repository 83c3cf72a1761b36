/** Registers a webhook at a provider by its API: GitHub and Stripe behind one interface. */

import { isPluginError } from '@reveille/kit'
import {
  createGitHubApi,
  createStripeApi,
  type GitHubApi,
  type GitHubDelivery,
  type GitHubPlace,
  type ProviderApiOptions,
} from '../../sources/index.ts'

/** What differs between the providers before anything is asked. */
export interface Provider {
  readonly name: 'github' | 'stripe'
  readonly title: string
  /** The variable that holds the token of the API. */
  readonly tokenVariable: string
  /** The variable that replaces the address of the API, and that address. */
  readonly api: { readonly variable: string; readonly usual: string }
  /** The least permission of the token, in words. */
  readonly permission: string
}

export const providers: Readonly<Record<Provider['name'], Provider>> = {
  github: {
    name: 'github',
    title: 'GitHub',
    tokenVariable: 'GITHUB_TOKEN',
    api: { variable: 'GITHUB_API_URL', usual: 'https://api.github.com' },
    permission: 'a fine-grained token with "Webhooks: read and write"',
  },
  stripe: {
    name: 'stripe',
    title: 'Stripe',
    tokenVariable: 'STRIPE_API_KEY',
    api: { variable: 'STRIPE_API_URL', usual: 'https://api.stripe.com' },
    permission: 'a restricted key with "Webhook Endpoints: write" and "Events: read"',
  },
}

/** A webhook as the provider has it. */
export interface Registered {
  readonly id: string
  readonly url: string
}

export interface WantedWebhook {
  readonly url: string
  readonly events: readonly string[]
}

export interface Registrar {
  /** What the webhook belongs to, as `catchUp` names it. */
  readonly place: GitHubPlace
  /** In words: `octo-org/harbour`, or `the account`. */
  readonly owner: string
  /** False: the provider makes the secret, and shows it once. */
  readonly choosesSecret: boolean
  /** The webhooks that there are. This fails where the token may not administer them. @throws PluginError */
  list(): Promise<readonly Registered[]>
  /** Makes a webhook, and returns its id and the secret that it signs with. @throws PluginError */
  create(wanted: WantedWebhook, secret: string): Promise<{ readonly id: string; readonly secret: string }>
  /** @throws PluginError */
  update(id: string, wanted: WantedWebhook, secret: string): Promise<void>
  /** @throws PluginError */
  remove(id: string): Promise<'removed' | 'gone'>
  /** Has the provider send a test event, and resolves with how that went. Absent: the provider has none. @throws PluginError */
  readonly ping?: (id: string, pause: () => Promise<boolean>) => Promise<GitHubDelivery | undefined>
}

export function gitHubRegistrar(place: GitHubPlace, options: ProviderApiOptions): Registrar {
  const api = createGitHubApi(place, options)
  return {
    place,
    owner: api.owner,
    choosesSecret: true,
    list: api.listHooks,
    async create(wanted, secret) {
      return { id: await api.createHook({ ...wanted, secret }), secret }
    },
    update: (id, wanted, secret) => api.updateHook(id, { ...wanted, secret }),
    remove: (id) => unlessGone(() => api.deleteHook(id)),
    async ping(id, pause) {
      const before = new Set((await pingsOf(api, id)).map((each) => each.id))
      await api.ping(id)
      do {
        const fresh = (await pingsOf(api, id)).find((each) => !before.has(each.id))
        if (fresh !== undefined) return fresh
      } while (await pause())
      return undefined
    },
  }
}

/** The pings among the newest hundred deliveries. */
async function pingsOf(api: GitHubApi, id: string): Promise<readonly GitHubDelivery[]> {
  for await (const page of api.deliveries(id)) return page.filter(({ event }) => event === 'ping')
  return []
}

export function stripeRegistrar(name: string, options: ProviderApiOptions): Registrar {
  const api = createStripeApi(options)
  return {
    place: {},
    owner: 'the account',
    choosesSecret: false,
    list: api.listEndpoints,
    create: (wanted) => api.createEndpoint(wanted, name),
    update: (id, wanted) => api.updateEndpoint(id, wanted),
    remove: (id) => unlessGone(() => api.deleteEndpoint(id)),
  }
}

async function unlessGone(remove: () => Promise<void>): Promise<'removed' | 'gone'> {
  try {
    await remove()
    return 'removed'
  } catch (error) {
    if (isPluginError(error) && error.code === 'not-found') return 'gone'
    throw error
  }
}
