/** Registers the commands that connect sources and providers, as the packages of their plugins describe them. */

import { builtInSetups } from '../../plugin/index.ts'
import { type CliCommand, configOption, type Run } from '../command-parts.ts'
import type { Io } from '../io.ts'
import type { Given } from './connected.ts'
import { describeConnect, describeDisconnect, describeSource } from './described-commands.ts'

const ownHelp = `
NAME is that of a plugin's own source or provider, whose options its page lists.`

export function addConnectCommands(program: CliCommand, run: Run): void {
  const connect = program
    .command('connect')
    .description('register a webhook at a provider, and write what the gateway needs for it')
    .examples(
      'reveille connect github octo-org/harbour --url https://hooks.example.com',
      'reveille connect stripe',
    )
  const disconnect = program
    .command('disconnect')
    .description('remove a webhook that connect has registered')
    .examples('reveille disconnect github', 'reveille disconnect stripe --dry-run')
  for (const [name, setup] of builtInSetups('provider')) {
    if (setup === undefined) continue
    describeConnect(connect.command(name), { name, setup }, run)
    if (setup.other) describeDisconnect(disconnect.command(name), { name, setup }, run)
  }
  for (const command of [connect, disconnect])
    addOwn(command, run, async (words, options, io) =>
      (await import('./own-plugin.ts')).runOwn([command.name(), ...words], options, io),
    )
}

export function addWebhookCommands(program: CliCommand, run: Run): void {
  const examples = builtInSetups('source').flatMap(([name]) =>
    ['setup', 'run'].map((step) => `reveille webhooks ${name} ${step}`),
  )
  const webhooks = program
    .command('webhooks')
    .description('connect services that have to be asked for their events')
    .examples(...examples)
  for (const [name, setup] of builtInSetups('source')) {
    const group = webhooks
      .command(name)
      .description('let new mail wake an agent')
      .examples(...examples)
    for (const step of ['setup', 'run'] as const) {
      const command = group.command(step)
      if (setup !== undefined) describeSource(command, { name, setup }, step, run)
      // Its package is beside the configuration, if anywhere.
      else
        addOwn(command.helpOption(false), run, async (words, options, io) =>
          (await import('./own-plugin.ts')).runOwn(['webhooks', name, step, ...words], options, io),
        )
    }
  }
}

/** Passes all words on to a command that is known once the configuration was read. */
function addOwn(
  command: CliCommand,
  run: Run,
  perform: (words: readonly string[], options: Given, io: Io) => Promise<number>,
): void {
  command
    .argument('[name...]')
    .allowUnknownOption()
    .addOption(configOption())
    .addHelpText('after', ownHelp)
    .action(run(async () => perform))
}
