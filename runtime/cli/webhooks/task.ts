/** What `connect` and `disconnect` share: the configuration, the gateway, the token, and how they report. */

import { readFile } from 'node:fs/promises'
import { type Configuration, isLoopback, isRecord } from '@reveille/engine'
import { isPluginError } from '@reveille/kit'
import { readEnvFile } from '../../scaffold/add-to-env-file.ts'
import { createSourceClock } from '../../sources/index.ts'
import { connectionTo } from '../client.ts'
import { CommandFailure } from '../command-failure.ts'
import { configWords, findConfiguration, shownPath } from '../configuration.ts'
import { createGatewayView, type GatewayView } from '../doctor/gateway-view.ts'
import { type CommandOptions, type Io, wrapText } from '../io.ts'
import { pasted } from '../pasted.ts'
import type { Prompts } from '../prompts.ts'
import { configurationOf, envFileOf, valueAt } from './connection-file.ts'
import { gitHubRegistrar, type Provider, type Registrar, stripeRegistrar } from './registrar.ts'
import { createSteps, type Steps } from './steps.ts'

export interface ConnectOptions extends CommandOptions {
  /** Of GitHub: `OWNER/REPO`. */
  readonly repo?: string | undefined
  readonly org?: string
  readonly url?: string
  readonly events?: readonly string[]
  readonly endpoint?: string
  /** Whether what was missed is asked for. Default: true. */
  readonly catchUp?: boolean
  /** How long the ping is waited for, in seconds. */
  readonly wait?: number
  readonly dryRun?: boolean
}

/** Prepares what `connect` and `disconnect` share, and reports how they end. @returns the exit code */
export async function withProvider(
  provider: Provider,
  options: ConnectOptions,
  given: Io,
  perform: (task: Task) => Promise<Done>,
): Promise<number> {
  const { json = false } = options
  const prompts = json ? undefined : await given.prompts?.()
  const steps = createSteps(given, prompts, json)
  let io = given
  try {
    const file = findConfiguration(options, given)
    const { config: _config, ...rest } = given
    io = configWords(file, given) === '' ? rest : { ...given, config: shownPath(file, given) }
    prompts?.begin(provider.title)
    const text = await readFile(file, 'utf8')
    const configuration = await configurationOf(file, text, io)
    const { settings } = configuration
    const gateway = createGatewayView(await connectionTo(settings, io), io)
    const task = { provider, options, file, text, configuration, gateway, steps, prompts, io }
    const { facts, lines, exitCode = 0 } = await perform(task)
    if (json) {
      const answer = { ok: exitCode === 0, ...facts, steps: steps.all, warnings: steps.warnings }
      io.out(`${JSON.stringify(answer, null, 2)}\n`)
    } else if (prompts === undefined) io.out(`${lines.join('\n')}\n`)
    else {
      prompts.note(lines.join('\n'))
      prompts.end(exitCode === 0 ? 'Done.' : 'Not finished.')
    }
    return exitCode
  } catch (error) {
    const isKnown = error instanceof CommandFailure
    if (!isKnown && !isPluginError(error)) throw error
    const { message } = error
    const code = isKnown ? 'failed' : error.code
    if (json) io.out(`${JSON.stringify({ ok: false, code, message, steps: steps.all }, null, 2)}\n`)
    else io.err(`${wrapText(message, io)}\n`)
    return isKnown ? error.exitCode : 1
  }
}

export interface Task {
  readonly provider: Provider
  readonly options: ConnectOptions
  readonly file: string
  readonly text: string
  readonly configuration: Configuration
  readonly gateway: GatewayView
  readonly steps: Steps
  readonly prompts: Prompts | undefined
  readonly io: Io
}

interface Done {
  readonly facts: Readonly<Record<string, unknown>>
  readonly lines: readonly string[]
  readonly exitCode?: number
}

