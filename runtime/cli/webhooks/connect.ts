/** `reveille connect NAME`: registers the webhook by the provider's API, and writes what the gateway needs for it. */

import { randomBytes } from 'node:crypto'
import { type Configuration, coversPath, isLoopback } from '@reveille/engine'
import type { RegisteredWebhook, Registrar, WantedWebhook, WebhookOwner } from '@reveille/kit'
import type { GatewayStatus } from '../../api/index.ts'
import { readEnvFile } from '../../scaffold/add-to-env-file.ts'
import { CommandFailure } from '../command-failure.ts'
import type { GatewayView } from '../doctor/gateway-view.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { proveArrival } from './arrival.ts'
import {
  type ConnectionEntry,
  configurationOf,
  editOrFail,
  envFileOf,
  hookIdIn,
  valueAt,
  variableIn,
  withConnection,
  writeFiles,
} from './connection-file.ts'
import {
  apiOf,
  type ConnectOptions,
  openRegistrar,
  ownerOf,
  type ProviderTask,
  reloadGateway,
  type Token,
  tokenFor,
  withProvider,
} from './provider-task.ts'
import type { Connected, Done } from './task.ts'

export function connectProvider(connected: Connected, options: ConnectOptions, io: Io): Promise<number> {
  return withProvider(connected, options, io, async (task) => {
    const { text, shown, endpoint, setup, steps } = task
    const owner = ownerOf(task)
    const address = await addressFor(task)
    const token = await tokenFor(task)
    const registrar = openRegistrar(task, owner, token.value)
    const hooks = await registrar.list()
    steps.report({
      step: 'access',
      outcome: 'unchanged',
      detail: `${setup.title} lets the token administer webhooks of ${owner.name}.`,
    })
    const [found, others] = ownHook(hooks, address, valueAt(text, ['hooks', 'endpoints', endpoint]))
    if (others.length > 0)
      steps.warn(
        `${others.join(' and ')} of ${owner.name} sends to the same address: remove it there, or everything is sent twice.`,
      )
    const secret = secretFor(task)
    const plan = { owner, token, registrar, found, secret }
    const edited = editOrFail(text, (each) => withConnection(each, entryFor(task, plan, found?.id)), shown)
    const wanted = { url: address, events: await eventsFor(edited, task, secret) }
    return options.dryRun ? dryRun(task, plan, wanted, edited) : register(task, plan, wanted)
  })
}

interface Plan {
  readonly owner: WebhookOwner
  readonly token: Token
  readonly registrar: Registrar
  /** The webhook that there is already. */
  readonly found: RegisteredWebhook | undefined
  readonly secret: KnownSecret
}

function factsOf({ name, endpoint }: ProviderTask, { owner }: Plan, { url, events }: WantedWebhook) {
  return { provider: name, ...owner.keys, endpoint, address: url, events }
}

function dryRun(task: ProviderTask, plan: Plan, wanted: WantedWebhook, edited: string): Done {
  const { setup, endpoint, text, shown } = task
  const { owner, found } = plan
  const { url, events } = wanted
  const isChanged = edited !== text
  const does = found === undefined ? 'would make a webhook' : `would change the webhook ${found.id}`
  return {
    facts: {
      ...factsOf(task, plan, wanted),
      dryRun: true,
      hookId: found?.id ?? null,
      configuration: { file: shown, changed: isChanged },
    },
    lines: [
      `${setup.title}: it ${does} of ${owner.name} that sends ${events.join(', ')} to ${url}.`,
      `${shown}: ${isChanged ? `it would write the endpoint ${endpoint}` : 'nothing would change'}.`,
      'Nothing was changed.',
    ],
  }
}

async function register(task: ProviderTask, plan: Plan, wanted: WantedWebhook): Promise<Done> {
  const { name, setup, endpoint, configuration, shown, steps, io } = task
  const { owner, registrar, found, secret } = plan
  // The gateway has to know the secret before the provider signs with it.
  const chosen = secret.value ?? newSecret()
  const isWritten = registrar.choosesSecret && (await write(task, plan, found?.id, chosen))
  const kept = registrar.choosesSecret || secret.value !== undefined ? found : undefined
  const made = kept === undefined ? await create(task, plan, wanted, chosen) : { id: kept.id, secret: chosen }
  if (kept !== undefined) {
    await registrar.update(kept.id, wanted, chosen)
    steps.report({
      step: 'webhook',
      outcome: 'unchanged',
      detail: `The webhook ${kept.id} of ${owner.name} sends ${eventsText(wanted)} to ${wanted.url}.`,
    })
  }
  const isChanged = (await write(task, plan, made.id, made.secret)) || isWritten
  const wrote = `Wrote the endpoint ${endpoint} in ${shown}, and its secret in .env.`
  steps.report({
    step: 'configuration',
    outcome: isChanged ? 'done' : 'unchanged',
    detail: isChanged ? wrote : `${shown} says it already.`,
  })
  if (!configuration.settings.hooks.enabled)
    steps.warn('hooks.enabled is not true: no request is taken until it is.')

  const arrival = await proveArrival(registrar, { id: made.id, address: wanted.url }, task)
  const isLost = arrival.is === 'failed'
  const undo = `disconnect ${name}${endpoint === name ? '' : ` --endpoint ${endpoint}`}`
  return {
    facts: {
      ...factsOf(task, plan, wanted),
      hookId: made.id,
      arrival: arrival.is,
      configuration: { file: shown, changed: isChanged },
    },
    lines: [
      isLost ? `${setup.title} is registered, and its test did not arrive.` : `${setup.title} is connected.`,
      '',
      ...arrival.next,
      `To end it: ${pasted(undo, io)}`,
    ],
    exitCode: isLost ? 1 : 0,
  }
}

