/** Says what has to be set so that an endpoint's signature is verified: the variable that its policy names, else the key. */

import { type Configuration, type ProviderRow, providerRow, shortTitleOf, writePath } from '@reveille/engine'
import { contentOf, documentOf } from '../../written-document.ts'

/** A longer file is not searched for a variable. */
const longestText = 262_144

export type SecretKeys = ReturnType<typeof createSecretKeys>

/** The files are searched only when advice is needed. */
export function createSecretKeys({ sources }: Configuration, configFile: string) {
  let variables: ReadonlyMap<string, string> | undefined
  return {
    /** Returns a sentence without a full stop. */
    adviceFor(endpoint: string, provider: string): string {
      variables ??= new Map([...sources.values()].flatMap((text) => [...variablesIn(text)]))
      const variable = variables.get(endpoint)
      if (variable !== undefined) return `Set ${variable} in .env, to what the sender shows`
      const place = `\`${writePath(['hooks', 'endpoints', endpoint, 'verify'])}\``
      const keys = keysOf(providerRow(provider))
      return `Write ${keys.map((key) => `\`${key}\``).join(' and ')} under ${place} in ${configFile}`
    },
    /** Returns `the secret of Slack`. */
    nameFor(provider: string): string {
      const row = providerRow(provider)
      const [key = 'secret'] = keysOf(row)
      const word = key === 'publicKey' ? 'public key' : key === 'secret' ? key : `\`${key}\``
      return `the ${word} of ${row === undefined ? 'the sender' : shortTitleOf(row)}`
    },
  }
}

/** Yields endpoints, each with the variable that its secret or key refers to. */
function* variablesIn(text: string): Iterable<[string, string]> {
  if (text.length > longestText || !/verify/.test(text) || !text.includes('${')) return
  for (const [endpoint, policy] of entriesOf(policiesIn(text))) {
    const { secret, publicKey } = (policy as { verify?: Record<string, unknown> } | null)?.verify ?? {}
    const [, name] = /^\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}$/.exec(String(secret ?? publicKey)) ?? []
    if (name !== undefined) yield [endpoint, name]
  }
}

function policiesIn(text: string): unknown {
  try {
    const document = contentOf(documentOf(text)) as {
      endpoints?: unknown
      hooks?: { endpoints?: unknown }
    } | null
    return document?.endpoints ?? document?.hooks?.endpoints
  } catch {
    // Loading has reported what cannot be read.
    return undefined
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function keysOf(row: ProviderRow | undefined): readonly string[] {
  const schemes = row?.schemes ?? []
  const families = new Set(schemes.map(({ family }) => family))
  if (families.has('oidc')) return ['audience', 'serviceAccount']
  if (families.has('sns')) return ['topicArns']
  const key = families.has('ed25519') || families.has('ecdsa') ? 'publicKey' : 'secret'
  const signsAddress = schemes.some((scheme) => 'signed' in scheme && scheme.signed.includes('{url}'))
  return signsAddress ? [key, 'publicUrl'] : [key]
}
