/** Owns the command `doctor signature`: its name, options and help. */

import { type Command, Option } from 'commander'
import { configOption, examples, type Hands } from '../../command-parts.ts'

const signatureHelp = `
The file holds what was sent, as one of
  an HTTP message   request line, headers, a blank line, the body as it came
  JSON              {"headers": {…}, "rawBody": "…"}, or a list of them; the body may be
                    rawBodyBase64, and method, url (or target) and now may stand beside it
  a curl command    as senders' pages and browsers copy it

Nothing is sent, and neither a secret nor anything of the request is shown. Where a
provider signs with keys that it publishes, they are fetched, unless --offline.
Exit code: 0 where the request would be taken, 1 where it would not.
${examples(
  'reveille doctor signature --endpoint github --request sent.http',
  'reveille doctor signature --endpoint stripe --request sent.json --now 2026-01-31T12:00:00Z',
  'pbpaste | reveille doctor signature --endpoint slack --request - --json',
)}`

export function addSignatureCommand(doctor: Command, { io, finish }: Hands): void {
  doctor
    .command('signature')
    .description('say whether a request would be taken for one of its sender, and if not, what differs')
    .requiredOption('--endpoint <name>', 'the <name> of /hooks/<name>')
    .requiredOption('--request <file>', 'the request that was sent; - reads standard input')
    .addOption(new Option('--now <time>', 'when it arrived (default: what the file says, else now)'))
    .option('--offline', 'fetch no keys')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', signatureHelp)
    // Two of the options are taken by `doctor`, which has them too.
    .action((_, command: Command) =>
      finish(
        import('./signature.ts').then(({ doctorSignature }) =>
          doctorSignature(command.optsWithGlobals(), io),
        ),
      ),
    )
}
