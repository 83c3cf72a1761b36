/** Installs the real programs from npm once, in a cache that git and npm ignore. */

import { globSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { runNpm } from '../../tools/npm.ts'

/** The versions that the presets were written for. `REVEILLE_CLI=latest` installs the newest instead. */
const tried = {
  '@openai/codex': '0.169.0',
  '@anthropic-ai/claude-code': '2.1.197',
  '@google/gemini-cli': '0.61.0',
} as const

export interface Programs {
  readonly claude: string
  readonly codex: string
  readonly gemini: string
}

/** The reason why the programs are not available. */
export interface Unavailable {
  readonly reason: string
}

/** Downloads about 740 MB. No install script runs, because each program comes from the package for its platform. */
export async function installPrograms(folder: string): Promise<Programs | Unavailable> {
  await mkdir(folder, { recursive: true })
  const isLatest = process.env['REVEILLE_CLI'] === 'latest'
  const dependencies = isLatest
    ? Object.fromEntries(Object.keys(tried).map((name) => [name, 'latest']))
    : tried
  const description = `${JSON.stringify({ private: true, dependencies }, null, 2)}\n`
  const file = path.join(folder, 'package.json')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (isLatest || known !== description || find(folder) === undefined) {
    await writeFile(file, description)
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
    try {
      await runNpm(['install', ...options, '--fetch-retries=0'], { cwd: folder })
    } catch (error) {
      const { stderr = String(error) } = error as { stderr?: string }
      const [, code] = /^npm error code (\S+)/m.exec(stderr) ?? []
      if (code === undefined || !unreachable.has(code)) throw error
      return { reason: `npm cannot fetch them (${code})` }
    }
  }
  const found = find(folder)
  return found ?? { reason: `there is no build of all for ${process.platform} on ${process.arch}` }
}

function find(folder: string): Programs | undefined {
  const first = (pattern: string) => globSync(pattern, { cwd: folder })[0]
  const claude = first('node_modules/@anthropic-ai/claude-code-*/claude*')
  const codex = first('node_modules/@openai/codex/bin/codex.js')
  const build = first('node_modules/@openai/codex-*/package.json')
  const gemini = first('node_modules/@google/gemini-cli/bundle/gemini.js')
  if (claude === undefined || codex === undefined || build === undefined || gemini === undefined)
    return undefined
  return {
    claude: path.join(folder, claude),
    codex: path.join(folder, codex),
    gemini: path.join(folder, gemini),
  }
}

const unreachable = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_SOCKET_TIMEOUT',
  'ETIMEDOUT',
])
