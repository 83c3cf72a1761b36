/** Checks the configuration: whether it loads, and what it asks of senders. */

import {
  type Configuration,
  type EffectivePolicy,
  keysReadBy,
  providerRow,
  shortTitleOf,
} from '@reveille/engine'
import { formatPlace } from '@reveille/engine/text'
import { documentOf } from '../../../written-document.ts'
import { counted, listed } from '../../print.ts'
import { type Check, ok, orOk, problem, type Result, type Subject, valid, warning } from '../check.ts'

export const configurationChecks: readonly Check[] = [
  { name: 'configuration', group: 'configuration', title: 'files', run: configuration },
  { name: 'signatures', group: 'configuration', title: 'signatures', run: signatures },
  { name: 'open-endpoints', group: 'configuration', title: 'access', run: openEndpoints },
]

/** A report has at most so many findings of one check, because ten thousand endpoints can have as many. */
const maxReported = 50

function firstOf(results: readonly Result[]): readonly Result[] {
  const more = results.length - maxReported
  if (more <= 0) return results
  return [...results.slice(0, maxReported), warning('MORE_FINDINGS', `there are ${more} more like these`)]
}

/** Reports everything that loading and compiling say about the configuration, as `reveille check` does. */
async function configuration({ compiled, io }: Subject) {
  const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics
  const results = diagnostics.map(({ severity, code, message, hint, place }): Result => {
    const result = (severity === 'error' ? problem : warning)(code, message, hint)
    return place === undefined ? result : { ...result, place: formatPlace(place, io.cwd) }
  })
  if (!compiled.ok) return firstOf(results)
  return [ok(`they load: ${counted(compiled.snapshot.mappings.length, 'mapping')}`), ...firstOf(results)]
}

/** Checks that endpoints whose sender signs have something to verify the signature with. */
async function signatures(subject: Subject) {
  const { configuration, snapshot } = valid(subject)
  const names = Object.keys(configuration.endpoints)
  const policies = names.map((name) => [name, snapshot.effectivePolicyOf(name) ?? {}] as const)
  const verified = policies.filter(([, { auth, verify }]) => verify?.value.verifier && isAsked(auth, true))
  const missing = policies.flatMap(([name, policy]) => missingSecret(name, policy, configuration))
  const good = verified.length > 0 ? `verified for ${counted(verified.length, 'endpoint')}` : 'none to verify'
  return [ok(good), ...firstOf(missing)]
}

/** True if a policy asks for a signature. `unset`: what holds without `auth`. */
function isAsked(auth: EffectivePolicy['auth'], unset: boolean): boolean {
  return auth === undefined ? unset : auth.value === 'signature' || auth.value === 'both'
}

function missingSecret(
  name: string,
  { auth, verify }: EffectivePolicy,
  { sources }: Configuration,
): readonly Result[] {
  const provider = verify?.value
  if (provider === undefined || provider.verifier !== undefined) return []
  const row = providerRow(provider.name)
  const keys = row ? secretKeys.filter((key) => keysReadBy(row).has(key)) : ['secret']
  const variable = variableOf(name, sources)
  const fix =
    variable === undefined
      ? `Write ${listed(keys.map((key) => `\`${key}\``))} under \`hooks.endpoints.${name}.verify\``
      : `Set ${variable} in .env, to what the sender shows`
  // Only a policy that covers several endpoints gets here: the configuration does not load where the endpoint's own asks.
  if (isAsked(auth, false))
    return [problem('NOTHING_TO_VERIFY_WITH', `/${name} refuses all: nothing verifies a signature`, fix)]
  if (auth !== undefined || signsNothing(provider.name)) return []
  const sender = row === undefined ? 'the sender' : shortTitleOf(row)
  return [warning('NO_SECRET', `/${name} takes the hook token: \`${keys[0]}\` of ${sender} is not set`, fix)]
}

/** The keys by which a signature is verified, those that hold a secret first. */
const secretKeys = ['secret', 'publicKey', 'topicArns', 'audience', 'serviceAccount', 'publicUrl'] as const

/** The variable that a file names for the verification of an endpoint. */
function variableOf(endpoint: string, sources: Configuration['sources']): string | undefined {
  for (const text of sources.values()) {
    if (!text.includes('verify') || !text.includes('${')) continue
    const document = documentOf(text)
    const verify = [[], ['hooks']].map((room) => document.getIn([...room, 'endpoints', endpoint, 'verify']))
    const [, name] = /\$\{([A-Za-z_]\w*)/.exec(JSON.stringify(verify)) ?? []
    if (name !== undefined) return name
  }
  return undefined
}

/** A policy without a provider only answers a challenge. */
export function signsNothing(provider: string): boolean {
  return provider === '' || providerRow(provider)?.schemes.length === 0
}

/** Checks which endpoints accept every program on this machine without a token. */
async function openEndpoints(subject: Subject) {
  const { configuration, snapshot } = valid(subject)
  const open = Object.keys(configuration.endpoints).filter(
    (name) => snapshot.effectivePolicyOf(name)?.auth?.value === 'none',
  )
  const text = `every program on this machine may post without a token to ${listed(open.map((name) => `/${name}`))}`
  const fix = 'Remove `auth: none` where that is not meant'
  return orOk(
    open.length === 0 ? [] : [warning('OPEN_ENDPOINT', text, fix)],
    'a token or a signature for each',
  )
}