async function create(
  { steps }: ProviderTask,
  { owner, registrar, found }: Plan,
  wanted: WantedWebhook,
  secret: string,
) {
  if (found !== undefined) await registrar.remove(found.id)
  const created = await registrar.create(wanted, secret)
  const how =
    found === undefined ? 'Made' : `The webhook ${found.id}, whose secret is not known here, was replaced by`
  steps.report({
    step: 'webhook',
    outcome: 'done',
    detail: `${how} the webhook ${created.id} of ${owner.name}, which sends ${eventsText(wanted)} to ${wanted.url}.`,
  })
  return created
}

/** Writes the connection as far as it is known. @returns whether the configuration changed */
async function write(task: ProviderTask, plan: Plan, hookId: string | undefined, value: string) {
  const { file, setup, options, io } = task
  const { secret, token } = plan
  const keepsToken = options.catchUp !== false && hookId !== undefined && token.isNew && setup.token
  const variables = {
    ...(secret.variable !== undefined && { [secret.variable]: value }),
    ...(keepsToken && { [keepsToken.variable]: token.value }),
  }
  const edit = (text: string) => withConnection(text, entryFor(task, plan, hookId))
  const isChanged = await writeFiles({ file, variables, edit }, io)
  if (isChanged) await reloadGateway(task)
  return isChanged
}

function entryFor(task: ProviderTask, plan: Plan, hookId: string | undefined): ConnectionEntry {
  const { name, setup, endpoint, configuration, options } = task
  const { owner, secret, token } = plan
  const api = apiOf(task)
  const isOther = api !== undefined && api.replace(/\/+$/, '') !== setup.api?.default
  return {
    endpoint,
    provider: name,
    addsPreset: !isMapped(configuration, endpoint),
    secret: secret.reference,
    catchUp:
      options.catchUp === false || hookId === undefined
        ? undefined
        : { ...owner.keys, hookId: idToWrite(hookId), token: token.reference, ...(isOther && { api }) },
  }
}

/** An id that is a number is written as one where a number can hold it. */
function idToWrite(id: string): string | number {
  return /^\d{1,15}$/.test(id) ? Number(id) : id
}

function eventsText({ events }: WantedWebhook): string {
  return events.includes('*') ? 'every event' : events.join(', ')
}

function newSecret(): string {
  return randomBytes(32).toString('hex')
}

const privateHost =
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cde])|\.(local|internal|localhost)$/

/** Where the provider is to send to: `--url`, else the tunnel of the gateway that runs. @throws CommandFailure */
async function addressFor(task: ProviderTask): Promise<string> {
  const { endpoint, options, configuration, gateway, setup, steps, io } = task
  const base = options.url ?? (await tunnelOf(gateway))
  if (base === undefined)
    throw new CommandFailure(
      2,
      `${setup.title} needs an address of this gateway on the internet: --url https://hooks.example.com, or a tunnel while this runs: ${pasted('start --tunnel', io)}`,
    )
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new CommandFailure(2, `${base} is no address: write it as https://hooks.example.com.`)
  if (isLoopback(url.hostname) || privateHost.test(url.hostname))
    throw new CommandFailure(
      2,
      `${setup.title} cannot reach ${url.hostname}, which is an address of this machine or network. Name the one that the internet knows, or use a tunnel: ${pasted('start --tunnel', io)}`,
    )
  if (url.protocol === 'http:') {
    if (setup.needsHttps) throw new CommandFailure(2, `${setup.title} sends to https:// alone.`)
    steps.warn(
      `${url.origin} is plain http: everyone on the way can read what is sent. Have a proxy take https.`,
    )
  }
  const path = `${configuration.settings.hooks.path}/${endpoint}`
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
  hooks: readonly RegisteredWebhook[],
  address: string,
  written: unknown,
): readonly [RegisteredWebhook | undefined, readonly string[]] {
  const known = hookIdIn(written)
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
function secretFor({ endpoint, text, configuration, file, io }: ProviderTask): KnownSecret {
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

/** Whether a mapping that is no preset's names the endpoint. */
function isMapped({ mappings }: Configuration, endpoint: string): boolean {
  return mappings.some(({ origin, value }) => origin.kind !== 'preset' && value.match?.path === endpoint)
}

/** The events that mappings of the endpoint ask for, unless some are named: every event where that cannot be known. */
async function eventsFor(
  edited: string,
  task: ProviderTask,
  { variable, value }: KnownSecret,
): Promise<readonly string[]> {
  const { name, registration, setup, endpoint, options, file, steps, io } = task
  const token = setup.token && { [setup.token.variable]: io.env[setup.token.variable] || 'not-set-yet' }
  const secrets = variable === undefined ? {} : { [variable]: value ?? newSecret() }
  const env = { ...io.env, ...secrets, ...token }
  const { mappings } = await configurationOf(file, edited, { ...io, env })
  const covering = mappings.flatMap(({ value: { match = {} } }) =>
    coversPath(match.path, endpoint) ? [match] : [],
  )
  if (covering.length === 0)
    steps.warn(
      `No mapping takes what comes of the endpoint ${endpoint}, and it is ignored: ${pasted(`init mapping ${name}`, io)} copies the preset, to be changed.`,
    )
  if (options.events !== undefined) return options.events
  const asked = covering.map((match) => registration.eventsOf(match))
  const events = new Set(asked.flatMap((names) => names ?? []))
  return events.size === 0 || asked.includes(undefined) ? ['*'] : [...events].sort()
}
