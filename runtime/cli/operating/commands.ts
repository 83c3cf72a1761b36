/** Registers the commands that set a gateway up, run it and look after its data: their names, options and help. */

import { InvalidArgumentError, Option } from 'commander'
import { type CliCommand, configOption, type Run, whole } from '../command-parts.ts'

const startHelp = `
\`reveille\` alone writes a first configuration where this folder and its folder
local have none, at once into an empty folder, otherwise after a yes, and starts.
Changed files go live by themselves, but for --no-watch; SIGHUP reads them again
at once.`

/** @returns the command `init`, which others add subcommands to */
export function addStartingCommands(program: CliCommand, run: Run): CliCommand {
  program
    .command('start')
    .description('run the gateway until it is stopped')
    .addOption(configOption())
    .option(
      '--inspect [port]',
      'let a debugger attach, from this machine; transforms then have no deadline (default port: 9229)',
    )
    .option('--init', "scaffold the configuration's folder first, if it has no configuration")
    .option('--yes', 'write a first configuration here if there is none, beside other files too')
    .addOption(new Option('--first').hideHelp())
    .option(
      '--host <address>',
      'listen there instead of at `gateway.host` (default: REVEILLE_HOST, if it is set)',
    )
    .option('--port <n>', 'listen there instead of at `gateway.port` (default: REVEILLE_PORT, if it is set)')
    .option('--tunnel', 'let the internet reach hooks, and nothing else, through `cloudflared`')
    .option('--tunnel-port <n>', 'where hooks are served for another tunnel, on the loopback address')
    .option('--poll', 'look at the files regularly, for file systems that report no changes')
    .option('--last-good', 'serve the last generation if the configuration does not load, settings and all')
    .addOption(
      new Option('--role <role>', 'what this process does: all of it, or only accept (default: all)').choices(
        ['all', 'ingress'],
      ),
    )
    .option(
      '--node <name>',
      'what other nodes on the same database call it (default: REVEILLE_NODE, else the name of the machine)',
    )
    .option('--no-watch', 'read changed files only on `reveille reload` or SIGHUP')
    .addHelpText('after', startHelp)
    .examples(
      'reveille start',
      'reveille start --port 21000',
      'reveille start --tunnel',
      'reveille start --config /etc/reveille/reveille.yaml',
    )
    .action(run(async () => (await import('./start.ts')).start))

  return program
    .command('init')
    .description('write a first configuration; never over a file')
    .argument('[dir]', 'the folder to write (default: this one)')
    .option('--json', 'answer as JSON')
    .examples('reveille init', 'reveille init /etc/reveille', 'reveille init mapping github')
    .action(run(async () => (await import('./init.ts')).init))
}

/** The commands by which an admin changes what is live, and lists what was. */
export function addReloadCommands(program: CliCommand, run: Run): void {
  program
    .command('reload')
    .description('have a running gateway read its files again; changed files go live by themselves')
    .addOption(configOption())
    .option('--dry-run', 'only say what would change, for requests that are stored too')
    .option('--limit <n>', 'how many stored requests a dry run looks at (default: 100)', whole(1, 10_000))
    .option('--call-out', 'let transforms reach the network and other programs in a dry run')
    .option('--json', 'answer as JSON')
    .gatewayExamples('reveille reload', 'reveille reload --dry-run --limit 500', 'reveille reload --json')
    .action(run(async () => (await import('./reload.ts')).reload))

  program
    .command('rollback')
    .description('have a running gateway serve an earlier generation, until the files change')
    .argument('<generation>', 'its number; `reveille generations` lists them', parseGeneration)
    .addOption(configOption())
    .option('--dry-run', 'only say what would change, for requests that are stored too')
    .option('--limit <n>', 'how many stored requests a dry run looks at (default: 100)', whole(1, 10_000))
    .option('--call-out', 'let transforms reach the network and other programs in a dry run')
    .option('--json', 'answer as JSON')
    .gatewayExamples('reveille rollback 12 --dry-run', 'reveille rollback 12')
    .action(run(async () => (await import('./reload.ts')).rollback))

  program
    .command('generations')
    .description('list what went live and what was refused, newest first, or what one changed in the files')
    .argument(
      '[generation]',
      'a number: shows how its files differ from those of the one before',
      parseGeneration,
    )
    .addOption(configOption())
    .option(
      '--with <generation>',
      'the generation to compare with, in place of the one before',
      parseGeneration,
    )
    .option('--json', 'answer as JSON: {items}, or for one generation {from, to, files}')
    .gatewayExamples('reveille generations', 'reveille generations 12', 'reveille generations 12 --with 9')
    .action(run(async () => (await import('./generations.ts')).generations))
}

