/**
 * Lets modules written for OpenClaw run as they are: `kind` in a result is `action`, fields without a
 * counterpart are passed over, and the context has a `url`. `advise` is called for each word of OpenClaw's in a result.
 */

/** The fields of OpenClaw's that have no counterpart here. */
export const passedOver = [
  'agentId',
  'sessionKeySource',
  'sessionMode',
  'allowUnsafeExternalContent',
] as const

export type OpenClawWord = 'kind' | (typeof passedOver)[number]

/** The result in Reveille's words; the same object where it has none of OpenClaw's. */
export function translateResult(result: unknown, advise: (word: OpenClawWord) => void): unknown {
  return Array.isArray(result)
    ? Array.from(result, (action) => translateAction(action, advise))
    : translateAction(result, advise)
}

function translateAction(action: unknown, advise: (word: OpenClawWord) => void): unknown {
  if (typeof action !== 'object' || action === null || Array.isArray(action)) return action
  const hasKind = Object.hasOwn(action, 'kind') && !Object.hasOwn(action, 'action')
  if (!hasKind && !passedOver.some((name) => Object.hasOwn(action, name))) return action
  const translated: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(action)) {
    const foreign = passedOver.find((each) => each === name)
    if (foreign !== undefined) {
      if (value !== undefined && value !== null) advise(foreign)
    } else if (name === 'kind' && hasKind) {
      advise('kind')
      translated['action'] = value
    } else translated[name] = value
  }
  return translated
}

/**
 * Adds `url`, which is made when it is first read. It has the path and the query of the request; its host is invented, since the
 * address that a sender calls is not known here.
 */
export function addUrl(context: object, path: string, query: Readonly<Record<string, unknown>>): void {
  let url: URL | undefined
  Object.defineProperty(context, 'url', {
    configurable: true,
    get() {
      if (url !== undefined) return url
      url = new URL('http://localhost/')
      url.pathname = `/hooks/${path}`
      for (const [name, value] of Object.entries(query))
        for (const each of [value].flat()) url.searchParams.append(name, String(each))
      return url
    },
  })
}
