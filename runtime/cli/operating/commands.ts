/** Owns the commands that set a gateway up, run it and look after its data: names, options and help. */

import type { Command } from 'commander'
import { configOption, examples, type Hands } from '../command-parts.ts'

const startHelp = `
Changed files go live by themselves; SIGHUP reads them again at once.
${examples('reveille start', 'reveille start --config /etc/reveille/reveille.yaml')}`

/** @returns the command `init`, below which others may stand */
export function addStartingCommands(program: Command, { io, finish }: Hands): Command {
  program
    .command('start')
    .description('run the gateway until it is told to stop')
    .addOption(configOption())
    .option('--init', "scaffold the configuration's folder first, if it has no configuration")
    .option('--poll', 'look at the files regularly, for file systems that report no changes')
    .addHelpText('after', startHelp)
    .action((options) => finish(import('./start.ts').then(({ start }) => start(options, io))))

  return program
    .command('init')
    .description('write a first configuration; never over a file')
    .argument('[dir]', 'the folder to write', 'local')
    .option('--json', 'answer as JSON')
    .addHelpText(
      'after',
      examples('reveille init', 'reveille init /etc/reveille', 'reveille init mapping github'),
    )
    .action((dir, options) => finish(import('./init.ts').then(({ init }) => init(dir, options, io))))
}

export function addStoreCommands(program: Command, { io, finish }: Hands): void {
  program
    .command('store')
    .description('look after the data of a gateway')
    .command('backup')
    .description('copy the store to a new file, whether or not the gateway runs')
    .argument('<file>', 'the copy; must not exist')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', examples('reveille store backup /var/backups/reveille.db'))
    .action((file, options) =>
      finish(import('./store-backup.ts').then(({ storeBackup }) => storeBackup(file, options, io))),
    )
}
