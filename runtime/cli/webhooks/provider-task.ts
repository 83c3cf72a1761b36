/** What `connect` and `disconnect` of a provider share: the configuration, the gateway, the token and the owner. */

import { readFile } from 'node:fs/promises'
import { type Configuration, isLoopback, isRecord } from '@reveille/engine'
import {
  createPluginFetch,
  type Facts,
  type Registrar,
  type Registration,
  type WebhookOwner,
} from '@reveille/kit'
import { registrationOf } from '../../plugin/index.ts'
import { readEnvFile } from '../../scaffold/add-to-env-file.ts'
import { createSourceClock } from '../../sources/index.ts'
import { connectionTo } from '../client.ts'
import { CommandFailure } from '../command-failure.ts'
import { createGatewayView, type GatewayView } from '../doctor/gateway-view.ts'
import type { CommandOptions, Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { configurationOf, envFileOf, valueAt } from './connection-file.ts'
import type { Connected } from './task.ts'
import { type Done, perform, type Task } from './task.ts'

export interface ConnectOptions extends CommandOptions {
  readonly url?: string
  readonly events?: readonly string[]
  readonly endpoint?: string
  /** Whether what was missed is asked for. Default: true. */
  readonly catchUp?: boolean
  /** How long the ping is waited for, in seconds. */
  readonly wait?: number
  readonly dryRun?: boolean
  /** The options of the provider. */
  readonly [own: string]: unknown
}

export interface ProviderTask extends Task, Connected {
  readonly registration: Registration
  readonly options: ConnectOptions
  readonly endpoint: string
  /** The text of the configuration's file. */
  readonly text: string
  readonly configuration: Configuration
  readonly gateway: GatewayView
}

/** @returns the exit code */
export function withProvider(
  { name, setup }: Connected,
  options: ConnectOptions,
  io: Io,
  work: (task: ProviderTask) => Promise<Done>,
): Promise<number> {
  return perform(setup.title, options, io, async (task) => {
    const text = await readFile(task.file, 'utf8')
    const configuration = await configurationOf(task.file, text, task.io)
    const { settings } = configuration
    const registration = await registrationOf(name, settings)
    const gateway = createGatewayView(await connectionTo(settings, task.io), task.io)
    const { endpoint = name } = options
    return work({ ...task, name, setup, registration, options, endpoint, text, configuration, gateway })
  })
}

/** The owner of the webhook: as it was named, else as the configuration says. @throws CommandFailure; PluginError */
export function ownerOf({ name, registration, options, text, endpoint, io }: ProviderTask): WebhookOwner {
  const written = valueAt(text, ['hooks', 'endpoints', endpoint, 'catchUp'])
  const configured = isRecord(written) ? written : {}
  const owner = registration.ownerOf(options, configured)
  const before = configuredOwner(registration, configured)
  if (before === undefined || before.name.toLowerCase() === owner.name.toLowerCase()) return owner
  const own = `${name}-${(owner.name.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
  throw new CommandFailure(
    2,
    `The endpoint ${endpoint} belongs to ${before.name}. Give ${owner.name} an endpoint of its own with --endpoint ${own}, or end the other first: ${pasted(`disconnect ${name}`, io)}`,
  )
}

function configuredOwner(registration: Registration, configured: Facts): WebhookOwner | undefined {
  try {
    return registration.ownerOf({}, configured)
  } catch {
    return undefined
  }
}

export interface Token {
  readonly value: string
  /** As the configuration refers to it. */
  readonly reference: string
  /** Whether `.env` does not have it yet. */
  readonly isNew: boolean
}

/** The token of the API: from the environment, else from `.env`, else from the person. @throws CommandFailure */
export async function tokenFor({ setup, file, prompts, io }: ProviderTask): Promise<Token> {
  const { variable, permission } = setup.token ?? { variable: 'TOKEN', permission: 'a token' }
  const kept = readEnvFile(envFileOf(file))[variable]
  const known = io.env[variable] || kept
  const reference = `\${${variable}}`
  if (known) return { value: known, reference, isNew: !kept }
  if (prompts === undefined)
    throw new CommandFailure(2, `${variable} is not set. It is to hold ${permission}.`)
  const value = await prompts.secret({
    message: `The token of ${setup.title}: ${permission}`,
    validate: (answer) => (/^[\x21-\x7e]+$/.test(answer.trim()) ? undefined : 'A token without spaces.'),
  })
  return { value: value.trim(), reference, isNew: true }
}

export function openRegistrar(task: ProviderTask, owner: WebhookOwner, token: string): Registrar {
  const { name, setup, registration, io } = task
  const { signal } = new AbortController()
  return registration.open(owner, {
    fetch: createPluginFetch({ fetch: io.fetch, log: { debug() {} }, owner: { provider: name }, signal }),
    token,
    tokenFrom: setup.token?.variable ?? '',
    api: apiOf(task),
    clock: createSourceClock(io.now),
    signal,
  })
}

/** @throws CommandFailure where a token would go unencrypted over the network */
export function apiOf({ setup: { api }, io }: ProviderTask): string | undefined {
  const named = api && io.env[api.variable]
  if (!named) return undefined
  const url = URL.parse(named)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))) return named
  throw new CommandFailure(2, `${api.variable} must be an address such as ${api.default}.`)
}

/** A gateway that watches its files has read them by then. */
export async function reloadGateway({ gateway }: ProviderTask): Promise<void> {
  if ((await gateway.reach()).is !== 'there') return
  await gateway
    .admin()
    .then((admin) => admin.ask('reload', {}, [409]))
    .catch(() => undefined)
}
