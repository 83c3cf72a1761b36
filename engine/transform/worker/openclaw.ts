/**
 * Lets modules written for OpenClaw run as they are: `kind` in a result is `action`, fields without a
 * counterpart are passed over, and the context has a `url`. `advise` is called for each word of OpenClaw's in a result.
 */

const { isArray } = Array
const { keys, hasOwn, defineProperty } = Object
const UrlOf = URL

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
  if (!isArray(result)) return translateAction(result, advise)
  const translated: unknown[] = []
  for (let index = 0; index < result.length; index++)
    translated[index] = translateAction(result[index], advise)
  return translated
}

function translateAction(action: unknown, advise: (word: OpenClawWord) => void): unknown {
  if (typeof action !== 'object' || action === null || isArray(action)) return action
  const hasKind = hasOwn(action, 'kind') && !hasOwn(action, 'action')
  let hasForeign = false
  for (let index = 0; index < passedOver.length; index++)
    hasForeign ||= hasOwn(action, passedOver[index] as string)
  if (!hasKind && !hasForeign) return action
  const translated: Record<string, unknown> = {}
  const names = keys(action)
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string
    const value = (action as Record<string, unknown>)[name]
    if (isPassedOver(name)) {
      if (value !== undefined && value !== null) advise(name)
    } else if (name === 'kind' && hasKind) {
      advise('kind')
      translated['action'] = value
    } else translated[name] = value
  }
  return translated
}

function isPassedOver(name: string): name is Exclude<OpenClawWord, 'kind'> {
  for (let index = 0; index < passedOver.length; index++) if (passedOver[index] === name) return true
  return false
}

/**
 * Adds `url`, which is made when it is first read. It has the path and the query of the request; its host is invented, since the
 * address that a sender calls is not known here.
 */
export function addUrl(context: object, path: string, query: Readonly<Record<string, unknown>>): void {
  let url: URL | undefined
  defineProperty(context, 'url', {
    configurable: true,
    get() {
      if (url !== undefined) return url
      url = new UrlOf('http://localhost/')
      url.pathname = `/hooks/${path}`
      const names = keys(query)
      for (let index = 0; index < names.length; index++) {
        const name = names[index] as string
        const value = query[name]
        const values = isArray(value) ? value : [value]
        for (let each = 0; each < values.length; each++) url.searchParams.append(name, String(values[each]))
      }
      return url
    },
  })
}
