/** The provider `github`: registers webhooks of repositories and organisations, and lists what they could not deliver. */

import {
  asString,
  definePlugin,
  type Facts,
  type PingResult,
  permanentError,
  type Registration,
  unlessGone,
  type WebhookOwner,
} from '@reveille/kit'
import { createGitHubApi, type Delivery, type GitHubApi } from './api.ts'
import { missedDeliveries } from './missed.ts'

/** The configuration as `config.schema.json` checks it. */
interface CatchUp {
  readonly repo?: string
  readonly org?: string
  readonly hookId: string | number
  readonly token: string
  readonly api?: string
}

const registration: Registration = {
  ownerOf(options, configured) {
    const { repo, org } = options
    if (repo !== undefined && org !== undefined)
      throw usage('Name a repository, or an organisation with --org, but not both.')
    if (repo !== undefined && !/^[\w.-]+\/[\w.-]+$/.test(String(repo)))
      throw usage(`${repo} is no repository: write OWNER/REPO, or --org NAME for an organisation.`)
    const owner = ownerIn(options) ?? ownerIn(configured)
    if (owner === undefined)
      throw usage('Name the repository, OWNER/REPO, or an organisation with --org NAME.')
    return owner
  },

  eventsOf({ headers }) {
    const eventName = headers?.['x-github-event']
    const names = typeof eventName === 'string' ? [eventName] : eventName
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return undefined
    // A ping is sent to every webhook, and is no event to ask for.
    return names.filter((name) => name !== 'ping')
  },

  open({ keys }, call) {
    const api = createGitHubApi(keys, call)
    return {
      choosesSecret: true,
      list: api.listHooks,
      async create(wanted, secret) {
        return { id: await api.createHook({ ...wanted, secret }), secret }
      },
      update: (id, wanted, secret) => api.updateHook(id, { ...wanted, secret }),
      remove: (id) => unlessGone(() => api.deleteHook(id)),
      async ping(id, isTimeLeft): Promise<PingResult | undefined> {
        const before = new Set((await pingsOf(api, id)).map((each) => each.id))
        await api.ping(id)
        do {
          const fresh = (await pingsOf(api, id)).find((each) => !before.has(each.id))
          if (fresh !== undefined) return fresh
        } while (await isTimeLeft())
        return undefined
      },
    }
  },
}

/** The pings among the newest hundred deliveries. */
async function pingsOf(api: GitHubApi, id: string): Promise<readonly Delivery[]> {
  for await (const page of api.deliveries(id)) return page.filter(({ event }) => event === 'ping')
  return []
}

function ownerIn(facts: Facts): WebhookOwner | undefined {
  const [repo, org] = [asString(facts['repo']), asString(facts['org'])]
  if (repo !== undefined) return { keys: { repo }, name: repo }
  return org === undefined ? undefined : { keys: { org }, name: org }
}

function usage(message: string) {
  return permanentError('bad-option', message)
}

export default definePlugin<CatchUp>({
  name: 'github',
  check({ repo, org }) {
    if (repo === undefined && org === undefined)
      throw permanentError(
        'bad-configuration',
        'Write `repo: OWNER/NAME`, or `org: NAME` for an organisation.',
      )
    if (repo !== undefined && org !== undefined)
      throw permanentError(
        'bad-configuration',
        '`org` is given beside `repo`: keep the one whose settings on GitHub list the webhook.',
      )
  },
  setup: ({ config, fetch }) => ({
    providers: [
      {
        id: 'github',
        title: 'GitHub',
        connectArguments: config.repo === undefined ? ['--org', config.org ?? ''] : [config.repo],
        missedSince: (from, call) =>
          missedDeliveries(
            createGitHubApi(config, { ...config, ...call, fetch }),
            String(config.hookId),
            from,
          ),
      },
    ],
  }),
  registration,
})
