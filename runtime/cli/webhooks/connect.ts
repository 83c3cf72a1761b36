/** `reveille connect github | stripe`: registers the webhook by the provider's API, and writes what the gateway needs for it. */

import { randomBytes } from 'node:crypto'
import { type Configuration, isLoopback, isRecord } from '@reveille/engine'
import type { GatewayStatus } from '../../api/index.ts'
import { readEnvFile } from '../../scaffold/add-to-env-file.ts'
import { CommandFailure } from '../command-failure.ts'
import { shownPath } from '../configuration.ts'
import type { GatewayView } from '../doctor/gateway-view.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { proveArrival } from './arrival.ts'
import {
  type ConnectionEntry,
  configurationOf,
  editOrFail,
  envFileOf,
  valueAt,
  variableIn,
  withConnection,
  writeBoth,
} from './connection-file.ts'
import { type Provider, providers, type Registered } from './registrar.ts'
import {
  type ConnectOptions,
  otherApi,
  placeOf,
  registrarFor,
  reloadGateway,
  type Task,
  tokenFor,
  withProvider,
} from './task.ts'

export function connectGitHub(repo: string | undefined, options: ConnectOptions, io: Io): Promise<number> {
  return connecting(providers.github, { ...options, repo }, io)
}

export function connectStripe(options: ConnectOptions, io: Io): Promise<number> {
  return connecting(providers.stripe, options, io)
}

function connecting(provider: Provider, options: ConnectOptions, given: Io): Promise<number> {
  return withProvider(provider, options, given, async (task) => {
    const { file, text, configuration, steps, io } = task
    const endpoint = options.endpoint ?? provider.name
    const place = placeOf(task, endpoint)
    const address = await addressFor(endpoint, task)
    const token = await tokenFor(task)
    const registrar = registrarFor(task, place, token.value)

    const hooks = await registrar.list()
    steps.report({
      step: 'access',
      outcome: 'unchanged',
      detail: `${provider.title} lets the token administer webhooks of ${registrar.owner}.`,
    })
    const written = valueAt(text, ['hooks', 'endpoints', endpoint])
    const [found, others] = ownHook(hooks, address, written)
    if (others.length > 0)
      steps.warn(
        `${others.join(' and ')} of ${registrar.owner} sends to the same address: remove it there, or everything is sent twice.`,
      )

    const secret = secretFor(endpoint, task)
    const isWithCatchUp = options.catchUp !== false
    const entryWith = (hookId: string | undefined): ConnectionEntry => ({
      endpoint,
      provider: provider.name,
      addsPreset: !isMapped(configuration, endpoint),
      secret: secret.reference,
      catchUp:
        isWithCatchUp && hookId !== undefined
          ? {
              ...registrar.place,
              hookId: idToWrite(hookId),
              token: token.reference,
              ...otherApi(provider, io),
            }
          : undefined,
    })
    const edited = editOrFail(text, (each) => withConnection(each, entryWith(found?.id)), shownPath(file, io))
    const events = await eventsFor(edited, endpoint, task, secret)
    const wanted = { url: address, events }
    const facts = { provider: provider.name, ...registrar.place, endpoint, address, events }
    if (options.dryRun) {
      const does = found === undefined ? 'would make a webhook' : `would change the webhook ${found.id}`
      return {
        facts: {
          ...facts,
          dryRun: true,
          hookId: found?.id ?? null,
          configuration: { file: shownPath(file, io), changed: edited !== text },
        },
        lines: [
          `${provider.title}: it ${does} of ${registrar.owner} that sends ${events.join(', ')} to ${address}.`,
          `${shownPath(file, io)}: ${edited === text ? 'nothing would change' : `it would write the endpoint ${endpoint}`}.`,
          'Nothing was changed.',
        ],
      }
    }

    let isChanged = false
    const write = async (hookId: string | undefined, value: string) => {
      const variables = {
        ...(secret.variable !== undefined && { [secret.variable]: value }),
        ...(isWithCatchUp &&
          hookId !== undefined &&
          token.isNew && { [provider.tokenVariable]: token.value }),
      }
      const edit = (each: string) => withConnection(each, entryWith(hookId))
      if (await writeBoth({ file, variables, edit }, io)) {
        isChanged = true
        await reloadGateway(task)
      }
    }
    // The gateway has to know the secret before the provider signs with it.
    const chosen = secret.value ?? newSecret()
    if (registrar.choosesSecret) await write(found?.id, chosen)
    const kept =
      found !== undefined && (registrar.choosesSecret || secret.value !== undefined) ? found : undefined
    const made = kept === undefined ? await make() : { id: kept.id, secret: chosen }
    if (kept !== undefined) {
      await registrar.update(kept.id, wanted, chosen)
      steps.report({
        step: 'webhook',
        outcome: 'unchanged',
        detail: `The webhook ${kept.id} of ${registrar.owner} sends ${eventsText(events)} to ${address}.`,
      })
    }
    await write(made.id, made.secret)
    const wrote = `Wrote the endpoint ${endpoint} in ${shownPath(file, io)}, and its secret in .env.`
    steps.report({
      step: 'configuration',
      outcome: isChanged ? 'done' : 'unchanged',
      detail: isChanged ? wrote : `${shownPath(file, io)} says it already.`,
    })
    if (!configuration.settings.hooks.enabled)
      steps.warn('hooks.enabled is not true: no request is taken until it is.')

    const arrival = await proveArrival(registrar, { id: made.id, address, endpoint }, task)
    return {
      facts: {
        ...facts,
        hookId: made.id,
        arrival: arrival.is,
        configuration: { file: shownPath(file, io), changed: isChanged },
      },
      lines: [
        arrival.is === 'failed'
          ? `${provider.title} is registered, and its test did not arrive.`
          : `${provider.title} is connected.`,
        '',
        ...arrival.next,
        `To end it: ${pasted(`disconnect ${provider.name}${endpoint === provider.name ? '' : ` --endpoint ${endpoint}`}`, io)}`,
      ],
      exitCode: arrival.is === 'failed' ? 1 : 0,
    }

    async function make() {
      const isReplacing = found !== undefined
      if (isReplacing) await registrar.remove(found.id)
      const created = await registrar.create(wanted, chosen)
      const how = isReplacing
        ? `The webhook ${found.id}, whose secret is not known here, was replaced by`
        : 'Made'
      steps.report({
        step: 'webhook',
        outcome: 'done',
        detail: `${how} the webhook ${created.id} of ${registrar.owner}, which sends ${eventsText(events)} to ${address}.`,
      })
      return created
    }
  })
}

