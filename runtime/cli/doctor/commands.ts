/** Owns the command `doctor`: its name, options and help. */

import type { Command } from 'commander'
import { configOption, examples, type Hands } from '../command-parts.ts'
import { addSignatureCommand } from './signature/command.ts'

const doctorHelp = `
It looks at the configuration, at who may read its files, and at the gateway of
that configuration, whether or not it runs. It changes nothing.
Exit code: 1 where there is a problem, and with --strict where there is a warning.
${examples('reveille doctor', 'reveille doctor --config /etc/reveille/reveille.yaml --strict', 'reveille doctor --json')}`

/** @returns the command `doctor`; those below it find `--config` and `--json` in `optsWithGlobals()` */
export function addDoctorCommands(program: Command, hands: Hands): Command {
  const { io, finish } = hands
  const doctor = program
    .command('doctor')
    .description('look for what is unsafe, broken or forgotten, and say what to do about it')
    .addOption(configOption())
    .option('--strict', 'let a warning count as a problem')
    .option('--online', 'ask a public server for the time, to compare the clock with')
    .option('--json', 'answer as JSON')
    .addHelpText('after', doctorHelp)
    .action((options) => finish(import('./doctor.ts').then(({ doctor }) => doctor(options, io))))
  addSignatureCommand(doctor, hands)
  return doctor
}
