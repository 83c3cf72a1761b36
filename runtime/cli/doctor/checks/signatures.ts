/** Checks that endpoints whose sender signs have something to verify the signature with. */

import { type EffectivePolicy, providerRow } from '@reveille/engine'
import { shownPath } from '../../configuration.ts'
import { counted } from '../../counted.ts'
import { type Check, ok, problem, type Result, warning } from '../check.ts'
import { createSecretKeys, type SecretKeys } from '../secret-key.ts'

/** A report has at most so many findings, because ten thousand endpoints can have as many. */
const mostReported = 50

export const signatures: Check = {
  name: 'signatures',
  group: 'configuration',
  title: 'signatures',
  async run(subject) {
    const { configuration, snapshot } = subject.valid()
    const keys = createSecretKeys(configuration, shownPath(subject.file, subject.io))
    const results: Result[] = []
    let verified = 0
    for (const name of Object.keys(configuration.endpoints)) {
      const result = judge(name, snapshot.effectivePolicyOf(name) ?? {}, keys)
      if (result === 'verified') verified += 1
      else if (result !== undefined) results.push(result)
    }
    const more = results.length - mostReported
    if (more > 0) results.splice(mostReported, more, rest(results.slice(mostReported)))
    if (verified > 0) return [ok(`verified for ${counted(verified, 'endpoint')}`), ...results]
    return results.length > 0 ? results : ok('no endpoint names a provider that signs')
  },
}

function judge(
  name: string,
  { auth, verify }: EffectivePolicy,
  keys: SecretKeys,
): Result | 'verified' | undefined {
  const provider = verify?.value
  const wanted = auth?.value
  const isAsked = wanted === 'signature' || wanted === 'both'
  if (provider?.verifier !== undefined) return wanted === undefined || isAsked ? 'verified' : undefined
  if (provider === undefined || wanted === 'none' || wanted === 'token') return undefined
  // Only a policy that covers several endpoints gets here: the configuration does not load where the endpoint's own asks.
  if (isAsked) {
    const message = `/${name} turns everybody away: it asks for a signature, and has nothing to verify one with`
    return problem('NOTHING_TO_VERIFY_WITH', message, keys.adviceFor(name, provider.name))
  }
  if (signsNothing(provider.name)) return undefined
  const message = `/${name} takes the hook token, as ${keys.nameFor(provider.name)} is not set`
  return warning('NO_SECRET', message, keys.adviceFor(name, provider.name))
}

function rest(results: readonly Result[]): Result {
  const report = results.some(({ state }) => state === 'problem') ? problem : warning
  return report('MORE_ENDPOINTS', `there are ${results.length} more like these`, 'Mend these first')
}

/** A policy without a provider only answers a challenge. */
export function signsNothing(provider: string): boolean {
  return provider === '' || providerRow(provider)?.schemes.length === 0
}
