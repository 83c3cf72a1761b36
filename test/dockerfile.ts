/**
 * Runs the steps of a Dockerfile without Docker: each stage is a folder, in which the absolute paths of its steps are found. No step
 * is isolated, so this is for Dockerfiles of this repository alone.
 */

import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface Step {
  readonly name: string
  readonly text: string
}

/** The instructions of a Dockerfile in their order, without comments and with continued lines joined. */
export function parseDockerfile(text: string): readonly Step[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n/g, ' ')
  return lines.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? []
    return name === undefined ? [] : [{ name, text: rest.replace(/\s+/g, ' ').trim() }]
  })
}

/** The start of a container of the last stage. The paths are those on this machine. */
export interface Image {
  readonly root: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly user: { readonly uid: number; readonly gid: number }
  readonly volumes: readonly string[]
  readonly entrypoint: readonly string[]
  readonly cmd: readonly string[]
  readonly healthcheck: readonly string[]
}

export interface BuildOptions {
  /** The folder of the Dockerfile. */
  readonly context: string
  /** The lines of `.dockerignore`. */
  readonly ignored: readonly string[]
  /** Where the folders of the stages are made. */
  readonly folder: string
  /** The variables of the machine that steps see besides those of the Dockerfile. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Fills the folder of a stage with what its base image has. */
  readonly base: (image: string, root: string) => Promise<void>
}

/** Runs all steps. @throws the error of the first step that fails, with what it printed */
export async function buildImage(steps: readonly Step[], options: BuildOptions): Promise<Image> {
  const roots = new Map<string, string>()
  const args: Record<string, string> = { TARGETARCH: process.arch === 'x64' ? 'amd64' : process.arch }
  let stage = createStage('')
  for (const { name, text } of steps) await perform(name, text)
  return stage

  async function perform(name: string, text: string): Promise<void> {
    if (name === 'ARG') {
      const [key = '', value] = text.split('=')
      if (value !== undefined) args[key] = value
    } else if (name === 'FROM') {
      const [image = '', , alias = `${roots.size}`] = text.replace(/--platform=\S+ /, '').split(' ')
      stage = createStage(path.join(options.folder, alias))
      roots.set(alias, stage.root)
      await mkdir(stage.root, { recursive: true })
      await options.base(expanded(image, args), stage.root)
    } else if (name === 'WORKDIR') {
      stage.cwd = inside(text)
      await mkdir(stage.cwd, { recursive: true })
    } else if (name === 'COPY') await copy(text.split(' '))
    else if (name === 'RUN') await runStep(text)
    else if (name === 'ENV') {
      for (const [, key = '', value = ''] of text.matchAll(/(\w+)=(\S+)/g))
        stage.env[key] = expanded(insideAll(value), { ...options.env, ...stage.env })
    } else if (name === 'USER') {
      const [uid = Number.NaN, gid = uid] = text.split(':').map(Number)
      stage.user = { uid, gid }
    } else if (name === 'VOLUME') stage.volumes.push(inside(text))
    else if (name === 'ENTRYPOINT') stage.entrypoint = wordsOf(text)
    else if (name === 'CMD') stage.cmd = wordsOf(text)
    else if (name === 'HEALTHCHECK') stage.healthcheck = wordsOf(text.replace(/^.*?CMD /, ''))
    else if (name !== 'EXPOSE' && name !== 'STOPSIGNAL') throw new Error(`${name} is not known here: ${text}`)
  }

  async function copy(words: readonly string[]): Promise<void> {
    const [from = '', to = ''] = words.filter((word) => !word.startsWith('--'))
    const source = roots.get(optionOf(words, 'from') ?? '')
    if (source !== undefined) {
      await cp(path.join(source, from), inside(to), { recursive: true, verbatimSymlinks: true })
      const owner = optionOf(words, 'chown')
      // Only root can give files to another user.
      if (owner !== undefined && process.getuid?.() === 0) await run('chown', ['-R', owner, inside(to)])
      return
    }
    if (words.join(' ') !== '. .') throw new Error(`This COPY is not known here: ${words.join(' ')}`)
    const { context, ignored } = options
    await cp(context, stage.cwd, {
      recursive: true,
      filter: (file) => !isIgnored(path.relative(context, file), ignored),
    })
  }

  async function runStep(text: string): Promise<void> {
    const env = {
      ...options.env,
      PATH: `${stage.root}/usr/local/bin:${options.env['PATH']}`,
      ...args,
      ...stage.env,
    }
    await run('/bin/sh', ['-c', `set -e; ${insideAll(text)}`], {
      cwd: stage.cwd,
      env,
      maxBuffer: 64 * 1024 * 1024,
    })
  }

  function createStage(root: string) {
    return {
      root,
      cwd: root,
      env: { PATH: `${root}/usr/local/bin:${options.env['PATH']}` } as Record<string, string>,
      user: { uid: 0, gid: 0 },
      volumes: [] as string[],
      entrypoint: [] as string[],
      cmd: [] as string[],
      healthcheck: [] as string[],
    }
  }

  function inside(place: string): string {
    return place.startsWith('/') ? path.join(stage.root, place) : path.join(stage.cwd, place)
  }

  /** Puts the folder of the stage before each absolute path of a text. */
  function insideAll(text: string): string {
    return text.replace(/(?<=^|[\s=:'"])\/(?=(?:app|etc|opt|src|usr|var)\b)/g, `${stage.root}/`)
  }

  function wordsOf(json: string): string[] {
    return (JSON.parse(json) as string[]).map(insideAll)
  }
}

/** The value of `--name=value`. */
function optionOf(words: readonly string[], name: string): string | undefined {
  return words.find((word) => word.startsWith(`--${name}=`))?.slice(`--${name}=`.length)
}

function expanded(text: string, values: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\$\{?(\w+)\}?/g, (_whole, name: string) => values[name] ?? '')
}

/** True if a line of `.dockerignore` names the file or a folder above it. `**` stands for any folders, `*` for a part of a name. */
export function isIgnored(file: string, ignored: readonly string[]): boolean {
  return ignored.some((line) => {
    const pattern = line
      .replace(/[.+^$()|[\]{}]/g, '\\$&')
      .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(?:.*/)?'))
    return new RegExp(`^${pattern}(?:/|$)`).test(file)
  })
}