/** The commands that decide about single runs. */
export function addRunCommands(program: CliCommand, run: Run): void {
  const id = 'an id, or at least the last 4 characters of a recent one'

  program
    .command('cancel')
    .description('end runs that are queued, parked or running')
    .argument('<run...>', id)
    .addOption(configOption())
    .option('--json', 'answer as JSON: {items}')
    .gatewayExamples('reveille cancel 3f9a1c', 'reveille cancel 3f9a1c 07be42')
    .action(run(async () => (await import('./run-orders.ts')).cancel))

  program
    .command('resume')
    .description('queue runs again that a budget or the loop guard has parked')
    .argument('[run...]', id)
    .option('--all', 'every run that is parked')
    .option('--code <code>', 'with --all: only those parked with this code: BUDGET, LOOP, NO_PRICE')
    .addOption(configOption())
    .option('--json', 'answer as JSON: {items}')
    .gatewayExamples('reveille resume 3f9a1c', 'reveille resume --all --code BUDGET')
    .action(run(async () => (await import('./run-orders.ts')).resume))
}

function parseGeneration(text: string): string {
  if (/^[1-9]\d{0,14}$/.test(text)) return text
  throw new InvalidArgumentError('It must be a number that `reveille generations` lists.')
}

const backupHelp = `
What sources keep, such as consents and how far they have read, is in plain files
of the data folder, in sources/: copy those as they are.`

const exportHelp = `
No gateway may use the store meanwhile. The file has one line of JSON for each row,
and fits any database: with another \`gateway.store\`, \`reveille store import\` reads
it. What sources keep goes along; generations stay in the data folder.`

const importHelp = `
The store that the configuration names must be empty, and no gateway may use it. All
of the file is imported, in one transaction, or nothing.`

export function addStoreCommands(program: CliCommand, run: Run): void {
  const store = program.command('store').description('look after the data of a gateway')
  store
    .command('backup')
    .description('copy the store to a new file, whether or not the gateway runs')
    .argument('<file>', 'the copy; must not exist')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', backupHelp)
    .examples('reveille store backup /var/backups/reveille.db')
    .action(run(async () => (await import('./store-backup.ts')).storeBackup))

  store
    .command('export')
    .description('write the store to a file of lines of JSON, to move it to another database')
    .argument('<file>', 'the file; must not exist. `-` is standard output')
    .addOption(configOption())
    .option('--json', 'answer as JSON: {file, counts}')
    .addHelpText('after', exportHelp)
    .examples('reveille store export reveille.ndjson', 'reveille store export - | gzip > reveille.ndjson.gz')
    .action(run(async () => (await import('./store-transfer.ts')).storeExport))

  store
    .command('import')
    .description('read what `reveille store export` wrote into an empty store')
    .argument('<file>', 'the file. `-` is standard input')
    .addOption(configOption())
    .option('--json', 'answer as JSON: {file, counts}')
    .addHelpText('after', importHelp)
    .examples('reveille store import reveille.ndjson', 'zcat reveille.ndjson.gz | reveille store import -')
    .action(run(async () => (await import('./store-transfer.ts')).storeImport))
}