/** The repository or organisation: as it was named, else as the configuration says. @throws CommandFailure */
export function placeOf(
  { provider, options, text, io }: Task,
  endpoint: string,
): { repo?: string; org?: string } {
  if (provider.name === 'stripe') return {}
  const { repo, org } = options
  const written = valueAt(text, ['hooks', 'endpoints', endpoint, 'catchUp'])
  const known = isRecord(written) ? written : {}
  if (repo !== undefined && org !== undefined)
    throw new CommandFailure(2, 'Name a repository, or an organisation with --org, but not both.')
  if (repo !== undefined && !/^[\w.-]+\/[\w.-]+$/.test(repo))
    throw new CommandFailure(
      2,
      `${repo} is no repository: write OWNER/REPO, or --org NAME for an organisation.`,
    )
  const asked = repo !== undefined ? { repo } : org !== undefined ? { org } : undefined
  const before =
    typeof known['repo'] === 'string'
      ? { repo: known['repo'] }
      : typeof known['org'] === 'string'
        ? { org: known['org'] }
        : undefined
  if (asked === undefined && before === undefined)
    throw new CommandFailure(2, 'Name the repository, OWNER/REPO, or an organisation with --org NAME.')
  const name = asked?.repo ?? asked?.org
  const other = before?.repo ?? before?.org
  if (name !== undefined && other !== undefined && name.toLowerCase() !== other.toLowerCase())
    throw new CommandFailure(
      2,
      `The endpoint ${endpoint} belongs to ${other}. Give ${name} an endpoint of its own with --endpoint ${suggested(name)}, or end the other first: ${pasted(`disconnect ${provider.name}`, io)}`,
    )
  return asked ?? before ?? {}
}

function suggested(name: string): string {
  return `github-${(name.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
}

interface KnownToken {
  readonly value: string
  /** As the configuration names it. */
  readonly reference: string
  /** Whether it is to be written to `.env`. */
  readonly isNew: boolean
}

/** From the environment, `.env` or the person at the terminal; never from an option. @throws CommandFailure */
export async function tokenFor({ provider, file, prompts, io }: Task): Promise<KnownToken> {
  const { tokenVariable, title, permission } = provider
  const kept = readEnvFile(envFileOf(file))[tokenVariable]
  const known = io.env[tokenVariable] || kept
  const reference = `\${${tokenVariable}}`
  if (known) return { value: known, reference, isNew: !kept }
  if (prompts === undefined)
    throw new CommandFailure(2, `${tokenVariable} is not set. It is to hold ${permission}.`)
  const value = await prompts.secret({
    message: `The token of ${title}: ${permission}`,
    validate: (answer) => (/^[\x21-\x7e]+$/.test(answer.trim()) ? undefined : 'A token without spaces.'),
  })
  return { value: value.trim(), reference, isNew: true }
}

export function registrarFor(
  { provider, io }: Task,
  place: { repo?: string; org?: string },
  token: string,
): Registrar {
  const options = {
    fetch: io.fetch,
    token,
    tokenFrom: provider.tokenVariable,
    base: apiOf(provider, io),
    clock: createSourceClock(io.now),
    signal: new AbortController().signal,
  }
  return provider.name === 'github' ? gitHubRegistrar(place, options) : stripeRegistrar('connect', options)
}

/** @throws CommandFailure where a token would go unencrypted over the network */
function apiOf({ api }: Provider, { env }: Io): string | undefined {
  const named = env[api.variable]
  if (!named) return undefined
  const url = URL.parse(named)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))) return named
  throw new CommandFailure(2, `${api.variable} must be an address such as ${api.usual}.`)
}

export function otherApi(provider: Provider, io: Io): { readonly api?: string } {
  const api = apiOf(provider, io)
  return api === undefined || api.replace(/\/+$/, '') === provider.api.usual ? {} : { api }
}

/** A gateway that watches its files has read them by then. */
export async function reloadGateway({ gateway }: Pick<Task, 'gateway'>): Promise<void> {
  if ((await gateway.reach()).is !== 'there') return
  await gateway
    .admin()
    .then((admin) => admin.ask('reload', {}, [409]))
    .catch(() => undefined)
}
