/** `reveille connect NAME` registers a webhook by the provider's API, and writes what the gateway needs for it; `disconnect NAME` undoes both. */

import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type Configuration, coversPath, isLoopback, isRecord } from '@reveille/engine'
import { createPluginFetch, type Facts, type RegisteredWebhook, type WantedWebhook } from '@reveille/kit'
import type { Answer } from '../../api/routes/client.ts'
import { registrationOf } from '../../plugin/index.ts'
import { editConfiguration } from '../../scaffold/edit-configuration.ts'
import { readEnvFile } from '../../scaffold/env-file.ts'
import { createSourceClock } from '../../sources/index.ts'
import { connectionTo } from '../client.ts'
import { badUsage, failure } from '../command-failure.ts'
import { createGatewayView, type GatewayView } from '../doctor/gateway-view.ts'
import type { CommandOptions, Io } from '../io.ts'
import { proveArrival } from './arrival.ts'
import {
  configurationOf,
  editOrFail,
  envFileOf,
  keyEdits,
  presetEdit,
  removalEdits,
  unlistEdits,
  valueAt,
  variableIn,
  writeFiles,
} from './connection-file.ts'
import { type Connected, type Done, type Given, perform, type Task } from './task.ts'

/** With the options of the provider. */
interface ConnectOptions extends Pick<CommandOptions, 'endpoint' | 'dryRun'>, Given {
  readonly url?: string
  readonly events?: readonly string[]
  /** True if missed deliveries are to be caught up. Default: true. */
  readonly catchUp?: boolean
  /** Seconds to wait for the ping. */
  readonly wait?: number
}

type ProviderTask = Awaited<ReturnType<typeof openTask>>
/** The provider's side, with the token that administers it. */
type Account = Awaited<ReturnType<typeof openAccount>>
type KnownSecret = ReturnType<typeof secretFor>

interface Plan extends Account {
  /** The webhook that there is already. */
  readonly found: RegisteredWebhook | undefined
  readonly secret: KnownSecret
}

export function connectProvider(connected: Connected, io: Io, options: ConnectOptions): Promise<number> {
  return withProvider(connected, io, options, async (task) => {
    const { name, text, shown, endpoint, setup, policy, steps } = task
    const address = await addressFor(task)
    const account = await openAccount(task)
    const { owner, hooks } = account
    const detail = `${setup.title} lets the token administer webhooks of ${owner.name}.`
    steps.report({ step: 'access', outcome: 'unchanged', detail })
    const same = hooks.filter(({ url }) => url.replace(/\/+$/, '') === address)
    // The webhook that is ours is the one that the configuration names, else the one that sends to the same address.
    const found = hooks.find(({ id }) => id === policy?.hookId) ?? same[0]
    const others = same.flatMap(({ id }) => (id === found?.id ? [] : `The webhook ${id}`))
    if (others.length > 0)
      steps.warn(
        `${others.join(' and ')} of ${owner.name} sends to the same address: remove it there, or everything is sent twice.`,
      )
    const plan = { ...account, found, secret: secretFor(task) }
    const edited = editOrFail(text, (each) => withConnection(each, task, plan, found?.id), shown)
    const webhook = { url: address, events: await eventsFor(edited, task, plan.secret) }
    const facts = { provider: name, ...owner.keys, endpoint, ...{ address, events: webhook.events } }
    if (!options.dryRun) return register(task, plan, webhook, facts)
    const does = found === undefined ? 'would make a webhook' : `would change the webhook ${found.id}`
    return dryRun(
      task,
      { ...facts, hookId: found?.id ?? null },
      edited,
      `it ${does} of ${owner.name} that sends ${webhook.events.join(', ')} to ${address}`,
      `it would write the endpoint ${endpoint}`,
    )
  })
}

