/** Owns model names: `<provider>/<model>`, cut at the first slash, since a model's own name may hold more of them. */

import type { Provider, Providers } from './providers.ts'

export interface FoundModel {
  readonly provider: Provider
  /** As the vendor calls it. */
  readonly id: string
}

/** Why a model cannot be asked. */
export interface NoModel {
  readonly code: 'no-model' | 'bad-model' | 'unknown-provider'
  readonly reason: string
}

export function findModel(name: string | undefined, providers: Providers): FoundModel | NoModel {
  if (name === undefined || name.trim() === '') {
    return {
      code: 'no-model',
      reason: `No model is named; write \`agents.defaults.model: ${[...providers.keys()][0]}/<model>\`.`,
    }
  }
  const slash = name.indexOf('/')
  const id = name.slice(slash + 1)
  if (slash < 1 || id.trim() === '') {
    const reason = `\`${name}\` names no model; write <provider>/<model>, where the provider is ${list(providers)}.`
    return { code: 'bad-model', reason }
  }
  const wanted = name.slice(0, slash)
  const provider = providers.get(wanted)
  if (provider !== undefined) return { provider, id }
  const reason = `No provider \`${wanted}\` is configured, only ${list(providers)}.`
  return { code: 'unknown-provider', reason }
}

function list(providers: Providers): string {
  return [...providers.keys()].map((name) => `\`${name}\``).join(', ')
}
