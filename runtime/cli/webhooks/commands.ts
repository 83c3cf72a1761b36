/** Registers the commands that connect services whose events must be fetched: their names, options and help. */

import { InvalidArgumentError, Option } from 'commander'
import { type CliCommand, type Run, whole } from '../command-parts.ts'

const setupHelp = `
At a terminal it asks for what is missing. It needs an OAuth client of the kind
"Desktop app", which the Google Cloud console gives to download as JSON, and your
consent in a browser. On a machine without one, open the address that is shown
elsewhere, and paste where it leads to.
What was granted is kept in the data folder for its owner alone, never in the
configuration. A second run changes only what is not yet as it should be.
Exit code: 1 where it could not be finished; the same command goes on from there.`

const runHelp = `
A gateway watches the mailbox by itself: this is for a gateway on another machine,
or one that is to have no way to Google. The mailbox is set up where this runs.
It posts to the gateway of --config with the first of hooks.token, else to
REVEILLE_URL with REVEILLE_HOOK_TOKEN, else to the gateway of the configuration
that it finds. It ends by Ctrl-C or SIGTERM, with exit code 0.
Exit code: 1 where the mailbox is not set up, or another process watches it.`

export function addWebhookCommands(program: CliCommand, run: Run): void {
  const both = ['reveille webhooks gmail setup', 'reveille webhooks gmail run']
  const gmail = program
    .command('webhooks')
    .description('connect services that have to be asked for their events')
    .examples(...both)
    .command('gmail')
    .description('let new mail wake an agent')
    .examples(...both)

  gmail
    .command('setup')
    .description('connect a mailbox: consent, Pub/Sub, the watch, hooks.gmail and its preset')
    .option('--account <address>', 'the mailbox, such as ada@example.com', parseAddress)
    .option('--client-file <file>', 'the OAuth client of the kind desktop, as JSON; needed once')
    .option('--project <id>', "of Google Cloud (default: the client's own)")
    .option('--label <name>', 'which mails count (default: INBOX)')
    .addOption(
      new Option('--mode <mode>', 'how notifications come (default: pull)').choices(['pull', 'push']),
    )
    .option('--topic <name>', 'of Pub/Sub (default: reveille-gmail)')
    .option('--subscription <name>', 'of Pub/Sub (default: reveille-gmail)')
    .option('--push-endpoint <url>', 'with push: the public address of /hooks/gmail/push', parseUrl)
    .option('--push-service-account <address>', 'with push: whose tokens Google sends', parseAddress)
    .option('--include-body', 'pass the text of mails on (default)')
    .option('--no-include-body', 'pass on sender, subject and snippet only')
    .option('--max-bytes <n>', "the most of one mail's text (default: 20000)", whole(1, 1_000_000))
    .option('--renew-minutes <n>', 'how often the watch is renewed (default: 720)', whole(1, 8640))
    .option('--again', 'ask for consent again')
    .option('--no-browser', 'only show the address of the consent')
    .option('--config <file>', 'the configuration (default: that of this folder, or of local)')
    .option('--json', 'answer as JSON, and ask nothing')
    .addHelpText('after', setupHelp)
    .examples(
      'reveille webhooks gmail setup',
      'reveille webhooks gmail setup --client-file client.json --account ada@example.com',
      'reveille webhooks gmail setup --label Work --no-include-body',
      'reveille webhooks gmail setup --mode push --push-endpoint https://hooks.example.com/hooks/gmail/push',
    )
    .action(run(async () => (await import('./gmail-setup.ts')).setUpGmail))

  gmail
    .command('run')
    .description('watch the mailbox from this process, and post its mails to a gateway')
    .option('--config <file>', 'the configuration (default: that of this folder, or of local)')
    .option('--json', 'report its state as JSON lines')
    .addHelpText('after', runHelp)
    .examples(
      'reveille webhooks gmail run',
      'reveille webhooks gmail run --json',
      'REVEILLE_URL=https://hooks.example.com REVEILLE_HOOK_TOKEN=… reveille webhooks gmail run',
    )
    .action(run(async () => (await import('./gmail-run.ts')).runGmail))
}

function parseAddress(text: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text)) return text
  throw new InvalidArgumentError('It must be an address such as ada@example.com.')
}

function parseUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text
  throw new InvalidArgumentError('It must be an address such as https://hooks.example.com/hooks/gmail/push.')
}