async function register(task: ProviderTask, plan: Plan, wanted: WantedWebhook, facts: Facts): Promise<Done> {
  const { name, setup, endpoint, configuration, shown, steps } = task
  const { owner, registrar, found, secret } = plan
  // The gateway has to know the secret before the provider signs with it.
  const chosen = secret.value ?? newSecret()
  const isWritten = registrar.choosesSecret && (await write(task, plan, found?.id, chosen))
  const kept = registrar.choosesSecret || secret.value !== undefined ? found : undefined
  if (kept !== undefined) await registrar.update(kept.id, wanted, chosen)
  else if (found !== undefined) await registrar.remove(found.id)
  const made = kept ? { id: kept.id, secret: chosen } : await registrar.create(wanted, chosen)
  const sends = `sends ${wanted.events.includes('*') ? 'every event' : wanted.events.join(', ')} to ${wanted.url}.`
  const how =
    found === undefined ? 'Made' : `The webhook ${found.id}, whose secret is not known here, was replaced by`
  steps.settle(
    'webhook',
    kept === undefined,
    `${how} the webhook ${made.id} of ${owner.name}, which ${sends}`,
    `The webhook ${made.id} of ${owner.name} ${sends}`,
  )
  const changed = (await write(task, plan, made.id, made.secret)) || isWritten
  const wrote = `Wrote the endpoint ${endpoint} in ${shown}, and its secret in .env.`
  steps.settle('configuration', changed, wrote, `${shown} says it already.`)
  if (!configuration.settings.hooks.enabled)
    steps.warn('hooks.enabled is not true: no request is taken until it is.')

  const arrival = await proveArrival(registrar, made.id, wanted.url, task)
  const isLost = arrival.outcome === 'failed'
  const undo = `disconnect ${name}${endpoint === name ? '' : ` --endpoint ${endpoint}`}`
  return {
    facts: { ...facts, hookId: made.id, arrival: arrival.outcome, configuration: { file: shown, changed } },
    lines: [
      isLost ? `${setup.title} is registered, and its test did not arrive.` : `${setup.title} is connected.`,
      '',
      ...arrival.next,
      `To end it: \`reveille ${undo}\``,
    ],
    exitCode: isLost ? 1 : 0,
  }
}

export function disconnectProvider(connected: Connected, io: Io, options: ConnectOptions): Promise<number> {
  return withProvider(connected, io, options, async (task) => {
    const { name, setup, endpoint, file, shown, text, policy, configuration, steps } = task
    const { title } = setup
    const { owner, registrar, hooks } = await openAccount(task)
    const base = options.url?.replace(/\/+$/, '')
    const addresses =
      base === undefined ? [] : [base, `${base}${configuration.settings.hooks.path}/${endpoint}`]
    const ids = hooks.flatMap(({ id, url }) => (id === policy?.hookId || addresses.includes(url) ? id : []))
    if (ids.length === 0 && policy === undefined)
      throw failure(`${title} has no webhook for the endpoint ${endpoint}, and ${shown} does not name it.`)
    const edit = (each: string) => withoutConnection(each, endpoint, name)
    const edited = editOrFail(text, edit, shown)
    const facts = { provider: name, ...owner.keys, endpoint, hookIds: ids }
    const own = `the webhook ${ids.join(' and ')}`
    if (options.dryRun) {
      const does = ids.length === 0 ? 'there is no webhook to remove' : `it would remove ${own}`
      return dryRun(task, facts, edited, does, `it would take out the endpoint ${endpoint}`)
    }
    for (const id of ids) await registrar.remove(id)
    steps.settle(
      'webhook',
      ids.length > 0,
      `Removed ${own} of ${owner.name}.`,
      `${title} has none that sends here.`,
    )
    const after = await configurationOf(file, edited, task.io)
    const gone = (policy?.variables ?? []).filter((variable) => !isNamed(variable, after))
    const variables = Object.fromEntries(gone.map((variable) => [variable, undefined]))
    const changed = await writeFiles({ file, variables, edit }, task.io)
    if (changed) await reloadGateway(task)
    const too = gone.length === 0 ? '' : `, and ${gone.join(' and ')} out of .env`
    const took = `Took the endpoint ${endpoint} out of ${shown}${too}.`
    steps.settle('configuration', changed, took, `${shown} does not name it.`)
    return {
      facts: { ...facts, configuration: { file: shown, changed } },
      lines: [`${title} is disconnected.`],
    }
  })
}

function dryRun(
  { setup, text, shown }: ProviderTask,
  facts: Facts,
  edited: string,
  does: string,
  writes: string,
): Done {
  const changed = edited !== text
  return {
    facts: { ...facts, dryRun: true, configuration: { file: shown, changed } },
    lines: [
      `${setup.title}: ${does}.`,
      `${shown}: ${changed ? writes : 'nothing would change'}.`,
      'Nothing was changed.',
    ],
  }
}

/** @returns the exit code */
function withProvider(
  connected: Connected,
  io: Io,
  options: ConnectOptions,
  work: (task: ProviderTask) => Promise<Done>,
): Promise<number> {
  return perform(connected.setup.title, io, async (task) => work(await openTask(connected, options, task)))
}

async function openTask({ name, setup }: Connected, options: ConnectOptions, task: Task) {
  const text = await readFile(task.file, 'utf8')
  const configuration = await configurationOf(task.file, text, task.io)
  const { settings } = configuration
  const registration = await registrationOf(name, settings)
  const gateway = createGatewayView(await connectionTo(settings, task.io), task.io)
  const { endpoint = name } = options
  const policy = policyIn(text, endpoint)
  return { ...task, name, setup, registration, options, endpoint, text, policy, configuration, gateway }
}

