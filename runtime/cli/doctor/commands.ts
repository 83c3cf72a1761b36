/** Registers the commands `doctor` and `doctor signature`: their names, options and help. */

import { type CliCommand, configOption, type Run } from '../command-parts.ts'

const doctorHelp = `
It looks at the configuration, at who may read its files, and at the gateway of
that configuration, whether or not it runs. It changes nothing.
Exit code: 1 where there is a problem, and with --strict where there is a warning.`

const signatureHelp = `
The file holds what was sent, as an HTTP message: the request line, the headers, a
blank line, and the body as it came.

It is tried with the secrets of the other endpoints, with other addresses and with
the body as other programs would have written it. Nothing is sent, and neither a
secret nor anything of the request is shown. Where a provider signs with keys that
it publishes, they are fetched, unless --offline.
Exit code: 0 where the request would be taken, 1 where it would not.`

export function addDoctorCommands(program: CliCommand, run: Run): void {
  const doctor = program
    .command('doctor')
    .description('look for what is unsafe, broken or forgotten, and say what to do about it')
    .addOption(configOption())
    .option('--strict', 'let a warning count as a problem')
    .option('--online', 'ask a public server for the time, to compare the clock with')
    .option('--json', 'answer as JSON')
    .addHelpText('after', doctorHelp)
    .examples(
      'reveille doctor',
      'reveille doctor --config /etc/reveille/reveille.yaml --strict',
      'reveille doctor --json',
    )
    .action(run(async () => (await import('./doctor.ts')).doctor))
  doctor
    .command('signature')
    .description('say whether a request would be taken for one of its sender, and if not, what differs')
    .requiredOption('--endpoint <name>', 'the <name> of /hooks/<name>')
    .requiredOption('--request <file>', 'the request that was sent; - reads standard input')
    .option('--now <time>', 'when it arrived (default: now)')
    .option('--offline', 'fetch no keys')
    .addOption(configOption())
    .option('--json', 'answer as JSON')
    .addHelpText('after', signatureHelp)
    .examples(
      'reveille doctor signature --endpoint github --request sent.http',
      'reveille doctor signature --endpoint stripe --request sent.http --now 2026-01-31T12:00:00Z',
      'pbpaste | reveille doctor signature --endpoint slack --request - --json',
    )
    .action(run(async () => (await import('./signature.ts')).doctorSignature))
}
