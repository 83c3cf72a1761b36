/** Loads the AI SDK with the first turn, and a vendor's package with the first turn that asks that vendor. */

import type { JSONValue, LanguageModel } from 'ai'
import type { Provider } from './providers.ts'

/** The name under which providers of this kind have their options; it is never sent. */
const compatible = 'compatible'

export async function loadSdk() {
  const sdk = await import('ai')
  // The turn reports warnings itself; the SDK would also write them to standard error.
  globalThis.AI_SDK_LOG_WARNINGS ??= false
  return sdk
}

/** Loads a model for one turn, which has a `fetch` of its own. */
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
        // Without this, such servers report no usage in streams.
        includeUsage: true,
      })
      return create.chatModel(id)
    }
  }
}

/** Returns a provider's own options under the name by which the SDK looks for them. */
export function optionsOf({
  kind,
  options,
}: Provider): Record<string, Record<string, JSONValue>> | undefined {
  // With an effort, the SDK would ask for summaries of the thinking, which are not used here and which OpenAI refuses to
  // organizations that it has not verified.
  if (kind === 'openai') return { openai: { reasoningSummary: null, ...options } }
  return options && { [kind === 'openai-compatible' ? compatible : kind]: options }
}
