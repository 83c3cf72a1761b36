/** Checks the configuration: whether it loads, and what it asks of senders. */

import {
  type Configuration,
  type Diagnostic,
  type EffectivePolicy,
  type ProviderRow,
  providerRow,
  shortTitleOf,
  writePath,
} from '@reveille/engine'
import { formatPlace } from '@reveille/engine/text'
import { contentOf, documentOf } from '../../../written-document.ts'
import { shownPath } from '../../configuration.ts'
import { commandLine, counted, listed } from '../../print.ts'
import { type Check, ok, orOk, problem, type Result, warning } from '../check.ts'
import type { DoctorContext } from '../context.ts'

export const configurationChecks: readonly Check[] = [
  { name: 'configuration', group: 'configuration', title: 'files', run: configuration },
  { name: 'signatures', group: 'configuration', title: 'signatures', run: signatures },
  { name: 'open-endpoints', group: 'configuration', title: 'access', run: openEndpoints },
  { name: 'session-keys', group: 'configuration', title: 'sessions', run: sessionKeys },
]

/** A report has at most so many findings, because ten thousand mappings or endpoints can have as many. */
const maxReported = 50

/** Reports everything that loading and compiling say about the configuration, as `reveille check` does. */
async function configuration(subject: DoctorContext) {
  const { compiled, io } = subject
  const diagnostics = compiled.ok ? compiled.warnings : compiled.diagnostics
  const results = diagnostics.slice(0, maxReported).map((diagnostic) => resultOf(diagnostic, subject))
  const left = diagnostics.length - results.length
  const report = compiled.ok ? warning : problem
  if (left > 0)
    results.push(
      report('MORE_DIAGNOSTICS', `there are ${left} more`, `${commandLine('check', io)} shows all`),
    )
  if (!compiled.ok) return results
  return [ok(`they load: ${counted(compiled.snapshot.mappings.length, 'mapping')}`), ...results]
}

function resultOf({ severity, code, message, hint, place }: Diagnostic, { io }: DoctorContext): Result {
  const result = severity === 'error' ? problem(code, message, hint) : warning(code, message, hint)
  return place === undefined ? result : { ...result, place: formatPlace(place, io.cwd) }
}

/** Checks that endpoints whose sender signs have something to verify the signature with. */
async function signatures(subject: DoctorContext) {
  const { configuration, snapshot } = subject.valid()
  const keys = createSecretKeys(configuration, shownPath(subject.file, subject.io))
  const results: Result[] = []
  let verified = 0
  for (const name of Object.keys(configuration.endpoints)) {
    const result = judgeEndpoint(name, snapshot.effectivePolicyOf(name) ?? {}, keys)
    if (result === 'verified') verified += 1
    else if (result !== undefined) results.push(result)
  }
  const more = results.length - maxReported
  if (more > 0) results.splice(maxReported, more, rest(results.slice(maxReported)))
  if (verified > 0) return [ok(`verified for ${counted(verified, 'endpoint')}`), ...results]
  return orOk(results, 'no endpoint names a provider that signs')
}

function judgeEndpoint(
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
  return report('MORE_ENDPOINTS', `there are ${results.length} more like these`, 'Fix these first')
}

/** A policy without a provider only answers a challenge. */
export function signsNothing(provider: string): boolean {
  return provider === '' || providerRow(provider)?.schemes.length === 0
}

/** Checks which endpoints accept every program on this machine without a token. */
async function openEndpoints(subject: DoctorContext) {
  const { configuration, snapshot } = subject.valid()
  const open = Object.keys(configuration.endpoints).filter(
    (name) => snapshot.effectivePolicyOf(name)?.auth?.value === 'none',
  )
  if (open.length === 0) return ok('every endpoint asks for a token or a signature')
  return warning(
    'OPEN_ENDPOINT',
    `every program on this machine may post without a token to ${listed(open.map((name) => `/${name}`))}`,
    'Remove `auth: none` where that is not meant',
  )
}

/** Reports which sessions a sender may continue; having no limit is a choice and no fault. */
async function sessionKeys(subject: DoctorContext) {
  const { settings } = subject.valid().configuration
  const prefixes = settings.hooks.allowedSessionKeyPrefixes
  if (prefixes !== undefined)
    return ok(`a request to /agent may name those that begin with ${listed(prefixes)}`)
  return ok(
    'a request to /agent may go on with any session but `main`; `hooks.allowedSessionKeyPrefixes` limits which',
  )
}

/** A longer file is not searched for a variable. */
const maxTextLength = 262_144

type SecretKeys = ReturnType<typeof createSecretKeys>

/** Names what has to be set so that a signature is verified: the variable of its policy, else the key. Files are searched when that is asked. */
function createSecretKeys({ sources }: Configuration, configFile: string) {
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
  if (text.length > maxTextLength || !/verify/.test(text) || !text.includes('${')) return
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