/** The policy of an endpoint as it is written: what `connect` reads of it. Undefined where there is none. */
function policyIn(text: string, endpoint: string) {
  const written = valueAt(text, ['hooks', 'endpoints', endpoint])
  if (written === undefined) return undefined
  const { verify, catchUp } = isRecord(written) ? written : {}
  const { secret } = isRecord(verify) ? verify : {}
  const { hookId, ...kept }: Facts = isRecord(catchUp) ? catchUp : {}
  return {
    secret,
    catchUp: { hookId, ...kept } as Facts,
    /** The id of the webhook that it names. */
    hookId: hookId === undefined ? undefined : String(hookId),
    /** The variables that what `connect` wrote refers to. */
    variables: [secret, kept['token']].flatMap((value) => variableIn(value) ?? []),
  }
}

/** @throws CommandFailure; PluginError where the token may not administer webhooks */
async function openAccount(task: ProviderTask) {
  const { name, setup, registration, io } = task
  const owner = ownerOf(task)
  const token = await tokenFor(task)
  const { signal } = new AbortController()
  const registrar = registration.open(owner, {
    fetch: createPluginFetch({ fetch: io.fetch, log: { debug() {} }, owner: { provider: name }, signal }),
    token: token.value,
    tokenFrom: setup.token?.variable ?? '',
    api: apiOf(task),
    clock: createSourceClock(io.now),
    signal,
  })
  return { owner, token, registrar, hooks: await registrar.list() }
}

/** The owner of the webhook: as it was named, else as the configuration says. @throws CommandFailure; PluginError */
function ownerOf({ name, registration, options, policy, endpoint }: ProviderTask) {
  const configured = policy?.catchUp ?? {}
  const owner = registration.ownerOf(options, configured)
  let before = owner
  try {
    before = registration.ownerOf({}, configured)
  } catch {
    // The configuration names nobody.
  }
  if (before.name.toLowerCase() === owner.name.toLowerCase()) return owner
  const own = `${name}-${(owner.name.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
  throw badUsage(
    `The endpoint ${endpoint} belongs to ${before.name}. Give ${owner.name} an endpoint of its own with --endpoint ${own}, or end the other first: \`reveille disconnect ${name}\``,
  )
}

/** The token of the API: from the environment, else from `.env`, else from the person. @throws CommandFailure */
async function tokenFor({ setup, file, prompts, io }: ProviderTask) {
  const { variable, permission } = setup.token ?? { variable: 'TOKEN', permission: 'a token' }
  const kept = readEnvFile(envFileOf(file))[variable]
  const existingToken = io.env[variable] || kept
  /** As the configuration refers to it. */
  const reference = `\${${variable}}`
  // A token is new where `.env` does not have it yet.
  if (existingToken) return { value: existingToken, reference, isNew: !kept }
  if (prompts === undefined) throw badUsage(`${variable} is not set. It is to hold ${permission}.`)
  const value = await prompts.secret({
    message: `The token of ${setup.title}: ${permission}`,
    validate: (answer) => (/^[\x21-\x7e]+$/.test(answer.trim()) ? undefined : 'A token without spaces.'),
  })
  return { value: value.trim(), reference, isNew: true }
}

/** @throws CommandFailure where a token would go unencrypted over the network */
function apiOf({ setup: { api }, io }: ProviderTask): string | undefined {
  const named = api && io.env[api.variable]
  if (!named) return undefined
  const url = URL.parse(named)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))) return named
  throw badUsage(`${api.variable} must be an address such as ${api.default}.`)
}

const privateHost =
  /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|\[f[cde])|\.(local|internal|localhost)$/

/** Where the provider is to send to: `--url`, else the tunnel of the gateway that runs. @throws CommandFailure */
async function addressFor(task: ProviderTask): Promise<string> {
  const { endpoint, options, configuration, gateway, setup, steps } = task
  const base = options.url ?? (await tunnelOf(gateway))
  if (base === undefined)
    throw badUsage(
      `${setup.title} needs an address of this gateway on the internet: --url https://hooks.example.com, or a tunnel while this runs: \`reveille start --tunnel\``,
    )
  const url = URL.parse(base)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw badUsage(`${base} is no address: write it as https://hooks.example.com.`)
  if (isLoopback(url.hostname) || privateHost.test(url.hostname))
    throw badUsage(
      `${setup.title} cannot reach ${url.hostname}, which is an address of this machine or network. Name the one that the internet knows, or use a tunnel: \`reveille start --tunnel\``,
    )
  if (url.protocol === 'http:') {
    if (setup.needsHttps) throw badUsage(`${setup.title} sends to https:// alone.`)
    steps.warn(
      `${url.origin} is plain http: everyone on the way can read what is sent. Have a proxy take https.`,
    )
  }
  const path = `${configuration.settings.hooks.path}/${endpoint}`
  const prefix = url.pathname.replace(/\/+$/, '')
  return `${url.origin}${prefix.endsWith(path) ? prefix : `${prefix}${path}`}`
}

