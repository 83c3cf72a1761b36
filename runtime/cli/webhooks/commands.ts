/** Registers the commands that connect services whose events must be fetched: their names, options and help. */

import { InvalidArgumentError, Option } from 'commander'
import { type CliCommand, configOption, type Run, whole } from '../command-parts.ts'

const setupHelp = `
At a terminal it asks for what is missing. It needs an OAuth client of the kind
"Desktop app", which the Google Cloud console gives to download as JSON, and your
consent in a browser. On a machine without one, open the address that is shown
elsewhere, and paste where it leads to.
What was granted is kept in the data folder for its owner alone, never in the
configuration. A second run changes only what is not yet as it should be.
Exit code: 1 where it could not be finished; the same command goes on from there.`

const connectHelp = (permission: string, variable: string, more: string) => `
It needs ${permission},
in ${variable} or .env, or typed at the terminal; never as an option.
${more}
It writes the endpoint with its secret (in .env, mode 0600), the preset where no
mapping takes the endpoint, and \`catchUp\`, by which the gateway asks for what was
sent while it was off. A second run changes what is not yet as it should be.
Exit code: 1 where the provider refuses, or its test did not arrive; 2 where
something has to be said first. The same command goes on from there.`

const gitHubConnectHelp = connectHelp(
  'a fine-grained token with "Webhooks: read and write" (a classic\none: admin:repo_hook, or admin:org_hook for an organisation)',
  'GITHUB_TOKEN',
  'GITHUB_API_URL names the API of a GitHub Enterprise server.',
)

const stripeConnectHelp = connectHelp(
  'a restricted key with "Webhook Endpoints: write" and "Events: read"',
  'STRIPE_API_KEY',
  'A key of test mode connects test mode, and a live one live mode.',
)

const disconnectHelp = `
It removes the webhook that the configuration names, or that sends to --url, with
the same token as connect. Variables that nothing else refers to go out of .env.`

const runHelp = `
A gateway watches the mailbox by itself: this is for a gateway on another machine,
or one that is to have no way to Google. The mailbox is set up where this runs.
It posts to the gateway of --config with the first of hooks.token, else to
REVEILLE_URL with REVEILLE_HOOK_TOKEN, else to the gateway of the configuration
that it finds. It ends by Ctrl-C or SIGTERM, with exit code 0.
Exit code: 1 where the mailbox is not set up, or another process watches it.`

export function addConnectCommands(program: CliCommand, run: Run): void {
  const connect = program
    .command('connect')
    .description('register a webhook at a provider, and write what the gateway needs for it')
    .examples(
      'reveille connect github octo-org/harbour --url https://hooks.example.com',
      'reveille connect stripe',
    )
  const gitHub = connect
    .command('github')
    .description('register a webhook of a repository or an organisation')
    .argument('[repo]', 'OWNER/REPO')
    .option('--org <name>', 'an organisation, in the place of a repository')
  const stripe = connect.command('stripe').description('register a webhook endpoint of the account')
  for (const command of [gitHub, stripe])
    command
      .option('--url <url>', 'where the internet reaches the gateway (default: its tunnel)')
      .option('--events <names>', 'separated by commas (default: those that mappings ask for)', parseNames)
      .option('--endpoint <name>', `of the gateway (default: ${command.name()})`)
      .option('--no-catch-up', 'do not ask for what was missed, and keep no token')
      .option('--dry-run', 'say what would be done, and do nothing')
      .addOption(configOption())
      .option('--json', 'answer as JSON, and ask nothing')
  gitHub
    .option('--wait <seconds>', 'how long the ping is waited for (default: 30; 0: not at all)', whole(0, 600))
    .addHelpText('after', gitHubConnectHelp)
    .examples(
      'reveille connect github octo-org/harbour --url https://hooks.example.com',
      'reveille connect github --org octo-org --events push,release',
      'reveille connect github octo-org/quay --endpoint github-quay --dry-run',
    )
    .action(run(async () => (await import('./connect.ts')).connectGitHub))
  stripe
    .addHelpText('after', stripeConnectHelp)
    .examples(
      'reveille connect stripe --url https://hooks.example.com',
      'reveille connect stripe --events invoice.paid',
    )
    .action(run(async () => (await import('./connect.ts')).connectStripe))

  const disconnect = program
    .command('disconnect')
    .description('remove a webhook that connect has registered')
    .examples('reveille disconnect github', 'reveille disconnect stripe --dry-run')
  const fromGitHub = disconnect
    .command('github')
    .description('remove the webhook of a repository or an organisation')
    .argument('[repo]', 'OWNER/REPO (default: that of the configuration)')
    .option('--org <name>', 'an organisation, in the place of a repository')
  const fromStripe = disconnect.command('stripe').description('remove the webhook endpoint of the account')
  for (const command of [fromGitHub, fromStripe])
    command
      .option('--url <url>', 'where a webhook sends that the configuration does not name')
      .option('--endpoint <name>', `of the gateway (default: ${command.name()})`)
      .option('--dry-run', 'say what would be done, and do nothing')
      .addOption(configOption())
      .option('--json', 'answer as JSON, and ask nothing')
      .addHelpText('after', disconnectHelp)
  fromGitHub
    .examples('reveille disconnect github', 'reveille disconnect github octo-org/quay --endpoint github-quay')
    .action(run(async () => (await import('./disconnect.ts')).disconnectGitHub))
  fromStripe
    .examples('reveille disconnect stripe')
    .action(run(async () => (await import('./disconnect.ts')).disconnectStripe))
}

function parseNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name) => /^(\*|[a-z][a-z0-9_.]*)$/.test(name))) return names
  throw new InvalidArgumentError('They must be names such as push,pull_request.')
}

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
    .addOption(configOption())
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
    .addOption(configOption())
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
