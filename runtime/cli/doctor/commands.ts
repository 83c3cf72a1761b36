/** Registers the commands `doctor` and `doctor signature`: their names, options and help. */

import { type Command, Option } from 'commander'
import { type CommandContext, configOption, examples } from '../command-parts.ts'

const doctorHelp = `
It looks at the configuration, at who may read its files, and at the gateway of
that configuration, whether or not it runs. It changes nothing.
Exit code: 1 where there is a problem, and with --strict where there is a warning.
${examples('reveille doctor', 'reveille doctor --config /etc/reveille/reveille.yaml --strict', 'reveille doctor --json')}`

const signatureHelp = `
The file holds what was sent, as an HTTP message: the request line, the headers, a
blank line, and the body as it came.

It is tried with the secrets of the other endpoints, with other addresses and with
the body as other programs would have written it. Nothing is sent, and neither a
secret nor anything of the request is shown. Where a provider signs with keys that
it publishes, they are fetched, unless --offline.
Exit code: 0 where the request would be taken, 1 where it would not.
${examples(
  'reveille doctor signature --endpoint github --request sent.http',
  'reveille doctor signature --endpoint stripe --request sent.http --now 2026-01-31T12:00:00Z',
  'pbpaste | reveille doctor signature --endpoint slack --request - --json',
)}`

export function addDoctorCommands(program: Command, { io, finish }: CommandContext): Command {
  const doctor = program
    .command('doctor')
    .description('look for what is unsafe, broken or forgotten, and say what to do about it')
    .addOption(configOption())
    .option('--strict', 'let a warning count as a problem')
    .option('--online', 'ask a public server for the time, to compare the clock with')
    .option('--json', 'answer as JSON')
    .addHelpText('after', doctorHelp)
    .action((options) => finish(import('./doctor.ts').then(({ doctor }) => doctor(options, io))))
  doctor
    .command('signature')
    .description('say whether a request would be taken for one of its sender, and if not, what differs')
    .requiredOption('--endpoint <name>', 'the <name> of /hooks/<name>')
    .requiredOption('--request <file>', 'the request that was sent; - reads standard input')
    .addOption(new Option('--now <time>', 'when it arrived (default: now)'))
    .option('--offline', 'fetch no keys')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', signatureHelp)
    // `doctor` has `--config` and `--json` too and takes their values, which `optsWithGlobals` finds.
    .action((_, command: Command) =>
      finish(
        import('./signature.ts').then(({ doctorSignature }) =>
          doctorSignature(command.optsWithGlobals(), io),
        ),
      ),
    )
  return doctor
}