/** GitHub's ids are numbers, and stay numbers where a number can hold them. */
function idToWrite(id: string): string | number {
  return /^\d{1,15}$/.test(id) ? Number(id) : id
}

function eventsText(events: readonly string[]): string {
  return events.includes('*') ? 'every event' : events.join(', ')
}

function newSecret(): string {
  return randomBytes(32).toString('hex')
}

/** Where the provider is to send to: `--url`, else the tunnel of the gateway that runs. @throws CommandFailure */
async function addressFor(
  endpoint: string,
  { options, configuration, gateway, provider, steps, io }: Task,
): Promise<string> {
  const { hooks, gateway: block } = configuration.settings
  const configured = (block as { readonly publicUrl?: unknown }).publicUrl
  const base = options.url ?? (typeof configured === 'string' ? configured : await tunnelOf(gateway))
  if (base === undefined)
    throw new CommandFailure(
      2,
      `${provider.title} needs an address of this gateway on the internet: --url https://hooks.example.com, or a tunnel while this runs: ${pasted('start --tunnel', io)}`,
    )
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new CommandFailure(2, `${base} is no address: write it as https://hooks.example.com.`)
  if (
    isLoopback(url.hostname) ||
    /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cde])|\.(local|internal|localhost)$/.test(
      url.hostname,
    )
  )
    throw new CommandFailure(
      2,
      `${provider.title} cannot reach ${url.hostname}, which is an address of this machine or network. Name the one that the internet knows, or use a tunnel: ${pasted('start --tunnel', io)}`,
    )
  if (url.protocol === 'http:') {
    if (provider.name === 'stripe') throw new CommandFailure(2, 'Stripe sends to https:// alone.')
    steps.warn(
      `${url.origin} is plain http: everyone on the way can read what is sent. Have a proxy take https.`,
    )
  }
  const path = `${hooks.path}/${endpoint}`
  const given = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${given.endsWith(path) ? given : `${given}${path}`}`
}

async function tunnelOf(gateway: GatewayView): Promise<string | undefined> {
  if ((await gateway.reach()).is !== 'there') return undefined
  const status = await gateway.status().catch(() => undefined)
  return (status as Partial<GatewayStatus> | undefined)?.publicUrl ?? undefined
}

/** The webhook that is ours: the one that the configuration names, else the one that sends to the same address. */
function ownHook(
  hooks: readonly Registered[],
  address: string,
  written: unknown,
): readonly [Registered | undefined, readonly string[]] {
  const catchUp = isRecord(written) ? written['catchUp'] : undefined
  const known = isRecord(catchUp) ? String(catchUp['hookId']) : undefined
  const same = hooks.filter(({ url }) => url.replace(/\/+$/, '') === address)
  const own = hooks.find(({ id }) => id === known) ?? same[0]
  return [own, same.filter(({ id }) => id !== own?.id).map(({ id }) => `The webhook ${id}`)]
}

interface KnownSecret {
  readonly value: string | undefined
  /** Undefined: what is written stays as it is. */
  readonly variable: string | undefined
  readonly reference: string | undefined
}

/** The secret that the endpoint has already, and where a new one is to be kept. */
function secretFor(endpoint: string, { text, configuration, file, io }: Task): KnownSecret {
  const written = valueAt(text, ['hooks', 'endpoints', endpoint, 'verify', 'secret'])
  const variable =
    variableIn(written) ?? `${endpoint.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_WEBHOOK_SECRET`
  const { secret } = configuration.endpoints[endpoint]?.verify ?? {}
  const value = typeof secret === 'string' ? secret : secret?.[0]
  // A person has written it there.
  if (written !== undefined && variableIn(written) === undefined)
    return { value: value || undefined, variable: undefined, reference: undefined }
  const known = io.env[variable] || readEnvFile(envFileOf(file))[variable]
  return { value: known || undefined, variable, reference: `\${${variable}}` }
}

/** Whether a mapping that is no preset's takes the endpoint. */
function isMapped({ mappings }: Configuration, endpoint: string): boolean {
  return mappings.some(({ origin, value }) => origin.kind !== 'preset' && value.match?.path === endpoint)
}

/** The events that mappings of the endpoint ask for, unless some are named: every event where that cannot be known. */
async function eventsFor(
  edited: string,
  endpoint: string,
  { provider, options, file, steps, io }: Task,
  { variable, value }: KnownSecret,
): Promise<readonly string[]> {
  const secrets = variable === undefined ? {} : { [variable]: value ?? newSecret() }
  const token = { [provider.tokenVariable]: io.env[provider.tokenVariable] || 'not-set-yet' }
  const { mappings } = await configurationOf(file, edited, {
    ...io,
    env: { ...io.env, ...secrets, ...token },
  })
  const covering = mappings.flatMap(({ value: { match = {} } }) =>
    match.path === undefined || match.path === endpoint || match.path.includes(':') ? [match] : [],
  )
  if (covering.length === 0)
    steps.warn(
      `No mapping takes what comes of the endpoint ${endpoint}, and it is ignored: ${pasted(`init mapping ${provider.name}`, io)} copies the preset, to be changed.`,
    )
  if (options.events !== undefined) return options.events
  const events = new Set<string>()
  for (const { headers, body } of covering) {
    const asked =
      provider.name === 'github' ? headers?.['x-github-event'] : isRecord(body) ? body['type'] : undefined
    const names = typeof asked === 'string' ? [asked] : asked
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return ['*']
    for (const name of names) events.add(name)
  }
  // GitHub sends a ping to every webhook.
  if (provider.name === 'github') events.delete('ping')
  return events.size === 0 ? ['*'] : [...events].sort()
}
