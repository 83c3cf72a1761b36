/** Defines the providers of models, and finds the provider of a model. */

import { permanentError } from '@reveille/kit'
import type { JSONValue } from 'ai'

type ProviderKind = 'openai' | 'anthropic' | 'google' | 'openai-compatible'

export interface ProviderConfig {
  readonly kind?: ProviderKind
  readonly apiKey?: string
  readonly baseUrl?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly api?: 'responses' | 'chat'
  readonly organization?: string
  readonly project?: string
  readonly options?: Record<string, JSONValue>
}

/** A configuration that `config.schema.json` has accepted. */
export interface AiConfig {
  readonly providers?: Readonly<Record<string, ProviderConfig>>
  readonly model?: string
  readonly maxOutputTokens?: number
  readonly temperature?: number
}

/** A provider with its defaults filled in. */
export interface Provider extends ProviderConfig {
  readonly name: string
  readonly kind: ProviderKind
  readonly baseUrl: string
}

type Providers = ReadonlyMap<string, Provider>

interface Vendor {
  /** Always passed on, because the SDK would otherwise read it from the environment. */
  readonly baseUrl: string
  /** The environment variable in which the vendor's own tools look for the key. */
  readonly keyVariable: string
}

const vendors: Readonly<Record<string, Vendor>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', keyVariable: 'OPENAI_API_KEY' },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', keyVariable: 'ANTHROPIC_API_KEY' },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
  },
}

/** Parses the providers. @throws PluginError `bad-config` that lists everything that is missing, and what to write */
export function parseProviders(config: AiConfig): Providers {
  const entries = Object.entries(config.providers ?? {})
  if (entries.length === 0) {
    throw permanentError(
      'bad-config',
      'No provider is configured; write `openai: { apiKey: "${OPENAI_API_KEY}" }` under `agents.providers`.',
    )
  }
  const problems: string[] = []
  const providers = new Map<string, Provider>()
  for (const [name, each] of entries) {
    const provider = parseProvider(name, each)
    if (typeof provider === 'string') problems.push(provider)
    else providers.set(name, provider)
  }
  if (problems.length > 0) throw permanentError('bad-config', problems.join(' '))
  return providers
}

/** Returns the provider, or a sentence that says what is wrong with it. */
function parseProvider(name: string, config: ProviderConfig): Provider | string {
  const place = `\`providers.${name}\``
  const kind = config.kind ?? (Object.hasOwn(vendors, name) ? (name as ProviderKind) : undefined)
  if (kind === undefined) {
    return `${place} needs a \`kind\`: openai, anthropic, google, or openai-compatible for any other server.`
  }
  const { apiKey: configuredKey, ...rest } = config
  const apiKey = configuredKey === 'none' ? undefined : configuredKey
  if (kind !== 'openai' && (config.api ?? config.organization ?? config.project) !== undefined) {
    return `${place}: \`api\`, \`organization\` and \`project\` are for the kind openai; leave them out.`
  }
  const vendor = vendors[kind]
  if (vendor === undefined) {
    if (config.baseUrl === undefined) {
      return `${place} needs a \`baseUrl\`, such as \`http://127.0.0.1:11434/v1\`.`
    }
    return { ...rest, name, kind, apiKey, baseUrl: config.baseUrl }
  }
  if (apiKey === undefined) {
    return `${place} needs an \`apiKey\`; write \`apiKey: "\${${vendor.keyVariable}}"\` and set that variable.`
  }
  return { ...rest, name, kind, apiKey, baseUrl: config.baseUrl ?? vendor.baseUrl }
}

export interface FoundModel {
  readonly provider: Provider
  /** The vendor's name of the model. */
  readonly id: string
}

/** The reason why a model cannot be used. */
interface ModelProblem {
  readonly code: 'no-model' | 'bad-model' | 'unknown-provider'
  readonly reason: string
}

export function findModel(name: string | undefined, providers: Providers): FoundModel | ModelProblem {
  if (name === undefined || name.trim() === '') {
    return {
      code: 'no-model',
      reason: `No model is configured; write \`agents.defaults.model: ${[...providers.keys()][0]}/<model>\`.`,
    }
  }
  const slash = name.indexOf('/')
  const id = name.slice(slash + 1)
  if (slash < 1 || id.trim() === '') {
    const reason = `\`${name}\` is not a model name; write <provider>/<model>, where the provider is ${listNames(providers)}.`
    return { code: 'bad-model', reason }
  }
  const providerName = name.slice(0, slash)
  const provider = providers.get(providerName)
  if (provider !== undefined) return { provider, id }
  const reason = `No provider \`${providerName}\` is configured, only ${listNames(providers)}.`
  return { code: 'unknown-provider', reason }
}

function listNames(providers: Providers): string {
  return [...providers.keys()].map((name) => `\`${name}\``).join(', ')
}
