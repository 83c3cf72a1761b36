/** `reveille disconnect NAME`: removes the webhook at the provider, and what `connect` wrote. */

import { type Configuration, isRecord } from '@reveille/engine'
import type { RegisteredWebhook } from '@reveille/kit'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import {
  configurationOf,
  editOrFail,
  hookIdIn,
  valueAt,
  variableIn,
  withoutConnection,
  writeFiles,
} from './connection-file.ts'
import {
  type ConnectOptions,
  openRegistrar,
  ownerOf,
  type ProviderTask,
  reloadGateway,
  tokenFor,
  withProvider,
} from './provider-task.ts'
import type { Connected, Done } from './task.ts'

export function disconnectProvider(connected: Connected, options: ConnectOptions, io: Io): Promise<number> {
  return withProvider(connected, options, io, async (task) => {
    const { name, setup, endpoint, shown, text, steps } = task
    const { title } = setup
    const policy = valueAt(text, ['hooks', 'endpoints', endpoint])
    const owner = ownerOf(task)
    const { value } = await tokenFor(task)
    const registrar = openRegistrar(task, owner, value)
    const own = ownHooks(await registrar.list(), policy, task)
    if (own.length === 0 && policy === undefined)
      throw new CommandFailure(
        1,
        `${title} has no webhook for the endpoint ${endpoint}, and ${shown} does not name it.`,
      )
    const edited = editOrFail(text, (each) => withoutConnection(each, endpoint, name), shown)
    const ids = own.map(({ id }) => id)
    const facts = { provider: name, ...owner.keys, endpoint, hookIds: ids }
    if (options.dryRun) {
      const removes =
        own.length === 0
          ? 'there is no webhook to remove'
          : `it would remove the webhook ${ids.join(' and ')}`
      const takes = edited === text ? 'nothing would change' : `it would take out the endpoint ${endpoint}`
      return {
        facts: { ...facts, dryRun: true, configuration: { file: shown, changed: edited !== text } },
        lines: [`${title}: ${removes}.`, `${shown}: ${takes}.`, 'Nothing was changed.'],
      }
    }
    for (const id of ids) await registrar.remove(id)
    const removed = `Removed the webhook ${ids.join(' and ')} of ${owner.name}.`
    steps.report(
      own.length === 0
        ? { step: 'webhook', outcome: 'unchanged', detail: `${title} has none that sends here.` }
        : { step: 'webhook', outcome: 'done', detail: removed },
    )
    return takeOut(task, policy, edited, facts)
  })
}

async function takeOut(
  task: ProviderTask,
  policy: unknown,
  edited: string,
  facts: Done['facts'],
): Promise<Done> {
  const { file, name, setup, endpoint, shown, steps, io } = task
  const after = await configurationOf(file, edited, io)
  const gone = variablesOf(policy).filter((variable) => !isNamed(variable, after))
  const variables = Object.fromEntries(gone.map((variable) => [variable, undefined]))
  const edit = (text: string) => withoutConnection(text, endpoint, name)
  const isChanged = await writeFiles({ file, variables, edit }, io)
  if (isChanged) await reloadGateway(task)
  const took = `Took the endpoint ${endpoint} out of ${shown}${gone.length === 0 ? '' : `, and ${gone.join(' and ')} out of .env`}.`
  steps.report(
    isChanged
      ? { step: 'configuration', outcome: 'done', detail: took }
      : { step: 'configuration', outcome: 'unchanged', detail: `${shown} does not name it.` },
  )
  return {
    facts: { ...facts, configuration: { file: shown, changed: isChanged } },
    lines: [`${setup.title} is disconnected.`],
  }
}

/** The webhook that the configuration names, and those that send to an address that was named. */
function ownHooks(
  hooks: readonly RegisteredWebhook[],
  policy: unknown,
  { endpoint, options, configuration }: ProviderTask,
): readonly RegisteredWebhook[] {
  const known = hookIdIn(policy)
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
