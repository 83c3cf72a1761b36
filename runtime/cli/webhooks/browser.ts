/** Owns whether a browser can be opened where this runs; somebody else's screen is none. */

import type { Io } from '../io.ts'

/** On Linux a browser needs a display, but for WSL, where Windows has it. */
export function hasScreen(env: Io['env'], platform: NodeJS.Platform = process.platform): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false
  if (platform !== 'linux') return true
  return Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['WSL_DISTRO_NAME'])
}
