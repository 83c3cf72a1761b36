/** Creates the turns and runners of the tests, as the host would. */

import type { Runner, Turn, TurnCall, TurnResult } from '@reveille/kit'
import { createTurn } from '@reveille/kit/fake-server'
import type { AiConfig, ProviderConfig } from '../providers.ts'
import { createAiRunner } from '../runner.ts'
import { apiKey, type Protocol, protocols } from './protocols.ts'

const { signal } = new AbortController()

/** Creates a runner with all five providers at one address. */
export function createRunner(
  url: string,
  more: Partial<ProviderConfig> = {},
  config: Partial<AiConfig> = {},
): Runner {
  const providers = protocols.map((each) => [each.name, { apiKey, ...each.config(url), ...more }])
  return createAiRunner({ config: { providers: Object.fromEntries(providers), ...config }, fetch, signal })
}

export function turnTo({ name, model }: Protocol, more: Partial<Turn> = {}): Turn {
  return createTurn({ prompt: 'Review #42, please.', model: `${name}/${model}`, ...more })
}

export function run(runner: Runner, turn: Turn, call: Partial<TurnCall> = {}): Promise<TurnResult> {
  return runner.run(turn, { signal, ...call })
}
