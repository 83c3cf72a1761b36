/** Finds the browser that the tests of the console run in, and installs Debian's where there is none. */

import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { relay } from '../runtime/bin/relay.js'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** `REVEILLE_BROWSER` names another one. Undefined where there is none. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env['REVEILLE_BROWSER']
  if (named) return named
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '')
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name))).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The sandbox of Chromium refuses to work for root, as which containers run. */
export function browserArguments(): string[] {
  return process.getuid?.() === 0 ? ['--no-sandbox'] : []
}

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The job `npm run setup:browser`. */
export async function setupBrowser(): Promise<End> {
  const found = findBrowser()
  if (found !== undefined) {
    console.log(`The tests of the console use ${found}.`)
    return { code: 0, signal: null }
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot || process.platform !== 'linux') {
    console.error(
      [
        'There is no Chromium here, and only root can install one. Do one of these:',
        '  sudo apt-get install chromium        on Debian',
        '  REVEILLE_BROWSER=/path/to/chrome     names a Chromium or Chrome that is there',
        'Without a browser `npm test` skips the tests of the console, and names them.',
      ].join('\n'),
    )
    return { code: 1, signal: null }
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const updated = await relay('apt-get', ['update', '-q'], { env })
  if (updated.code !== 0) return updated
  return relay('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], { env })
}

export { setupBrowser as 'setup:browser' }
