/** The runner `command` runs any program as an agent. */

import { definePlugin } from '@reveille/kit'
import type { CommandConfiguration } from './configuration.ts'
import { createEnsureFolder } from './folder.ts'
import { createPrograms } from './process/programs.ts'
import { createCommandRunner } from './runner.ts'
import { compileSettings } from './settings.ts'

const isWindows = process.platform === 'win32'

export default definePlugin<CommandConfiguration>({
  name: 'command',
  check: (config) => void compile(config),
  setup({ config, signal }) {
    const settings = compile(config)
    const programs = createPrograms()
    const ensureFolder = createEnsureFolder(settings.cwd, process.env)
    return {
      runners: [createCommandRunner({ settings, programs, ensureFolder, isWindows, signal })],
      close: programs.close,
    }
  },
})

function compile(config: CommandConfiguration) {
  return compileSettings(config, { environment: process.env, isWindows })
}
