/** Passes on what modules print: so much of each module in a second, and the number of lines beyond that. */

import type { Timers } from '../../timers.ts'
import type { TransformEvent, TransformListener } from '../port.ts'
import { outputLimits } from '../worker/protocol.ts'

const { maxLines, maxCharacters, windowMs } = outputLimits

type Line = Omit<TransformEvent & { type: 'transform-output' }, 'type'>

export interface Output {
  write(line: Line): void
  /** Adds lines that were dropped in the worker. */
  dropped(module: string, lines: number): void
  close(): void
}

interface Window {
  lines: number
  characters: number
  dropped: number
  readonly timer: unknown
}

export function createOutput(onEvent: TransformListener, timers: Timers): Output {
  const windows = new Map<string, Window>()

  function windowOf(module: string): Window {
    const known = windows.get(module)
    if (known) return known
    const timer = timers.setTimeout(() => end(module), windowMs)
    const opened = { lines: 0, characters: 0, dropped: 0, timer }
    windows.set(module, opened)
    return opened
  }

  function end(module: string): void {
    const ended = windows.get(module)
    windows.delete(module)
    timers.clearTimeout(ended?.timer)
    if (ended && ended.dropped > 0)
      onEvent({ type: 'transform-output-dropped', module, lines: ended.dropped })
  }

  return {
    write({ module, level, requestId, text }) {
      const window = windowOf(module)
      if (window.lines >= maxLines || window.characters + text.length > maxCharacters) {
        window.dropped++
        return
      }
      window.lines++
      window.characters += text.length
      onEvent({
        type: 'transform-output',
        module,
        level,
        text,
        ...(requestId !== undefined && { requestId }),
      })
    },
    dropped(module, lines) {
      if (lines > 0) windowOf(module).dropped += lines
    },
    close: () => [...windows.keys()].forEach(end),
  }
}
