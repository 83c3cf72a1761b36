/** `reveille disconnect github | stripe`: removes the webhook at the provider, and what `connect` wrote. */

import { type Configuration, isRecord } from '@reveille/engine'
import { CommandFailure } from '../command-failure.ts'
import { shownPath } from '../configuration.ts'
import type { Io } from '../io.ts'
import {
  configurationOf,
  editOrFail,
  valueAt,
  variableIn,
  withoutConnection,
  writeBoth,
} from './connection-file.ts'
import { type Provider, providers, type Registered } from './registrar.ts'
import {
  type ConnectOptions,
  placeOf,
  registrarFor,
  reloadGateway,
  type Task,
  tokenFor,
  withProvider,
} from './task.ts'

export function disconnectGitHub(repo: string | undefined, options: ConnectOptions, io: Io): Promise<number> {
  return disconnecting(providers.github, { ...options, repo }, io)
}

export function disconnectStripe(options: ConnectOptions, io: Io): Promise<number> {
  return disconnecting(providers.stripe, options, io)
}

function disconnecting(provider: Provider, options: ConnectOptions, given: Io): Promise<number> {
  return withProvider(provider, options, given, async (task) => {
    const { file, text, steps, io } = task
    const endpoint = options.endpoint ?? provider.name
    const shown = shownPath(file, io)
    const policy = valueAt(text, ['hooks', 'endpoints', endpoint])
    const place = placeOf(task, endpoint)
    const token = await tokenFor(task)
    const registrar = registrarFor(task, place, token.value)
    const own = ownHooks(await registrar.list(), endpoint, policy, task)
    if (own.length === 0 && policy === undefined)
      throw new CommandFailure(
        1,
        `${provider.title} has no webhook for the endpoint ${endpoint}, and ${shown} does not name it.`,
      )
    const edited = editOrFail(text, (each) => withoutConnection(each, endpoint, provider.name), shown)
    const facts = { provider: provider.name, ...place, endpoint, hookIds: own.map(({ id }) => id) }
    if (options.dryRun)
      return {
        facts: { ...facts, dryRun: true, configuration: { file: shown, changed: edited !== text } },
        lines: [
          `${provider.title}: ${own.length === 0 ? 'there is no webhook to remove' : `it would remove the webhook ${own.map(({ id }) => id).join(' and ')}`}.`,
          `${shown}: ${edited === text ? 'nothing would change' : `it would take out the endpoint ${endpoint}`}.`,
          'Nothing was changed.',
        ],
      }

    for (const { id } of own) await registrar.remove(id)
    const removed = own.map(({ id }) => id).join(' and ')
    steps.report(
      own.length === 0
        ? { step: 'webhook', outcome: 'unchanged', detail: `${provider.title} has none that sends here.` }
        : {
            step: 'webhook',
            outcome: 'done',
            detail: `Removed the webhook ${removed} of ${registrar.owner}.`,
          },
    )
    const after = await configurationOf(file, edited, io)
    const gone = variablesOf(policy).filter((name) => !isNamed(name, after))
    const variables = Object.fromEntries(gone.map((name) => [name, undefined]))
    const isChanged = await writeBoth(
      { file, variables, edit: (each) => withoutConnection(each, endpoint, provider.name) },
      io,
    )
    if (isChanged) await reloadGateway(task)
    const took = `Took the endpoint ${endpoint} out of ${shown}${gone.length === 0 ? '' : `, and ${gone.join(' and ')} out of .env`}.`
    steps.report(
      isChanged
        ? { step: 'configuration', outcome: 'done', detail: took }
        : { step: 'configuration', outcome: 'unchanged', detail: `${shown} does not name it.` },
    )
    return {
      facts: { ...facts, configuration: { file: shown, changed: isChanged } },
      lines: [`${provider.title} is disconnected.`],
    }
  })
}

/** The webhook that the configuration names, and those that send to an address that was named. */
function ownHooks(
  hooks: readonly Registered[],
  endpoint: string,
  policy: unknown,
  { options, configuration }: Task,
): readonly Registered[] {
  const catchUp = isRecord(policy) ? policy['catchUp'] : undefined
  const known = isRecord(catchUp) ? String(catchUp['hookId']) : undefined
  const base = options.url?.replace(/\/+$/, '')
  const path = `${configuration.settings.hooks.path}/${endpoint}`
  return hooks.filter(
    ({ id, url }) => id === known || (base !== undefined && (url === base || url === `${base}${path}`)),
  )
}

/** The variables that what `connect` wrote refers to. */
function variablesOf(policy: unknown): readonly string[] {
  if (!isRecord(policy)) return []
  const { verify, catchUp } = policy
  const values = [
    isRecord(verify) ? verify['secret'] : undefined,
    isRecord(catchUp) ? catchUp['token'] : undefined,
  ]
  return values.flatMap((value) => variableIn(value) ?? [])
}

/** Whether a file of the configuration still refers to a variable. The comments of a preset that was copied name some too. */
function isNamed(name: string, { sources }: Configuration): boolean {
  const reference = new RegExp(`^(?!\\s*#).*\\$\\{${name}\\b`, 'm')
  return [...sources.values()].some((text) => reference.test(text))
}
