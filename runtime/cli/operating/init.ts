/** `reveille init`: scaffolds a configuration. */

import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { type Scaffolded, scaffold } from '../../scaffold/scaffold.ts'
import { badUsage } from '../command-failure.ts'
import { configWords, findUsual, shownPath, usualFile } from '../configuration.ts'
import type { CommandOptions, Io } from '../io.ts'
import { print } from '../print.ts'

/** `folder` defaults to the folder into which `start --init` writes. */
export async function init(given: string | undefined, io: Io): Promise<number> {
  const target = given === undefined ? scaffoldFolder(io) : path.resolve(io.cwd, given)
  const { written, ignored } = await scaffoldInto(target, io)
  const folder = shownPath(target, io) || '.'
  const file = path.join(folder, usualFile)
  return print(io, { folder, written }, () =>
    written.length === 0
      ? `${file} is there; nothing was written.`
      : [
          ...written.map((each) => `wrote ${path.join(folder, each)}`),
          ...(ignored ? [`added to ${path.join(folder, '.gitignore')}`] : []),
          '',
          `Start it: reveille start${configWords(file, io)}`,
        ].join('\n'),
  )
}

/**
 * Returns the absolute folder of the configuration that a command would use, and this folder where there is none: `--config`, else
 * REVEILLE_CONFIG, else where a `reveille.yaml` is.
 */
export function scaffoldFolder(io: Io): string {
  const place = io.config ?? (io.env['REVEILLE_CONFIG'] || undefined) ?? findUsual(io) ?? usualFile
  const file = path.resolve(io.cwd, place)
  return /\.(ya?ml|json)$/.test(place) ? path.dirname(file) : file
}

/**
 * Writes a first configuration into an absolute folder; nothing where there is one.
 *
 * @throws CommandFailure (bad usage) for the root folder and the home folder
 */
async function scaffoldInto(folder: string, io: Pick<Io, 'env'>): Promise<Scaffolded> {
  if (!existsSync(path.join(folder, usualFile))) refuseCommonFolder(folder, io)
  return scaffold(folder)
}

/**
 * Writes a first configuration before a start, if there is none: with `init` where `--config` says; else into this folder, where none is
 * named, at once if it is empty or with `yes`, otherwise after a question.
 *
 * @returns whether a configuration was written
 * @throws CommandFailure (bad usage) where the answer is no, or there is no terminal to ask at
 */
export async function writeFirst(io: Io, options: CommandOptions): Promise<boolean> {
  const { first = false, init = false, yes = false } = options
  const isNamed = io.config !== undefined || Boolean(io.env['REVEILLE_CONFIG'])
  if (!init && (isNamed || !(first || yes) || findUsual(io) !== undefined)) return false
  const folder = scaffoldFolder(io)
  if (!init && !yes) {
    refuseCommonFolder(folder, io)
    if (!readdirSync(folder).every((name) => neutralNames.test(name))) await askFor(io)
  }
  const { written, ignored } = await scaffoldInto(folder, io)
  if (written.length === 0) return false
  const where = folder === io.cwd ? 'this folder' : `${shownPath(folder, io)}${path.sep}`
  const tops = [...new Set(written.map((file) => file.replace(/[\\/].*$/, path.sep)))]
  io.out(`Wrote a first configuration to ${where}:\n${tops.join(', ')}\n`)
  if (ignored) io.out('Added its secrets, data and packages to .gitignore.\n')
  return true
}

/** Secrets and data would lie among everything else there, and `.gitignore` would apply to all of it. */
function refuseCommonFolder(folder: string, { env }: Pick<Io, 'env'>): void {
  const common = [path.parse(folder).root, env['HOME'], homedir()].map((each) => realPath(each || '/'))
  if (!common.includes(realPath(folder))) return
  const own = path.join('~', 'reveille')
  throw badUsage(
    `A gateway gets a folder of its own, and this is the root folder or your home folder: ${folder}\nNothing was written. Make a folder, and start there:\n  mkdir ${own} && cd ${own}`,
  )
}

function realPath(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : path.resolve(folder)
}

/** Files that version control, a desktop, a disk, a shell (`reveille > gateway.log`) or npm put into a folder of a gateway before its start. */
const neutralNames =
  /^(\.git|\.gitignore|\.DS_Store|lost\+found|nohup\.out|.*\.log|package(-lock)?\.json|node_modules)$/

async function askFor(io: Io): Promise<void> {
  const what = `There is no ${usualFile} in ${io.cwd}, nor in its folder local, and it holds other files.`
  if (io.prompts === undefined) {
    throw badUsage(
      [
        what,
        'Nothing was written. To go on, do one of these:',
        `  reveille --yes                  write a first configuration here, and start`,
        `  reveille start --config FILE    start a configuration that is elsewhere`,
        `  reveille init DIR               write a first configuration to another folder`,
      ].join('\n'),
    )
  }
  const prompts = await io.prompts()
  prompts.note(what)
  if ((await prompts.choose('Write a first configuration here, and start?', ['yes', 'no'])) === 'yes') return
  throw badUsage('Nothing was written.')
}