async function tunnelOf(gateway: GatewayView): Promise<string | undefined> {
  if ((await gateway.reach()).kind !== 'gateway') return undefined
  const status = await gateway.status().catch(() => undefined)
  return (status as Partial<Answer<'readStatus'>> | undefined)?.publicUrl ?? undefined
}

/** The secret that the endpoint has already, and where a new one is to be kept; without a variable, what is written stays. */
function secretFor({ endpoint, policy, configuration, file, io }: ProviderTask) {
  const written = policy?.secret
  const named = variableIn(written)
  // A person has written it there.
  if (written !== undefined && named === undefined) {
    const { secret } = configuration.endpoints[endpoint]?.verify ?? {}
    return { value: (typeof secret === 'string' ? secret : secret?.[0]) || undefined, variable: undefined }
  }
  const variable = named ?? `${endpoint.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_WEBHOOK_SECRET`
  return { value: io.env[variable] || readEnvFile(envFileOf(file))[variable] || undefined, variable }
}

function newSecret(): string {
  return randomBytes(32).toString('hex')
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
      `No mapping takes what comes of the endpoint ${endpoint}, and it is ignored: \`reveille init mapping ${name}\` copies the preset, to be changed.`,
    )
  if (options.events !== undefined) return options.events
  const eventLists = covering.map((match) => registration.eventsOf(match))
  const events = new Set(eventLists.flatMap((names) => names ?? []))
  return events.size === 0 || eventLists.includes(undefined) ? ['*'] : [...events].sort()
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
  const edit = (text: string) => withConnection(text, task, plan, hookId)
  const isChanged = await writeFiles({ file, variables, edit }, io)
  if (isChanged) await reloadGateway(task)
  return isChanged
}

/** The text with the connection in it, and the preset, unless a mapping of the operator takes the endpoint. @throws NotEditable */
function withConnection(text: string, task: ProviderTask, plan: Plan, hookId: string | undefined): string {
  const { name, setup, endpoint, configuration, options } = task
  const { owner, secret, token } = plan
  const policy = ['hooks', 'endpoints', endpoint]
  const isMapped = configuration.mappings.some(
    ({ origin, value }) => origin.kind !== 'preset' && value.match?.path === endpoint,
  )
  const verify = {
    provider: name,
    ...(secret.variable !== undefined && { secret: `\${${secret.variable}}` }),
  }
  const api = apiOf(task)
  const isOther = api !== undefined && api.replace(/\/+$/, '') !== setup.api?.default
  const id = /^\d{1,15}$/.test(hookId ?? '') ? Number(hookId) : hookId
  const catchUp = { ...owner.keys, hookId: id, token: token.reference, ...(isOther && { api }) }
  const hasCatchUp = options.catchUp !== false && hookId !== undefined
  return editConfiguration(text, [
    ...(isMapped ? [] : [presetEdit(name, endpoint)]),
    ...keyEdits([...policy, 'verify'], verify),
    ...(hasCatchUp ? keyEdits([...policy, 'catchUp'], catchUp) : []),
  ])
}

/** The text without what `connect` writes. Keys and presets that a person has changed stay. @throws NotEditable */
function withoutConnection(text: string, endpoint: string, preset: string): string {
  return editConfiguration(text, [
    ...removalEdits(text, endpoint, ['verify', 'catchUp']),
    ...unlistEdits(text, preset, endpoint),
  ])
}

/** True if a file of the configuration still refers to a variable. The comments of a preset that was copied name some too. */
function isNamed(name: string, { sources }: Configuration): boolean {
  const reference = new RegExp(`^(?!\\s*#).*\\$\\{${name}\\b`, 'm')
  return [...sources.values()].some((text) => reference.test(text))
}

/** A gateway that watches its files has read them by then. */
async function reloadGateway({ gateway }: ProviderTask): Promise<void> {
  if ((await gateway.reach()).kind !== 'gateway') return
  await gateway
    .admin()
    .then((admin) => admin.ask('reload', {}, [409]))
    .catch(() => undefined)
}
