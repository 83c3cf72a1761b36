/** Owns loading: the AI SDK with the first turn, and a vendor's package with the first turn that asks that vendor. */

import type { JSONValue, LanguageModel } from 'ai'
import type { Provider } from './providers.ts'

/** Providers of this kind need a name for their options; it is never seen on the wire. */
const compatible = 'compatible'

export async function loadSdk() {
  const sdk = await import('ai')
  // Warnings are the turn's, which reports them; the SDK would also write them to standard error.
  globalThis.AI_SDK_LOG_WARNINGS ??= false
  return sdk
}

/** Made for one turn, because `fetch` is that turn's own. */
export async function loadModel(
  provider: Provider,
  id: string,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const { kind, apiKey, baseUrl: baseURL, headers, organization, project } = provider
  switch (kind) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const openai = createOpenAI({ apiKey, baseURL, headers, organization, project, fetch })
      return provider.api === 'chat' ? openai.chat(id) : openai.responses(id)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ apiKey, baseURL, headers, fetch })(id)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle({ apiKey, baseURL, headers, fetch })(id)
    }
    case 'openai-compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
      const create = createOpenAICompatible({
        name: compatible,
        apiKey,
        baseURL,
        headers,
        fetch,
        // Without it such servers count no tokens while they stream.
        includeUsage: true,
      })
      return create.chatModel(id)
    }
  }
}

/** Under the name by which the SDK looks for a provider's own options. */
export function optionsOf({
  kind,
  options,
}: Provider): Record<string, Record<string, JSONValue>> | undefined {
  // With an effort the SDK would ask for summaries of the thinking, which nobody reads here, and which OpenAI refuses
  // to organizations that it has not verified.
  if (kind === 'openai') return { openai: { reasoningSummary: null, ...options } }
  return options && { [kind === 'openai-compatible' ? compatible : kind]: options }
}
